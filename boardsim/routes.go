package boardsim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/boardsim/fault"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/wire"
)

// resetAll is the path segment below /faults that is no id.
const resetAll = "reset"

// Routes mounts the boards' part of the control API; r is at /lab/v1.
func (f *Fleet) Routes(r chi.Router) {
	r.Get("/boards", f.listBoards)
	r.Get("/boards/{id}", f.board(func(w http.ResponseWriter, _ *http.Request, b *board) { control.Data(w, b.whole()) }))
	r.Get("/boards/{id}/journal", f.board(journalOf))
	r.Post("/boards/{id}/detach", f.board(f.detach))
	r.Post("/boards/{id}/attach", f.board(f.attach))
	r.Post("/boards/{id}/tell", f.board(f.tell))
	r.Post("/faults", f.arm)
	r.Get("/faults", func(w http.ResponseWriter, _ *http.Request) {
		l := f.faults.List()
		control.List(w, l, len(l))
	})
	r.Get("/faults/{id}", aFault(f.faults.Find, "no fault %q has been armed here recently"))
	r.Delete("/faults/{id}", aFault(f.faults.Remove, "no fault %q is armed ('doorlab fault list' shows what is)"))
	r.Post("/faults/"+resetAll, func(w http.ResponseWriter, _ *http.Request) {
		gone := f.faults.Reset()
		control.Data(w, map[string]any{"removed": len(gone)})
	})
	r.Post("/people/present", f.people)
	r.Post("/people/leaf", f.leaf)
}

func (b *board) view() control.Board {
	b.mu.Lock()
	now := b.f.cfg.Clock.Now()
	wall, mono := now.UnixMilli(), now.UnixMilli()+b.shift
	v := control.Board{BoardID: b.id, PlaceID: b.placeID, Online: b.s.Outage.Online, Phase: b.s.Phase(mono), OutageAgeSec: ageSec(b.s.Age(mono)),
		AppliedRevision: b.s.Content.Revision, BufferedRecords: len(b.s.Records), DroppedRecords: b.s.Dropped, Boot: b.s.Boot, Told: b.told}
	for _, s := range b.s.Standings(wall, mono) {
		v.Doors = append(v.Doors, control.Door{DoorID: s.DoorID, Channel: s.Channel, Standing: standingOf(s)})
	}
	b.mu.Unlock()
	if b.detached.Load() {
		b.seated(&v)
	}
	v.DesiredRevision = max(v.AppliedRevision, b.f.desired(b.id))
	v.Stale = b.f.cfg.Stale != nil && b.f.cfg.Stale()
	return v
}

// whole is the view of a single board, with what the server has dropped.
func (b *board) whole() control.Board {
	v := b.view()
	if b.f.cfg.Seat != nil {
		seat := b.f.cfg.Seat(b.id)
		v.Dropped, v.Troubles = seat.Dropped, seat.Troubles
	}
	return v
}

func standingOf(s wire.Standing) *control.Standing {
	out := &control.Standing{State: s.State, Since: faults.Moment{Time: msTime(s.Since)}, Held: s.Held, Leaf: s.Leaf}
	if s.HoldUntil != nil {
		out.HoldUntil = &faults.Moment{Time: msTime(*s.HoldUntil)}
	}
	return out
}

// maxPage is the largest page of boards.
const maxPage = 500

func (f *Fleet) listBoards(w http.ResponseWriter, r *http.Request) {
	limit, offset, ok := control.Page(w, r, maxPage)
	if !ok {
		return
	}
	place := r.URL.Query().Get("placeId")
	found := f.boards
	if place != "" {
		if !f.knowsPlace(w, place) {
			return
		}
		found = slices.DeleteFunc(slices.Clone(f.boards), func(b *board) bool { return b.placeID != place })
	}
	page := found[min(offset, len(found)):min(offset+limit, len(found))]
	views := each.Of(page, (*board).view)
	control.List(w, views, len(found))
}

// knowsPlace is false after it has answered 404. A place of the world may have no simulated boards.
func (f *Fleet) knowsPlace(w http.ResponseWriter, placeID string) bool {
	ids := make([]string, 0, len(f.cfg.World.Places))
	for i := range f.cfg.World.Places {
		ids = append(ids, f.cfg.World.Places[i].ID)
	}
	if slices.Contains(ids, placeID) {
		return true
	}
	control.Fail(w, http.StatusNotFound, "place_not_found", fmt.Sprintf("place %q not found%s", placeID, near.Hint(placeID, ids)), nil)
	return false
}

// board finds the board of the path; 404 board_not_found.
func (f *Fleet) board(do func(http.ResponseWriter, *http.Request, *board)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := chi.URLParam(r, "id")
		b := f.byID[id]
		if b == nil {
			control.Fail(w, http.StatusNotFound, "board_not_found", fmt.Sprintf("no simulated board %q here%s ('doorlab board list' shows them)", id, near.Hint(id, f.ids())), nil)
			return
		}
		do(w, r, b)
	}
}

func (f *Fleet) ids() []string {
	return each.Of(f.boards, func(b *board) string { return b.id })
}

func journalOf(w http.ResponseWriter, r *http.Request, b *board) {
	if b.detached.Load() {
		control.Fail(w, http.StatusConflict, "rule_violated", "the simulated board was taken away; its replacement has no journal", nil)
		return
	}
	limit, offset, ok := control.Part(w, r)
	if !ok {
		return
	}
	part, total, err := b.lines(limit, offset)
	if err != nil {
		control.Fail(w, http.StatusInternalServerError, "internal_error", "the journal cannot be read: "+err.Error(), nil)
		return
	}
	control.List(w, part, total)
}

func (f *Fleet) arm(w http.ResponseWriter, r *http.Request) {
	var body fault.Request
	if !control.Body(w, r, &body) {
		return
	}
	spec, err := body.Spec()
	id := ""
	if err == nil {
		id, err = f.faults.Arm(spec)
	}
	if err == nil && spec.Fault == "offline" {
		f.heard(r.Context())
	}
	var bad *faults.Bad
	switch {
	case err == nil:
		control.Data(w, map[string]any{"faultId": id})
	case errors.As(err, &bad):
		if bad.Missing {
			control.FailMissing(w, bad.Field, bad.Reason)
			return
		}
		control.FailText(w, bad.Field, bad.Error())
	case errors.Is(err, fault.ErrDetached):
		control.Fail(w, http.StatusConflict, "rule_violated", "no fault can be armed on a detached board; POST /lab/v1/boards/{id}/attach (doorlab board attach) brings the simulated one back", nil)
	case errors.Is(err, fault.ErrTestPlace):
		control.Fail(w, http.StatusConflict, "rule_violated", "no fault can be armed on the boards of a test place: they are always online", nil)
	default:
		control.Fail(w, http.StatusInternalServerError, "internal_error", err.Error(), nil)
	}
}

// What a server in the same process has for noticing that lines were cut, and how often it is asked.
const (
	heardWithin = 5 * time.Second
	heardEvery  = time.Millisecond
)

// heard waits until a server in the same process has noticed the boards whose lines are cut: both ends notice at once.
func (f *Fleet) heard(ctx context.Context) {
	if f.cfg.Seat == nil || f.cfg.Apart {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	for _, b := range f.boards {
		for f.faults.Line(b.id).Offline && f.cfg.Seat(b.id).Online && client.Pause(ctx, heardEvery) == nil {
		}
	}
}

// aFault answers with the fault of the path; missing says that there is none.
func aFault(get func(id string) (faults.Armed, error), missing string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := chi.URLParam(r, "id")
		if id == resetAll {
			control.FailMethod(w, r, http.MethodPost)
			return
		}
		a, err := get(id)
		if err != nil {
			control.Fail(w, http.StatusNotFound, "not_found", fmt.Sprintf(missing, id), nil)
			return
		}
		control.Data(w, a)
	}
}
