package command

import (
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// age is the time that keys age by. The machine's clock won't do: one that
// starts in 1970 and is set later, or set wrong and back, would make every key
// old at once, and a repeat would open again. So it runs on from where the
// ledger's newest entry left it, with what really passes: never back, never in a
// leap, and not at all while the server is down or the machine sleeps. A key is
// kept 30 days or longer, never less. Virtual time leaps only where somebody
// asked for it, so there the domain clock is used as it is.
type age struct {
	clk  clock.Clock
	from time.Time
	at   time.Duration // Mono at from
}

// newAge begins at now, which newest, the ledger's newest entry, overrules.
func newAge(clk clock.Clock, newest time.Time) age {
	a := age{clk: clk, from: clk.Now(), at: clock.Mono()}
	if !newest.IsZero() {
		a.from = newest
	}
	return a
}

func (a age) now() time.Time {
	if v, ok := a.clk.(*clock.Virtual); ok {
		return v.Now().Truncate(time.Millisecond)
	}
	return a.from.Add(clock.Mono() - a.at).Truncate(time.Millisecond)
}
