package explore

import (
	"fmt"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
)

// line describes the exploration's progress.
func (r *run) line() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, spent := r.sum, clock.Mono()-r.began
	s.Seconds = spent.Seconds()
	out := fmt.Sprintf("%6.1f s  %s", s.Seconds, of("sequences", s.Sequences, r.cfg.Sequences))
	out += fmt.Sprintf(", %.0f per minute, %s, %s", s.PerMinute(), of("operations", s.Operations, r.cfg.Steps), s.found(r.kept))
	if r.cfg.For > spent && r.ctx.Err() == nil {
		return out + ", " + amount.Duration((r.cfg.For - spent).Round(time.Second).Seconds()) + " left"
	}
	if r.kept > len(s.Failures) {
		out += ", shortening"
	}
	return out
}

// of is a number of things, and of how many if that is bounded.
func of(what string, n, most int) string {
	if most > 0 {
		return amount.Number(n) + " of " + amount.Number(most) + " " + what
	}
	return amount.Number(n) + " " + what
}

// found names what an exploration has found so far; kept: failures, shortened or not.
func (s Summary) found(kept int) string {
	var out []string
	for _, x := range []struct {
		n    int
		what string
	}{{kept, "failed"}, {s.Flaky, "flaky"}, {s.Invalid, "not judged"}} {
		if x.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	if len(out) == 0 {
		return "no failures yet"
	}
	return strings.Join(out, " and ")
}
