package api

import gen "github.com/doorlab/doorlab/server/api/gen/core"

// exchangeKey exchanges a key for a token, see AUTH-1; gate has counted it already.
func exchangeKey(c *call, b gen.ExchangeKeyBody) (any, error) {
	t, err := c.api.cfg.Keys.Issue(b.Key)
	if err != nil {
		return nil, err
	}
	c.seen.given = t
	c.w.Header().Set("Pragma", "no-cache")
	return gen.Token{AccessToken: t.AccessToken, ExpiresIn: t.ExpiresIn, PlaceID: t.PlaceID, Scopes: t.Scopes}, nil
}
