package boardsim

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/controlapi"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/near"
)

// people presents a phone or a link at a door's reader.
func (f *Fleet) people(w http.ResponseWriter, r *http.Request) {
	var in struct {
		DoorID string  `json:"doorId"`
		Phone  *string `json:"phone"`
		Token  *string `json:"token"`
	}
	if !controlapi.Body(w, r, &in, "doorId", "phone", "token") {
		return
	}
	if (in.Phone == nil) == (in.Token == nil) {
		f := controlapi.FailField
		if in.Phone == nil {
			f = controlapi.FailMissing
		}
		f(w, "phone", `or token, exactly one of them: {"doorId":"..","phone":"01012345678"}`)
		return
	}
	if in.Phone != nil && !isPhone(*in.Phone) {
		controlapi.Fail(w, http.StatusBadRequest, "invalid_phone", "phone must be 8 to 15 digits", map[string]any{"field": "phone"})
		return
	}
	if in.Token != nil && *in.Token == "" {
		controlapi.FailField(w, "token", "must not be empty")
		return
	}
	b := f.atDoor(w, in.DoorID)
	if b == nil {
		return
	}
	ev := firmware.Event{Kind: firmware.Present, DoorID: in.DoorID}
	if in.Phone != nil {
		ev.PhoneHash = access.HashPhone(b.placeID, *in.Phone)
		ev.PhoneHead, ev.PhoneTail = access.PhoneEnds(*in.Phone)
	} else {
		ev.TokenHash = access.HashToken(b.placeID, *in.Token)
	}
	b.mu.Lock()
	if b.stopped {
		b.mu.Unlock()
		gone(w)
		return
	}
	_, decided := b.step(ev)
	b.mu.Unlock()
	b.flush()
	if decided == nil {
		unknownDoor(w, in.DoorID, "")
		return
	}
	controlapi.Data(w, map[string]any{"result": decided.Result, "reason": decided.Reason})
}

func isPhone(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) >= 8 && len(s) <= 15
}

// leaf moves a door's leaf.
func (f *Fleet) leaf(w http.ResponseWriter, r *http.Request) {
	var in struct {
		DoorID string `json:"doorId"`
		Action string `json:"action"`
	}
	if !controlapi.Body(w, r, &in, "doorId", "action") {
		return
	}
	actions := []string{firmware.LeafOpen, firmware.LeafClose, firmware.LeafForce}
	if in.Action == "" {
		controlapi.FailMissing(w, "action", "is missing: open, close or force")
		return
	}
	if !slices.Contains(actions, in.Action) {
		controlapi.FailField(w, "action", "must be open, close or force"+near.Hint(in.Action, actions))
		return
	}
	b := f.atDoor(w, in.DoorID)
	if b == nil {
		return
	}
	b.mu.Lock()
	if b.stopped {
		b.mu.Unlock()
		gone(w)
		return
	}
	b.step(firmware.Event{Kind: firmware.Leaf, DoorID: in.DoorID, Action: in.Action})
	b.mu.Unlock()
	b.flush()
	v := b.view()
	for _, d := range v.Doors {
		if d.DoorID == in.DoorID {
			controlapi.Data(w, d)
			return
		}
	}
	unknownDoor(w, in.DoorID, "")
}

// atDoor finds the board of a door; nil after it has answered 400 or 404.
func (f *Fleet) atDoor(w http.ResponseWriter, doorID string) *board {
	if doorID == "" {
		controlapi.FailMissing(w, "doorId", "is missing")
		return nil
	}
	b := f.byDoor[doorID]
	if b == nil {
		known := make([]string, 0, len(f.byDoor))
		for id := range f.byDoor {
			known = append(known, id)
		}
		slices.Sort(known)
		unknownDoor(w, doorID, near.Hint(doorID, known))
	}
	return b
}

func unknownDoor(w http.ResponseWriter, doorID, hint string) {
	controlapi.Fail(w, http.StatusNotFound, "device_not_found", fmt.Sprintf("no simulated door %q here%s", doorID, hint), map[string]any{"field": "doorId"})
}

func gone(w http.ResponseWriter) {
	controlapi.Fail(w, http.StatusConflict, "rule_violated", "the simulated board was taken away; POST /boards/{id}/attach brings it back", nil)
}

// detach takes the simulated board away and answers what a real one logs in with.
// A test key must never move anything real.
func (f *Fleet) detach(w http.ResponseWriter, _ *http.Request, b *board) {
	if b.test {
		controlapi.Fail(w, http.StatusConflict, "rule_violated", "the boards of a test place are virtual and always online: no real one can take their place", nil)
		return
	}
	b.mu.Lock()
	if !b.stopped {
		b.stopped = true
		b.detached.Store(true)
		b.emit(history.Event{Kind: history.Detached})
	}
	s := b.leave()
	b.mu.Unlock()
	bye(s)
	addr := ""
	if f.cfg.Addr != nil {
		addr = f.cfg.Addr()
	}
	controlapi.Data(w, map[string]any{"mqtt": addr, "clientId": b.id, "username": b.id, "password": b.password})
}

// attach brings the simulated board back: it boots as after a power cut.
func (f *Fleet) attach(w http.ResponseWriter, _ *http.Request, b *board) {
	b.mu.Lock()
	if b.stopped && f.ctx.Err() == nil {
		b.stopped = false
		b.detached.Store(false)
		b.emit(history.Event{Kind: history.Attached})
		b.lineBad = blocked(f.faults.Line(b.id))
		b.step(firmware.Event{Kind: firmware.Reboot})
		b.tries = 0
		b.redial()
	}
	b.mu.Unlock()
	b.flush()
	controlapi.Data(w, b.view())
}
