package judge

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

// auth3 judges AUTH-3: at most 30 exchanges per address are accepted within any 60 s, and none is refused before that. A
// server counts in memory: one that was started in between may know nothing of those before.
func auth3(v *View) Verdict {
	t := &tally{}
	taken := map[string][]*call{}
	most := 0
	var refused []*call
	all := slices.DeleteFunc(slices.Clone(v.calls()), func(c *call) bool {
		return c.Route != ExchangeRoute || c.Method != "POST" || c.unseen() // another method is refused before anybody counts
	})
	for _, c := range all {
		t.checked++
		if c.Status == 429 {
			refused = append(refused, c)
			if n, sure := v.exchangesBefore(c, all); sure && n < exchanges { // [AUTH-3]
				t.bad(c.Event, "an exchange was refused, although there had been only %d within 60 s", n)
			}
			continue
		}
		recent := append(taken[c.From], c)
		for len(recent) > 0 && (c.At-recent[0].SentAt >= exchangeMs || v.within(v.starts, recent[0].Event, c.Event) != nil) {
			recent = recent[1:]
		}
		taken[c.From] = recent
		most = max(most, len(recent))
		if len(recent) > exchanges { // [AUTH-3]
			t.bad(c.Event, "exchange %d from one address within 60 s was accepted", len(recent))
		}
	}
	return t.verdict(v, "AUTH-3", fmt.Sprintf("%s token exchanges, at most %s from one address in 60 s (limit 30), %s refused", amount.Number(t.checked), amount.Number(most), amount.Number(len(refused)))).
		tried(len(refused), "no address went over its limit").
		at(v, times(refused))
}

// exchangesBefore is how many exchanges may have counted when one was refused, from whatever address: several may share a
// limit, and those without an answer may have arrived. It isn't sure where others may have made some, or somebody some that
// aren't in the history.
func (v *View) exchangesBefore(refused *call, all []*call) (n int, sure bool) {
	since := refused.SentAt - exchangeMs - clockMs
	lately := func(e *history.Event) bool { return e.At >= since }
	if !v.oneClock() || len(v.starts) > 1 && slices.ContainsFunc(v.starts[1:], lately) || v.begun != nil && lately(v.begun) {
		return 0, false
	}
	for _, c := range slices.Concat(all, parseCalls(v.unheard, 0)) {
		if c.Route == ExchangeRoute && c.Status != 429 && lately(c.Event) && c.SentAt <= refused.At+clockMs {
			n++
		}
	}
	return n, true
}
