package api

type token struct {
	AccessToken string   `json:"accessToken"`
	ExpiresIn   int      `json:"expiresIn"`
	PlaceID     string   `json:"placeId"`
	Scopes      []string `json:"scopes"`
}

// exchangeKey gives a token for a key [AUTH-1]; gate has counted it.
func exchangeKey(c *call) (any, error) {
	t, err := c.api.cfg.Keys.Issue(c.body.str("key"))
	if err != nil {
		return nil, err
	}
	c.w.Header().Set("Pragma", "no-cache")
	return token{AccessToken: t.AccessToken, ExpiresIn: t.ExpiresIn, PlaceID: t.PlaceID, Scopes: t.Scopes}, nil
}
