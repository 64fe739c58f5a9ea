package boardsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/boardsim/fault"
	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/controlapi"
	"github.com/doorlab/doorlab/internal/near"
)

// Routes mounts the boards' part of the control API; r is at /lab/v1.
func (f *Fleet) Routes(r chi.Router) {
	r.Get("/boards", f.listBoards)
	r.Get("/boards/{id}", f.board(func(w http.ResponseWriter, _ *http.Request, b *board) { controlapi.Data(w, b.view()) }))
	r.Get("/boards/{id}/journal", f.board(journalOf))
	r.Post("/boards/{id}/detach", f.board(f.detach))
	r.Post("/boards/{id}/attach", f.board(f.attach))
	r.Post("/faults", f.arm)
	r.Get("/faults", func(w http.ResponseWriter, _ *http.Request) {
		l := f.faults.List()
		controlapi.List(w, l, len(l))
	})
	r.Delete("/faults/{id}", f.disarm)
	r.Post("/faults/reset", func(w http.ResponseWriter, _ *http.Request) {
		gone := f.faults.Reset()
		controlapi.Data(w, map[string]any{"removed": len(gone)})
	})
	r.Post("/people/present", f.people)
	r.Post("/people/leaf", f.leaf)
}

type boardView struct {
	BoardID         string      `json:"boardId"`
	PlaceID         string      `json:"placeId"`
	Online          bool        `json:"online"`
	Phase           string      `json:"phase"`
	OutageAgeSec    json.Number `json:"outageAgeSec"` // -1 = clock lost
	DesiredRevision int64       `json:"desiredRevision"`
	AppliedRevision int64       `json:"appliedRevision"`
	BufferedRecords int         `json:"bufferedRecords"`
	DroppedRecords  int         `json:"droppedRecords"`
	Boot            int         `json:"boot"`
	Detached        bool        `json:"detached"` // taken away: the rest is of the board in the drawer
	Doors           []doorView  `json:"doors"`
}

type doorView struct {
	DoorID   string   `json:"doorId"`
	Channel  int      `json:"channel"`
	Standing standing `json:"standing"`
}

type standing struct {
	State     string  `json:"state"`
	Since     string  `json:"since"`
	HoldUntil *string `json:"holdUntil"`
	Held      bool    `json:"held"`
	Leaf      string  `json:"leaf"`
}

func (b *board) view() boardView {
	b.mu.Lock()
	now := b.f.cfg.Clock.Now()
	wall, mono := now.UnixMilli(), now.UnixMilli()+b.shift
	v := boardView{BoardID: b.id, PlaceID: b.placeID, Online: b.s.Outage.Online, Phase: b.s.Phase(mono), OutageAgeSec: ageSec(b.s.Age(mono)),
		AppliedRevision: b.s.Content.Revision, BufferedRecords: len(b.s.Records), DroppedRecords: b.s.Dropped, Boot: b.s.Boot, Detached: b.detached.Load()}
	for _, s := range b.s.Standings(wall, mono) {
		d := doorView{DoorID: s.DoorID, Channel: s.Channel,
			Standing: standing{State: s.State, Since: msTime(s.Since).Format(timeFormat), Held: s.Held, Leaf: s.Leaf}}
		if s.HoldUntil != nil {
			until := msTime(*s.HoldUntil).Format(timeFormat)
			d.Standing.HoldUntil = &until
		}
		v.Doors = append(v.Doors, d)
	}
	b.mu.Unlock()
	if v.Detached {
		v.Phase = firmware.PhaseStopped // it decides nothing; a real board may stand in its place
	}
	v.DesiredRevision = max(v.AppliedRevision, b.f.desired(b.id))
	return v
}

// maxPage is the largest page of boards.
const maxPage = 500

func (f *Fleet) listBoards(w http.ResponseWriter, r *http.Request) {
	limit, offset, ok := controlapi.Page(w, r, maxPage)
	if !ok {
		return
	}
	place := r.URL.Query().Get("placeId")
	found := f.boards
	if place != "" {
		found = slices.DeleteFunc(slices.Clone(f.boards), func(b *board) bool { return b.placeID != place })
	}
	page := found[min(offset, len(found)):min(offset+limit, len(found))]
	views := make([]boardView, 0, len(page))
	for _, b := range page {
		views = append(views, b.view())
	}
	controlapi.List(w, views, len(found))
}

// board finds the board of the path; 404 board_not_found.
func (f *Fleet) board(do func(http.ResponseWriter, *http.Request, *board)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := chi.URLParam(r, "id")
		b := f.byID[id]
		if b == nil {
			controlapi.Fail(w, http.StatusNotFound, "board_not_found", fmt.Sprintf("no simulated board %q here%s", id, near.Hint(id, f.ids())), nil)
			return
		}
		do(w, r, b)
	}
}

func (f *Fleet) ids() []string {
	out := make([]string, 0, len(f.boards))
	for _, b := range f.boards {
		out = append(out, b.id)
	}
	return out
}

func journalOf(w http.ResponseWriter, _ *http.Request, b *board) {
	lines, err := b.lines()
	if err != nil {
		controlapi.Fail(w, http.StatusInternalServerError, "internal_error", "the journal cannot be read: "+err.Error(), nil)
		return
	}
	controlapi.List(w, lines, len(lines))
}

func (f *Fleet) arm(w http.ResponseWriter, r *http.Request) {
	body, ok := controlapi.Object(w, r)
	if !ok {
		return
	}
	spec, err := fault.ParseSpec(body)
	id := ""
	if err == nil {
		id, err = f.faults.Arm(spec)
	}
	var bad *fault.BadSpec
	switch {
	case err == nil:
		controlapi.Data(w, map[string]any{"faultId": id})
	case errors.As(err, &bad):
		why := bad.Reason
		switch {
		case bad.Field == fault.WholeBody:
			controlapi.Fail(w, http.StatusBadRequest, "invalid_body", "the body is not the JSON expected: "+why, nil)
			return
		case bad.Missing:
			controlapi.FailMissing(w, bad.Field, why)
			return
		}
		if bad.Nearest != "" {
			why += fmt.Sprintf(", did you mean %q?", bad.Nearest)
		}
		controlapi.FailField(w, bad.Field, why)
	case errors.Is(err, fault.ErrTestPlace):
		controlapi.Fail(w, http.StatusConflict, "rule_violated", "no fault can be armed on the boards of a test place: they are always online", nil)
	default:
		controlapi.Fail(w, http.StatusInternalServerError, "internal_error", err.Error(), nil)
	}
}

func (f *Fleet) disarm(w http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	gone, err := f.faults.Remove(id)
	if err != nil {
		controlapi.Fail(w, http.StatusNotFound, "not_found", fmt.Sprintf("no fault %q is armed", id), nil)
		return
	}
	controlapi.Data(w, gone)
}
