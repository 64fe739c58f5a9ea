package golive

import (
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/inbox"
)

// life is the life of one access token, as far as the traffic shows it.
type life struct {
	given   *inbox.Entry
	uses    []*inbox.Entry
	expired *inbox.Entry // the request that was answered 401 token_expired
}

// tooEarly is how many exchanges while an earlier token was still valid break the point: a restart or a second process
// is not a mistake.
const tooEarly = 3

// tokenReuse follows each key's tokens from exchange to exchange.
func tokenReuse(entries []*inbox.Entry) finding {
	lives := map[string]*life{}   // by token
	latest := map[string]*life{}  // by key id
	early := map[string][]*life{} // by key id: tokens replaced too early, within the last token life
	var proof finding
	for _, e := range entries {
		if l := lives[e.Token]; l != nil {
			l.uses = append(l.uses, e)
			if e.Code == "token_expired" {
				l.expired = e
			}
		}
		if e.Route != exchangeRoute || e.Given == "" {
			continue
		}
		l, before := &life{given: e}, latest[e.KeyID]
		lives[e.Given], latest[e.KeyID] = l, l
		if before == nil {
			continue
		}
		age := e.At.Sub(before.given.At)
		switch {
		case age < tokenLife-lastMinute && before.expired == nil:
			early[e.KeyID] = append(recent(early[e.KeyID], e.At), before)
			if n := len(early[e.KeyID]); n >= tooEarly {
				return broken("token_replaced", early[e.KeyID][0].given, e).with(Figures{Count: n + 1, Uses: len(before.uses), AfterSec: age.Seconds()})
			}
		case len(before.uses) >= 2 && proof.state == "":
			proof = proven("token_renewed", before.given, e).with(Figures{Uses: len(before.uses), AfterSec: age.Seconds()})
		}
	}
	return proof
}

// recent are the lives that began within a token's life before at.
func recent(list []*life, at time.Time) (out []*life) {
	return each.If(list, func(l *life) bool { return at.Sub(l.given.At) < tokenLife })
}

// backOff looks at what follows each 429 on the same route from the same caller.
func backOff(entries []*inbox.Entry) (f finding) {
	for i, e := range entries {
		if e.Status != 429 {
			continue
		}
		wait := time.Duration(e.RetrySec * float64(time.Second))
		for _, next := range entries[i+1:] {
			if next.Route != e.Route || next.Method != e.Method {
				continue
			}
			after := next.At.Sub(e.At)
			seen := Figures{WaitSec: wait.Seconds(), AfterSec: after.Seconds()}
			if after < wait && !sentTogether(e, next) {
				return broken("429_early", e, next).with(seen)
			}
			if after >= wait && f.state == "" {
				f = proven("429_waited", e, next).with(seen)
			}
			if after >= wait {
				break
			}
		}
	}
	return f
}

// sentTogether reports whether the second request was on its way when the first was answered, so that its sender couldn't
// know.
func sentTogether(first, second *inbox.Entry) bool {
	return second.Ended-time.Duration(second.TookMs*float64(time.Millisecond)) < first.Ended
}
