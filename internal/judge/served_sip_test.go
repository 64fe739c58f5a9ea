package judge

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// overSIP turns all calls over the control API into calls over SIP, whose callers aren't told as much.
func (h *builder) overSIP(t *testing.T) {
	t.Helper()
	for i := range h.events {
		e := &h.events[i]
		if e.Kind != history.Call || e.Route != phoneRoute {
			continue
		}
		e.Method, e.Route = SIPMethod, SIPRoute
		var c history.CallText
		must.OK(t, json.Unmarshal([]byte(e.Text), &c))
		delete(c.Out, "doorId")
		delete(c.Out, "reason")
		e.Text = string(must.Get(json.Marshal(c))(t))
	}
}

// TestCallsOverSIPCount: a call over SIP is judged as the same call over the control API is.
func TestCallsOverSIPCount(t *testing.T) {
	t.Parallel()
	h := clean()
	want := NewView(h.events).served()
	h.overSIP(t)
	v := NewView(h.events)
	if got := v.served(); got.calls != want.calls || want.calls == 0 || got.permitted != want.permitted || got.let != want.let || got.kept != want.kept {
		t.Errorf("got %d calls (%d by a fresh permit, %d let in, %d kept out), want %d (%d, %d, %d)", got.calls, got.permitted, got.let, got.kept, want.calls, want.permitted, want.let, want.kept)
	}
	if got, want := v.refused(&tally{}), NewView(clean().events).refused(&tally{}); got != want {
		t.Errorf("%d refused attempts have a record, want %d", got, want)
	}
	if bad := failing(Judge(v)); len(bad) > 0 {
		t.Errorf("%v failed, want nothing", bad)
	}
}

// TestBrokenCallsOverSIP: what is wrong with calls over SIP is seen without the door and the reason that their callers aren't told.
func TestBrokenCallsOverSIP(t *testing.T) {
	told := func(n int, result string) func(*testing.T, *builder) {
		return func(t *testing.T, h *builder) {
			h.overSIP(t)
			h.answer(t, SIPMethod, SIPRoute, n, func(_ *history.Event, c *history.CallText) { c.Out = fields{"answered": true, "result": result} })
		}
	}
	denied := func(e history.Event) bool {
		return e.Kind == history.RecordIn && e.Method == "phone" && e.Result == "denied" && e.BoardID == ""
	}
	by := func(method string) func(e *history.Event) { return func(e *history.Event) { e.Method = method } }
	runPlants(t, []planted{
		{"a revoked phone is let in", told(1, "opened"), []string{"ENT-1", "ENT-3"}, history.Call, "denies: revoked"},
		{"a member is denied", told(2, "denied"), []string{"PERM-1", "ENT-1", "ENT-3", "ENT-4"}, history.Call, "has no record"},
		{"a call opens without a command", func(t *testing.T, h *builder) {
			h.overSIP(t)
			h.edit(t, 0, func(e history.Event) bool { return e.Kind == history.Intent && e.Method == "phone" }, by("link"))
		}, []string{"ENT-3"}, history.Call, "no command by phone for its door ended reported"},
		{"the command opened, and the caller is told that it failed", told(0, ""), []string{"ENT-3"}, history.Call, "no command by phone"},
		{"the wrong door opens", func(t *testing.T, h *builder) {
			h.overSIP(t)
			mine := func(e history.Event) bool { return e.Method == "phone" && e.DoorID == doorOf("brd_1", 1) }
			id := h.events[slices.IndexFunc(h.events, mine)].CommandID
			for i := range h.events {
				if e := &h.events[i]; e.CommandID == id && e.DoorID != "" {
					e.DoorID, e.Channel = doorOf("brd_1", 2), min(2*e.Channel, 2)
				}
			}
		}, []string{"ENT-1", "ENT-3"}, history.Call, "by the reference the caller gets " + doorOf("brd_1", 1)},
		{"refused calls without records", func(t *testing.T, h *builder) { h.overSIP(t); h.drop(t, denied) }, []string{"ENT-4"}, history.Call, "has no record"},
		{"refused calls recorded twice", func(t *testing.T, h *builder) {
			h.overSIP(t)
			h.after(t, denied, func(e *history.Event) { e.RecordID = "rec_x" })
		}, []string{"ENT-4"}, history.RecordIn, "has a second record"},
	})
}

// TestCallsBesideCallsOverSIP: of two refused calls at the same time, the one that was told door and reason has the record that says
// so, whichever was answered first.
func TestCallsBesideCallsOverSIP(t *testing.T) {
	t.Parallel()
	h := clean()
	h.pass(600_000)
	before := NewView(h.events).refused(&tally{})
	sent := num(h.wall + 1) // both at once
	call := func(method, route string, out fields, change func()) {
		h.did("plc_a", method, route, 200, history.CallText{In: fields{"from": "eve"}, Out: out}, change)
		h.last(history.Call, func(e *history.Event) { e.Text = sentNs.ReplaceAllString(e.Text, `"sentNs":`+sent) })
	}
	call(SIPMethod, SIPRoute, fields{"answered": true, "result": "denied"}, func() {
		h.refused("phone", "", "no_valid_grant")
		h.refused("phone", doorOf("brd_1", 1), "expired")
	})
	call("POST", phoneRoute, fields{"answered": true, "result": "denied", "reason": "no_valid_grant", "doorId": ""}, nil)
	found := &tally{}
	if got := NewView(h.events).refused(found) - before; got != 2 || len(found.found) > 0 {
		t.Errorf("%d recorded, found %v, want 2 and nothing", got, found.found)
	}
}
