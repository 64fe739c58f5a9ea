package boardsim

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/vocab"
)

// people presents a phone or a link at a door's reader.
func (f *Fleet) people(w http.ResponseWriter, r *http.Request) {
	var in struct {
		DoorID string  `json:"doorId"`
		Phone  *string `json:"phone"`
		Token  *string `json:"token"`
	}
	if !control.Body(w, r, &in) {
		return
	}
	if (in.Phone == nil) == (in.Token == nil) {
		code := "invalid_field"
		if in.Phone == nil {
			code = "missing_field"
		}
		control.Fail(w, http.StatusBadRequest, code, `exactly one of phone and token is needed, as in {"doorId":"..","phone":"01012345678"}`, map[string]any{"field": "phone"})
		return
	}
	if in.Phone != nil && !access.IsPhone(*in.Phone) {
		control.Fail(w, http.StatusBadRequest, "invalid_phone", "phone must be 8 to 15 digits", map[string]any{"field": "phone"})
		return
	}
	if in.Token != nil && *in.Token == "" {
		control.FailField(w, "token", "must not be empty")
		return
	}
	b := f.atDoor(w, in.DoorID)
	if b == nil {
		return
	}
	ev := firmware.Event{Kind: firmware.Present, DoorID: in.DoorID}
	if in.Phone != nil {
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
	if in.Phone != nil {
		ev.PhoneHash = b.s.Content.PhoneKey.Hash(*in.Phone)
	}
	o := b.step(ev)
	b.mu.Unlock()
	b.flush()
	if o.decided == nil {
		unknownDoor(w, in.DoorID, "")
		return
	}
	control.Data(w, shown(b.id, o))
}

// shown is the answer to a presentation: the reason is the decision's, but whether the door opened is what the relay's
// journal says.
func shown(boardID string, o outcome) map[string]any {
	result := vocab.Denied
	entries := []entryJSON{}
	for _, e := range o.onsite(o.decided.DoorID) {
		entries = append(entries, e.view(boardID))
		if e.Action == firmware.ActPulse {
			result = vocab.Opened
		}
	}
	return map[string]any{"result": string(result), "reason": string(o.decided.Reason), "journal": entries}
}

// leaf moves a door's leaf.
func (f *Fleet) leaf(w http.ResponseWriter, r *http.Request) {
	var in struct {
		DoorID string `json:"doorId"`
		Action string `json:"action"`
	}
	if !control.Body(w, r, &in) {
		return
	}
	actions := []string{firmware.LeafOpen, firmware.LeafClose, firmware.LeafForce}
	if in.Action == "" {
		control.FailMissing(w, "action", "is missing: open, close or force")
		return
	}
	if !slices.Contains(actions, in.Action) {
		control.FailField(w, "action", "must be open, close or force"+near.Hint(in.Action, actions))
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
			control.Data(w, d)
			return
		}
	}
	unknownDoor(w, in.DoorID, "")
}

// atDoor finds the board of a door. It returns nil after it has answered 400 or 404.
func (f *Fleet) atDoor(w http.ResponseWriter, doorID string) *board {
	if doorID == "" {
		control.FailMissing(w, "doorId", "is missing")
		return nil
	}
	b := f.byDoor[doorID]
	if b == nil {
		unknownDoor(w, doorID, near.Hint(doorID, slices.Sorted(maps.Keys(f.byDoor))))
	}
	return b
}

func unknownDoor(w http.ResponseWriter, doorID, hint string) {
	control.Fail(w, http.StatusNotFound, "device_not_found", fmt.Sprintf("no simulated door %q here%s ('doorlab place show PLACE' lists a place's doors)", doorID, hint), map[string]any{"field": "doorId"})
}

func gone(w http.ResponseWriter) {
	control.Fail(w, http.StatusConflict, "rule_violated", "the simulated board was taken away; POST /lab/v1/boards/{id}/attach (doorlab board attach) brings it back", nil)
}
