package client

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// tokenLife is how long a token is valid, see AUTH-1.
const tokenLife = 900 * time.Second

// Ahead tells how far the clock of the server that has just issued a token is ahead of ours, by the token's own expiry;
// less than zero if it is behind. known is false for a token that doesn't say: how it is made is the server's affair.
func Ahead(token string, now time.Time) (by time.Duration, known bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return 0, false
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Exp int64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(b, &claims) != nil || claims.Exp <= 0 {
		return 0, false
	}
	return time.Unix(claims.Exp, 0).Sub(now.Add(tokenLife)), true
}
