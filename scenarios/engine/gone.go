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

// orphaned says that the boards' process has stopped answering for good while a file was played, "" if it hasn't: no step
// after that shows anything of the server.
func (r *run) orphaned(ctx context.Context) string {
	if r.lab == nil || !r.target.Shared() || ctx.Err() != nil {
		return ""
	}
	apart := slices.DeleteFunc(slices.Clone(r.lab.fleet), func(base string) bool { return base == r.lab.main })
	base, err := client.Silent(ctx, r.api.http.Transport, apart, cmp.Or(r.opt.revive, goneAfter))
	if base == "" || ctx.Err() != nil {
		return ""
	}
	return fmt.Sprintf("the boards' process at %s stopped answering while this file was played (%s)", base, r.mask.text(err.Error()))
}
