package judge

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// did is a call that is sent, takes effect on the server, and is answered.
func (h *builder) did(place, method, route string, status int, c history.CallText, change func()) {
	c.Token = h.id("tok")
	h.call(h.at, ExchangeRoute, 200, history.CallText{In: map[string]any{"key": "key of " + place}, From: c.Token,
		Out: map[string]any{"accessToken": c.Token, "expiresIn": 900, "placeId": place, "scopes": []string{"space:partner", "device:door"}}})
	c.SentAt, c.SentNs = h.at, h.wall+1
	if change != nil {
		change()
	}
	text, _ := json.Marshal(c)
	h.emit(history.Event{Kind: history.Call, PlaceID: place, Method: method, Route: route, Status: status, Code: codes[status], Text: string(text)})
}

var codes = map[int]string{404: "link_invalid", 409: "entry_denied", 400: "invalid_door_ids", 503: "store_offline"}

type fields = map[string]any

// customerPermit is what customer registers, for four more days, and revokes.
func (h *builder) customerPermit(days int64, revoked bool) refGrant {
	g := grant("pmt_c", "hash of mia", revoked, doorOf("brd_1", 1))
	g.StartsAt, g.EndsAt = t0, t0+(days+4)*24*3600*1000
	if !revoked {
		g.TokenHash = "hash of link"
	}
	return g
}

func (h *builder) register(days int64) {
	g := h.customerPermit(days, false)
	h.did("plc_a", "POST", createRoute, 200, history.CallText{
		In:  fields{"externalRef": "ref-c", "phone": "mia", "startsAt": rfc(g.StartsAt), "endsAt": rfc(g.EndsAt), "doorIds": g.Doors},
		Out: fields{"permitId": g.ID, "entryToken": "link of mia"},
	}, func() { h.change("plc_a", "register", g) })
}

// press opens a door through mia's link: allowed, followed by the command, or refused.
func (h *builder) press(status int, rule string) {
	h.live(betweenMs) // within 3 s it would count as one opening
	door := doorOf("brd_1", 1)
	h.did("plc_a", "POST", linkRoute, status, history.CallText{In: fields{"t": "link of mia", "doorId": door}, Out: fields{"rule": rule}}, func() {
		switch status {
		case 200:
			h.entered("link")
		case 404:
			h.refused("link", door, "link_invalid")
		case 409:
			h.refused("link", door, rule)
		}
	})
}

// entered is the command by which mia opens a door.
func (h *builder) entered(method string) {
	cmd, door, b := h.id("cmd"), doorOf("brd_1", 1), h.boards["brd_1"]
	h.emit(history.Event{Kind: history.Intent, PlaceID: "plc_a", DoorID: door, CommandID: cmd, Op: "open", Method: method, GrantID: "pmt_c"})
	h.emit(history.Event{Kind: history.Publish, PlaceID: "plc_a", BoardID: "brd_1", DoorID: door, CommandID: cmd, Epoch: b.epoch, NotAfterMs: 5000, Op: "open"})
	h.emit(history.Event{Kind: history.Actuation, BoardID: "brd_1", PlaceID: "plc_a", DoorID: door, Channel: 1, Boot: b.boot, Action: "pulse", Cause: "command", CommandID: cmd, Revision: b.rev})
	h.emit(history.Event{Kind: history.Received, BoardID: "brd_1", CommandID: cmd, Result: "ok"})
	h.emit(history.Event{Kind: history.RecordIn, RecordID: h.id("rec"), PlaceID: "plc_a", DoorID: door, CommandID: cmd, Result: "opened", Reason: vocab.Reason(method), Method: method, Actor: "guest:*1234"})
}

// refused is the record of somebody whom the server didn't let in.
func (h *builder) refused(method, door, reason string) {
	h.emit(history.Event{Kind: history.RecordIn, RecordID: h.id("rec"), PlaceID: "plc_a", DoorID: door, Result: "denied", Reason: vocab.Reason(reason), Method: method, Actor: "guest:*1234"})
}

func (h *builder) phone(result, reason, door string) {
	h.live(betweenMs) // within 3 s it would count as one call
	h.did("plc_a", "POST", phoneRoute, 200, history.CallText{In: fields{"from": "mia"},
		Out: fields{"answered": true, "result": result, "reason": reason, "doorId": door}}, func() {
		switch result {
		case "opened":
			h.entered("phone")
		case "denied":
			h.refused("phone", door, reason)
		}
	})
}

// customer is the life of a permit as its partner sees it, with a membership, a policy and a change of hours.
func (h *builder) customer() {
	h.register(1)
	h.press(200, "")
	h.phone("opened", "phone", doorOf("brd_1", 1))
	h.register(2)
	h.shown("active", 2)
	h.did("plc_a", "POST", revokeRoute, 200, history.CallText{In: fields{"externalRef": "ref-c"}, Out: fields{"permitId": "pmt_c", "state": "revoked"}},
		func() { h.change("plc_a", "revoke", h.customerPermit(2, true)) })
	h.live(betweenMs)
	h.press(404, "")
	h.phone("denied", "revoked", "")
	h.shown("revoked", 2)
	h.did("plc_a", "GET", "/entry", 404, history.CallText{In: fields{"t": "link of mia"}}, nil)
	h.did("plc_a", "POST", createRoute, 400, history.CallText{In: fields{"externalRef": "x", "doorIds": []string{}}}, nil)
	m := refGrant{ID: "mem_c", Kind: "membership", PhoneHash: "hash of mia", Doors: []string{doorOf("brd_1", 1)}, StartsAt: t0}
	h.did("plc_a", "POST", labMembership, 200, history.CallText{In: fields{"phone": "mia", "startsAt": rfc(t0)}, Out: fields{"membershipId": "mem_c"}},
		func() { h.change("plc_a", "membership", m) })
	h.phone("opened", "phone", doorOf("brd_1", 1))
	h.entries("plc_a", doorOf("brd_2", 2))
	h.phone("denied", "door_out_of_scope", "")
	h.entries("plc_a", doorOf("brd_2", 2), doorOf("brd_1", 1))
	h.phone("opened", "phone", doorOf("brd_1", 1))
	door := doorOf("brd_w", 1)
	h.did("plc_w", "POST", policiesRoute, 200, history.CallText{Path: door, In: fields{"window": fields{"ref": "always"}, "mode": "free"}, Out: fields{"policyId": "pol_2"}},
		func() {
			h.windows("plc_w", fmt.Sprintf(`[{"id":"pol_2","doorId":%q,"ref":"always","mode":"free"}]`, door))
		})
	h.did("plc_w", "DELETE", policiesRoute, 200, history.CallText{Path: door, Query: "ref=always&policyId=pol_none"}, nil)
	h.did("plc_w", "DELETE", policiesRoute, 200, history.CallText{Path: door}, func() { h.windows("plc_w", `[]`) })
	h.newHours()
}

// newHours is a change of plc_w's opening hours.
func (h *builder) newHours() {
	h.did("plc_w", "PATCH", placeRoute, 200, history.CallText{Path: "plc_w", In: fields{"hours": fields{"week": fields{"mon": [][2]string{{"09:00", "18:00"}}}}}}, func() {
		h.rev["plc_w"]++
		h.digest["plc_w"] = fmt.Sprintf("d%d", h.rev["plc_w"])
		h.emit(history.Event{Kind: history.Committed, PlaceID: "plc_w", Revision: h.rev["plc_w"], Digest: h.digest["plc_w"], Op: "hours"})
		h.emit(history.Event{Kind: history.Content, PlaceID: "plc_w", Revision: h.rev["plc_w"], Op: history.ContentHours, Text: `{"timezone":"Asia/Seoul","week":{"mon":[["09:00","18:00"]]}}`})
		h.pass(1000)
		h.apply("brd_w")
	})
}

func (h *builder) shown(state string, days int64) {
	g := h.customerPermit(days, false)
	h.did("plc_a", "GET", createRoute+"/{id}", 200, history.CallText{Path: "pmt_c",
		Out: fields{"permitId": "pmt_c", "state": state, "startsAt": rfc(g.StartsAt), "endsAt": rfc(g.EndsAt)}}, nil)
}

// told changes what the server says about a grant the n-th time it mentions it.
func (h *builder) told(t *testing.T, id string, n int, change func(*refGrant)) {
	t.Helper()
	h.edit(t, n, func(e history.Event) bool { return e.Kind == history.Content && e.GrantID == id }, func(e *history.Event) {
		var g refGrant
		_ = json.Unmarshal([]byte(e.Text), &g)
		change(&g)
		text, _ := json.Marshal(g)
		e.Text = string(text)
	})
}

// answer changes the n-th call of a route.
func (h *builder) answer(t *testing.T, method, route string, n int, change func(*history.Event, *history.CallText)) {
	t.Helper()
	h.edit(t, n, func(e history.Event) bool {
		var c history.CallText
		return e.Kind == history.Call && e.Method == method && e.Route == route && json.Unmarshal([]byte(e.Text), &c) == nil && c.SentNs != 0
	}, func(e *history.Event) {
		var c history.CallText
		_ = json.Unmarshal([]byte(e.Text), &c)
		change(e, &c)
		text, _ := json.Marshal(c)
		e.Text = string(text)
	})
}

// TestEndedLongAgo: a permit that has ended is missing from the content, which is correct.
func TestEndedLongAgo(t *testing.T) {
	t.Parallel()
	h := newBuilder()
	h.base("plc_a")
	h.did("plc_a", "POST", createRoute, 200, history.CallText{In: fields{"startsAt": rfc(t0 - 9000), "endsAt": rfc(t0 - 5000)}, Out: fields{"permitId": "pmt_p"}},
		func() {
			h.emit(history.Event{Kind: history.Content, PlaceID: "plc_a", Revision: 2, GrantID: "pmt_p", Op: history.ContentRemoved})
		})
	if got := failing(Judge(NewView(h.events))); len(got) > 0 {
		t.Errorf("failing clauses %v, want none", got)
	}
}

func TestPlantedContentBugs(t *testing.T) {
	const call = history.Call
	granted := func(id string, n int, change func(*refGrant)) func(*testing.T, *builder) {
		return func(t *testing.T, h *builder) { h.told(t, id, n, change) }
	}
	answered := func(method, route string, n int, change func(*history.Event, *history.CallText)) func(*testing.T, *builder) {
		return func(t *testing.T, h *builder) { h.answer(t, method, route, n, change) }
	}
	shift := func(g *refGrant) { g.EndsAt -= 3600 * 1000 }
	runPlants(t, []planted{
		{"an hour less than registered", granted("pmt_c", 0, shift), []string{"PERM-1", "SYNC-1"}, call, "in the server's content at"},
		{"registered again, the old period stays", granted("pmt_c", 1, func(g *refGrant) { g.EndsAt = t0 + 5*24*3600*1000 }), []string{"PERM-3", "SYNC-1"}, call, "in the server's content at"},
		{"registered for another phone", granted("mem_c", 0, func(g *refGrant) { g.PhoneHash = "hash of eve" }), []string{"ENT-1", "ENT-3", "SYNC-1"}, call, ""},
		{"other doors", granted("pmt_c", 0, func(g *refGrant) { g.Doors = []string{doorOf("brd_1", 1), doorOf("brd_1", 2)} }), []string{"PERM-6"}, call, "names 1 door"},
		{"no link", granted("pmt_c", 0, func(g *refGrant) { g.TokenHash = "" }), []string{"PERM-1", "SYNC-1"}, call, "has no link"},
		{"revoked for the client only", granted("pmt_c", 2, func(g *refGrant) { g.Revoked = false }), []string{"PERM-1", "PERM-4", "ENT-1", "ENT-3", "SYNC-2"}, call, ""},
		{"a membership that ends", granted("mem_c", 0, func(g *refGrant) { g.EndsAt = t0 + 1000 }), []string{"ENT-1", "ENT-3", "SYNC-1"}, call, ""},
		{"nothing of a membership", func(t *testing.T, h *builder) {
			h.drop(t, func(e history.Event) bool { return e.Kind == history.Content && e.GrantID == "mem_c" })
		}, []string{"ENT-1", "ENT-3", "SYNC-1"}, call, ""},
		{"a policy of another mode", func(t *testing.T, h *builder) {
			h.answer(t, "POST", policiesRoute, 0, func(_ *history.Event, c *history.CallText) { c.In["mode"] = "closed" })
		}, []string{"ENT-2"}, call, "says otherwise"},
		{"a policy that stays", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e history.Event) bool {
				return e.Kind == history.Content && e.Op == history.ContentWindows && e.Text == "[]"
			}, func(e *history.Event) {
				e.Text = `[{"id":"pol_2","doorId":"dor_brd_w_1","ref":"always","mode":"free"}]`
			})
		}, []string{"ENT-2"}, call, "says otherwise"},
		{"hours of another day", answered("PATCH", placeRoute, 0, func(_ *history.Event, c *history.CallText) {
			c.In["hours"] = fields{"week": fields{"tue": [][2]string{{"09:00", "18:00"}}}}
		}), []string{"HRS-1"}, call, "has different ones"},
		{"a dead link opens", answered("POST", linkRoute, 1, func(e *history.Event, c *history.CallText) { e.Status, e.Code = 200, "" }), []string{"PERM-4", "ENT-1", "ENT-3"}, call, "denies: link_invalid"},
		{"a live link doesn't", answered("POST", linkRoute, 0, func(e *history.Event, c *history.CallText) { e.Status, e.Code = 404, "link_invalid" }), []string{"PERM-1", "ENT-1", "ENT-3"}, call, "the reference opens"},
		{"a link opens without a command", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e history.Event) bool { return e.Kind == history.Intent && e.Method == "link" }, func(e *history.Event) { e.Method = "phone" })
		}, []string{"ENT-3"}, call, "no command by link for its door ended reported"},
		{"a call opens without a command", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e history.Event) bool { return e.Kind == history.Intent && e.Method == "phone" }, func(e *history.Event) { e.Method = "link" })
		}, []string{"ENT-3"}, call, "no command by phone for its door ended reported"},
		{"a link is offline, but its command opened", answered("POST", linkRoute, 0, func(e *history.Event, c *history.CallText) { e.Status, e.Code = 503, "store_offline" }), []string{"ENT-3"}, call, "no command by link for its door ended offline"},
		{"a link is told the wrong status", answered("POST", linkRoute, 1, func(e *history.Event, c *history.CallText) { e.Status = 409 }), []string{"ENT-3"}, call, "answered with 409 link_invalid, but it should be 404"},
		{"a revoked phone is let in", answered("POST", phoneRoute, 1, func(e *history.Event, c *history.CallText) {
			c.Out = fields{"answered": true, "result": "opened", "doorId": doorOf("brd_1", 1)}
		}), []string{"ENT-1", "ENT-3"}, call, "denies: revoked"},
		{"a member is denied", answered("POST", phoneRoute, 2, func(e *history.Event, c *history.CallText) {
			c.Out = fields{"answered": true, "result": "denied", "reason": "revoked"}
		}), []string{"PERM-1", "ENT-1", "ENT-3", "ENT-4"}, call, "has no record"},
		{"a call opens another door", answered("POST", phoneRoute, 0, func(e *history.Event, c *history.CallText) {
			c.Out["doorId"] = doorOf("brd_1", 2)
		}), []string{"ENT-1", "ENT-3"}, call, "the caller gets " + doorOf("brd_1", 1)},
		{"by a door that is an entry door no more", answered("POST", phoneRoute, 3, func(e *history.Event, c *history.CallText) {
			c.Out = fields{"answered": true, "result": "opened", "doorId": doorOf("brd_1", 1)}
		}), []string{"ENT-1", "ENT-3"}, call, "the reference denies"},
		{"not by one that has become one", answered("POST", phoneRoute, 4, func(e *history.Event, c *history.CallText) {
			c.Out = fields{"answered": true, "result": "denied", "reason": "door_out_of_scope"}
		}), []string{"PERM-1", "ENT-1", "ENT-3", "ENT-4"}, call, "has no record"},
		{"shown with the old period", answered("GET", createRoute+"/{id}", 0, func(e *history.Event, c *history.CallText) { c.Out["endsAt"] = rfc(t0 + 5*24*3600*1000) }), []string{"PERM-3"}, call, ""},
		{"shown with a door that it doesn't name", answered("GET", createRoute+"/{id}", 0, func(e *history.Event, c *history.CallText) { c.Out["doorIds"] = []any{"dor_x"} }), []string{"PERM-6"}, call, "but is shown with dor_x"},
		{"shown as active", answered("GET", createRoute+"/{id}", 1, func(e *history.Event, c *history.CallText) { c.Out["state"] = "active" }), []string{"PERM-4"}, call, "was revoked, but is shown"},
		{"the page of a dead link", answered("GET", "/entry", 0, func(e *history.Event, c *history.CallText) { e.Status, e.Code = 200, "" }), []string{"PERM-4"}, call, "page of a dead link"},
		{"an empty list of doors", answered("POST", createRoute, 2, func(e *history.Event, c *history.CallText) {
			e.Status, e.Code, c.Out = 200, "", fields{"permitId": "pmt_x"}
		}), []string{"PERM-1", "PERM-6", "SYNC-1"}, call, ""},
	})
}
