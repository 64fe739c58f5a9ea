package loadtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/client"
)

// goneAfter is how long a target may answer nothing, once requests have gone without an answer, before it counts as gone.
const goneAfter = 5 * time.Second

// lookForDeath finds out whether the target answers nothing any more: then what it left unanswered says nothing about how it
// works, and the run is BLOCKED. An interrupted run doesn't ask.
func (r *runner) lookForDeath(ctx context.Context, res *Result) {
	if ctx.Err() != nil || res.Gone != "" {
		return
	}
	base, err := client.Silent(ctx, r.via, append([]string{strings.TrimSuffix(r.target.HTTP, "/")}, r.target.Control...), goneAfter)
	if base == "" || ctx.Err() != nil {
		return
	}
	res.Gone = fmt.Sprintf("the target is gone: %s stopped answering during the run (%s)", base, err)
	res.Doubts, res.Reasons = slices.Insert(slices.Clone(res.Doubts), 0, res.Gone), slices.Insert(slices.Clone(res.Reasons), 0, res.Gone)
	res.settleGone()
}

// settleGone makes a run BLOCKED whose target is gone, unless its answers show that a promise was broken before: thresholds
// that broke because nobody answered are no finding.
func (res *Result) settleGone() {
	if res.Gone != "" && len(res.Guarantees.breached()) == 0 && res.Breaches == 0 {
		res.Verdict = Blocked
	}
}
