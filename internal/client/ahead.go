package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
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

// mostAhead is how far the clock of a target may be off if only its tokens tell. Every period that a run asks for is in this
// machine's time.
const mostAhead = 5 * time.Minute

// Off says that a target's clock is too far off for permits that begin or end about now, and what to do; "" if it isn't.
func Off(ahead time.Duration) string {
	if ahead.Abs() <= mostAhead {
		return ""
	}
	where := "ahead of"
	if ahead < 0 {
		where = "behind"
	}
	return fmt.Sprintf("the target's clock is %s %s this machine's, so it would call a permit for now expired or pending; pass its --control, or set the clocks",
		amount.Duration(ahead.Abs().Round(time.Second).Seconds()), where)
}
