package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/client"
)

// goneAfter is how long a target without a control listener, which says nothing of restarts, may answer nothing.
const goneAfter = 5 * time.Second

// lookForDeath finds out, once something went wrong, whether a process of a target has stopped answering for good: what it
// left undone says nothing about how it works, and the exit code tells that the target is unreachable.
func (r *run) lookForDeath(ctx context.Context, res *Result) {
	wrong := res.Trouble != "" || slices.ContainsFunc(res.Files, func(f FileResult) bool { return bad(f.Status) })
	if !wrong || ctx.Err() != nil || !r.target.Shared() && !r.keysOnly() {
		return
	}
	within := cmp.Or(r.opt.revive, goneAfter)
	base, err := client.Silent(ctx, r.api.http.Transport, append([]string{r.api.base}, r.target.Control...), within)
	if base != "" && ctx.Err() == nil {
		res.Unreached = true
		res.Trouble = fmt.Sprintf("the target is gone: %s stopped answering during the run (%s)", base, r.mask.text(err.Error()))
	}
}
