package loadtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/client"
)

// goneAfter is how long a target may refuse connections, once requests have gone without an answer, before it counts as gone.
const goneAfter = 5 * time.Second

// lookForDeath finds out whether a process of the target is gone: then what it left unanswered says nothing about how fast it
// works, and the run is BLOCKED. One that only lets requests time out may be overloaded, which is what a load is to find out:
// its verdict stays as it is. An interrupted run doesn't ask.
func (r *runner) lookForDeath(ctx context.Context, res *Result) {
	if ctx.Err() != nil || res.Gone != "" {
		return
	}
	for _, base := range append([]string{strings.TrimSuffix(r.target.HTTP, "/")}, r.target.Control...) {
		_, err := client.Silent(ctx, r.via, []string{base}, goneAfter)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
		case client.TimedOut(err):
			note := fmt.Sprintf("after the last request, %s didn't answer GET /livez in time: it may be overloaded, hang, or be cut off", base)
			if !slices.Contains(res.Notes, note) {
				res.Notes = append(res.Notes, note)
			}
		default:
			res.Gone = fmt.Sprintf("the target is gone: %s stopped answering during the run (%s)", base, err)
			res.Doubts, res.Reasons = slices.Insert(slices.Clone(res.Doubts), 0, res.Gone), slices.Insert(slices.Clone(res.Reasons), 0, res.Gone)
			res.settleGone()
			return
		}
	}
}

// settleGone makes a run BLOCKED whose target is gone, unless its answers show that a promise was broken before: thresholds
// that broke because nobody answered are no finding.
func (res *Result) settleGone() {
	if res.Gone != "" && len(res.Guarantees.breached()) == 0 && res.Breaches == 0 {
		res.Verdict = Blocked
	}
}
