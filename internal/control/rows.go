package control

import "github.com/doorlab/doorlab/internal/faults"

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

// Board is a simulated board, or what the server knows about the real one that has its place.
type Board struct {
	BoardID         string  `json:"boardId"`
	PlaceID         string  `json:"placeId"`
	Online          bool    `json:"online"`
	Phase           string  `json:"phase"`
	OutageAgeSec    float64 `json:"outageAgeSec"` // -1 = clock lost
	DesiredRevision int64   `json:"desiredRevision"`
	Stale           bool    `json:"stale,omitempty"` // the desired revision is one of earlier: the server didn't say what it is now
	AppliedRevision int64   `json:"appliedRevision"`
	BufferedRecords int     `json:"bufferedRecords"`
	DroppedRecords  int     `json:"droppedRecords"`
	Boot            int     `json:"boot"`
	Detached        bool    `json:"detached"`       // taken away: the rest is what the server knows about its replacement
	Told            bool    `json:"told,omitempty"` // somebody speaks to it in the server's place
	Doors           []Door  `json:"doors"`
	// Dropped counts by reason what the server dropped of the board's messages; only for a single board.
	Dropped map[string]int64 `json:"dropped,omitempty"`
	// Troubles are the latest of these, and of the connections that the server refused, newest first.
	Troubles []Trouble `json:"troubles,omitempty"`
}

// Trouble is something that the server dropped of what a board said, or a connection that it refused.
type Trouble struct {
	At      faults.Moment `json:"at"`
	Reason  string        `json:"reason"`
	Channel string        `json:"channel"` // "" if no channel is concerned
	Field   string        `json:"field"`   // what is invalid; "" = all of it
	Count   int64         `json:"count"`   // how many in a row
}

// Door is a board's channel with the door on it.
type Door struct {
	DoorID   string    `json:"doorId"`
	Channel  int       `json:"channel"`
	Standing *Standing `json:"standing"` // null = none reported
}

// Standing is the state of a door.
type Standing struct {
	State     string         `json:"state"`
	Since     faults.Moment  `json:"since"`
	HoldUntil *faults.Moment `json:"holdUntil"`
	Held      bool           `json:"held"`
	Leaf      string         `json:"leaf"`
}
