package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
)

// listener is a control listener that arms the plan's faults, with the boards that it simulates.
type listener struct {
	client.Client
	boards []board
	unread error // why they aren't known
}

// board is a row of GET /boards.
type board struct {
	BoardID, PlaceID string
	Doors            []struct{ DoorID string }
}

// listeners are those on which this generator arms faults. On one that simulates boards of other shards, too, each generator
// would take its share of all boards; so the first does it for all. One without boards of this shard, such as that of a
// server whose boards are elsewhere, would refuse.
func (r *runner) listeners(ctx context.Context, all []client.Client) (out []listener) {
	for _, c := range all {
		l := listener{Client: c}
		for total := 1; len(l.boards) < total && l.unread == nil; {
			var page []board
			total, l.unread = c.List(ctx, fmt.Sprintf("%s/boards?limit=500&offset=%d", control.Prefix, len(l.boards)), &page)
			if l.boards = append(l.boards, page...); len(page) == 0 {
				break
			}
		}
		mine := func(b board) bool { return slices.Contains(r.shard.Places, b.PlaceID) }
		if r.shard == nil || r.shard.Index == 1 || l.unread != nil || slices.ContainsFunc(l.boards, mine) && !slices.ContainsFunc(l.boards, r.others) {
			out = append(out, l)
		}
	}
	return out
}

// others reports whether a board is another shard's.
func (r *runner) others(b board) bool { return r.shard != nil && r.shard.others[b.PlaceID] }

// armed is a fault in force at a listener.
type armed struct {
	at     *listener
	id     string
	boards []string // none: it acted at once and is gone, and no longer says where
}

// arm arms a fault at every listener that simulates boards. The error says where it may be armed without anybody knowing, or,
// if it is armed nowhere, why.
func (r *runner) arm(ctx context.Context, f PlannedFault) (list []armed, err error) {
	var refused error
	for i := range r.control {
		l := &r.control[i]
		var got struct{ FaultID string }
		body := map[string]any{"fault": f.Fault, "share": float64(f.Share), "params": f.Params, "commands": f.Commands}
		failed := l.Do(ctx, http.MethodPost, control.Prefix+"/faults", body, &got)
		if e := (*client.Error)(nil); errors.As(failed, &e) && e.Status < http.StatusInternalServerError {
			refused = failed // such as a server's, which has no live boards
			continue
		} else if failed != nil {
			err = cmp.Or(err, fmt.Errorf("it couldn't be armed at %s: %w; it may be armed all the same", l.Base, failed))
			continue
		}
		a := armed{at: l, id: got.FaultID}
		var shown struct{ Boards []string }
		failed = cmp.Or(l.Do(ctx, http.MethodGet, control.Prefix+"/faults/"+a.id, nil, &shown), l.unread)
		if a.boards = shown.Boards; failed != nil {
			err = cmp.Or(err, fmt.Errorf("which boards it acted on isn't known: %w", failed))
		}
		list = append(list, a)
	}
	if len(list) == 0 && err == nil {
		err = fmt.Errorf("it couldn't be armed: %w%s", refused, r.elsewhere())
	}
	return list, err
}

// elsewhere says what to do if no control listener has a live board, as a server's has none whose boards are a process of their
// own; "" if one has.
func (r *runner) elsewhere() string {
	for _, l := range r.control {
		if l.unread != nil || slices.ContainsFunc(l.boards, func(b board) bool { return !r.testPlace(b.PlaceID) }) {
			return ""
		}
	}
	return "; boards in a process of their own have a control listener of their own: pass its --control, too"
}

// testPlace reports whether a place is a test place, whose boards take no faults.
func (r *runner) testPlace(id string) bool {
	return slices.ContainsFunc(r.target.Places, func(p Place) bool { return p.PlaceID == id && p.Kind == "test" })
}

// glance is how long a target may take to say what is armed.
const glance = 2 * time.Second

// armedAlready says which faults others have armed, "" for none. A load leaves them armed, unlike a check. Who can't be asked
// is left out: the run doesn't depend on it.
func armedAlready(ctx context.Context, all []client.Client) string {
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	n, boards := 0, map[string]int{}
	for _, c := range all {
		var list []struct {
			Fault string
			Count int
		}
		_ = c.Do(ctx, http.MethodGet, control.Prefix+"/faults", nil, &list)
		for _, f := range list {
			n, boards[f.Fault] = n+1, boards[f.Fault]+f.Count
		}
	}
	if n == 0 {
		return ""
	}
	var on []string
	for _, name := range slices.Sorted(maps.Keys(boards)) {
		on = append(on, name+" on "+amount.Many(boards[name], "board"))
	}
	verb := "was"
	if n > 1 {
		verb = "were"
	}
	return fmt.Sprintf("%s %s already armed on the target: %s", amount.Many(n, "fault"), verb, strings.Join(on, ", "))
}

// reaches reports whether a fault is on a board that the load has used: this generator's part of it, or another's.
func (r *runner) reaches(a armed, uses func(door string) bool) bool {
	return len(a.boards) == 0 || slices.ContainsFunc(a.at.boards, func(b board) bool {
		return slices.Contains(a.boards, b.BoardID) &&
			(r.others(b) || slices.ContainsFunc(b.Doors, func(d struct{ DoorID string }) bool { return uses(d.DoorID) }))
	})
}
