package control

// Grant is a grant as an operator sees it: only the ends of the phone, no link.
type Grant struct {
	GrantID     string   `json:"grantId"`
	Kind        string   `json:"kind"` // permit reservation membership
	ExternalRef string   `json:"externalRef"`
	Name        string   `json:"name"`
	Person      string   `json:"person"` // masked
	State       string   `json:"state"`
	StartsAt    string   `json:"startsAt"`
	EndsAt      *string  `json:"endsAt"`
	DoorIDs     []string `json:"doorIds"` // empty = every door
	UseCount    int64    `json:"useCount"`
	RevokedAt   *string  `json:"revokedAt"`
}

// Key is a key without its secret.
type Key struct {
	KeyID     string   `json:"keyId"`
	PlaceID   string   `json:"placeId"`
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	Sim       bool     `json:"sim"`
	CreatedAt string   `json:"createdAt"`
	RevokedAt *string  `json:"revokedAt"`
}
