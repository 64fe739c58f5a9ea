package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// planted is a bug in an otherwise clean history, the clauses that must fail, and what the last clause's finding must
// point at.
type planted struct {
	name    string
	plant   func(t *testing.T, h *builder)
	clauses []string // exactly these fail
	kind    string   // of the last clause's first bad event
	why     string   // part of its reason
}

func is(kind, id string) func(history.Event) bool {
	return func(e history.Event) bool { return e.Kind == kind && (id == "" || e.CommandID == id) }
}

// commandOf returns the command id under a key of brd_1's place.
func commandOf(t *testing.T, h *builder, key string) string {
	return h.events[find(t, h.events, 0, func(e history.Event) bool { return e.Kind == history.Intent && e.Key == history.KeyHash("plc_a", key) })].CommandID
}

// edit changes the n-th matching event.
func (h *builder) edit(t *testing.T, n int, match func(history.Event) bool, change func(*history.Event)) {
	t.Helper()
	change(&h.events[find(t, h.events, n, match)])
}

// drop removes all matching events; there must be at least one.
func (h *builder) drop(t *testing.T, match func(history.Event) bool) {
	t.Helper()
	find(t, h.events, 0, match)
	h.events = slices.DeleteFunc(h.events, match)
}

// after inserts a changed copy of the event behind it.
func (h *builder) after(t *testing.T, match func(history.Event) bool, change func(*history.Event)) {
	t.Helper()
	i := find(t, h.events, 0, match)
	e := h.events[i]
	e.WallNs += 1000
	change(&e)
	h.events = slices.Insert(h.events, i+1, e)
}

func same(*history.Event) {}

// restart is an unannounced death of the server, after which all boards reconnect.
func (h *builder) restart() {
	h.emit(history.Event{Kind: history.Started, Text: "server"})
	for _, id := range h.boardIDs() {
		h.online(id)
	}
}

// quiet lets 11 s of wall time pass.
func (h *builder) quiet(t *testing.T) {
	t.Helper()
	h.wall += 11_000 * 1e6
	h.emit(history.Event{Kind: history.Label})
}

// hold holds a channel for 5 minutes; it ends on its own after ms.
func (h *builder) hold(id string, ms int64) {
	h.minutes = 5
	h.command(id, "k-long", "hold", vocab.Reported, true, 0)
	h.pass(ms)
	h.emit(history.Event{Kind: history.Actuation, BoardID: id, DoorID: doorOf(id, 1), Channel: 1, Boot: 1, Action: "lock", Cause: "hold_end"})
}

// decide changes the board's decision at the first matching presentation, and what its relay did because of it: a
// complete bug, not a contradiction.
func (h *builder) decide(t *testing.T, match func(history.Event) bool, change func(*history.Event)) {
	t.Helper()
	i := find(t, h.events, 0, match)
	change(&h.events[i])
	for j := i - 1; ; j-- {
		if e := &h.events[j]; e.BoardID == h.events[i].BoardID && byItself(e) {
			e.Action, e.Cause, e.GrantID, e.Revision = "deny", "onsite", "", h.events[i].Revision
			if h.events[i].Result == "opened" {
				e.Action, e.Cause, e.GrantID = "pulse", causeOf(h.events[i].Reason), h.events[i].GrantID
			}
			return
		}
	}
}

// acts matches the actuations of the command under a key.
func acts(t *testing.T, h *builder, key string) func(history.Event) bool {
	return is(history.Actuation, commandOf(t, h, key))
}

func commandPlants() []planted {
	return []planted{
		{"200 without an actuation", func(t *testing.T, h *builder) { h.drop(t, acts(t, h, "k-open")) },
			[]string{"CMD-1"}, history.Answer, "reported without an actuation"},
		{"answer before the actuation", func(t *testing.T, h *builder) {
			h.edit(t, 0, acts(t, h, "k-hold"), func(e *history.Event) { e.WallNs += 100e6 })
		}, []string{"CMD-1"}, history.Answer, "before its actuation"},
		{"board-acts-twice", func(t *testing.T, h *builder) { h.after(t, acts(t, h, "k-open"), same) },
			[]string{"CMD-1", "CMD-5"}, history.Actuation, "actuated 2 times"},
		{"acts twice over a reboot", func(t *testing.T, h *builder) {
			h.after(t, acts(t, h, "k-silent"), func(e *history.Event) { e.Boot = 2 })
		}, []string{"CMD-4", "CMD-5"}, history.Actuation, "actuated 2 times"},
		{"200 without an id", func(t *testing.T, h *builder) {
			for i := range h.events {
				if e := &h.events[i]; e.Kind == history.Answer && e.Key == history.KeyHash("plc_a", "k-hold") {
					e.CommandID, e.Outcome = "", ""
				}
			}
		}, []string{"CMD-1"}, history.Answer, "without a commandId"},
		{"200 before the board said so", func(t *testing.T, h *builder) { h.drop(t, is(history.Received, commandOf(t, h, "k-open"))) },
			[]string{"CMD-1"}, history.Answer, "had not said so"},
		{"200 for a refusal", func(t *testing.T, h *builder) {
			h.edit(t, 0, is(history.Received, commandOf(t, h, "k-open")), func(e *history.Event) { e.Result, e.Reason = "refused", "busy" })
		}, []string{"CMD-1"}, history.Answer, "had not said so"},
		{"refused without the board", func(t *testing.T, h *builder) { h.drop(t, is(history.Received, commandOf(t, h, "k-refused"))) },
			[]string{"CMD-3"}, history.Answer, "not by its board"},
		{"offline although connected", func(t *testing.T, h *builder) {
			h.quiet(t)
			h.command("brd_1", "k-lie", "open", vocab.Offline, false, 0)
			h.quiet(t)
		}, []string{"CMD-2"}, history.Answer, "its board was connected"},
		{"504 although the report was there", func(t *testing.T, h *builder) {
			id := commandOf(t, h, "k-silent")
			h.after(t, is(history.Publish, id), func(e *history.Event) { e.Kind, e.Result = history.Received, "ok" })
			h.edit(t, 0, is(history.Answer, id), func(e *history.Event) { e.WallNs += 300e6 })
		}, []string{"CMD-4"}, history.Answer, "after its report had come in"},
		{"504 that nothing explains", func(t *testing.T, h *builder) {
			id := commandOf(t, h, "k-lost")
			h.drop(t, is(history.Fault, id))
			h.edit(t, 0, is(history.Answer, id), func(e *history.Event) { e.WallNs += 8000e6 })
		}, []string{"CMD-4"}, history.Answer, "no fault hit it"},
		{"gives up at once", func(t *testing.T, h *builder) { h.drop(t, is(history.Fault, commandOf(t, h, "k-lost"))) },
			[]string{"CMD-4"}, history.Answer, "was given up"},
		{"accepted long before it was sent", func(t *testing.T, h *builder) {
			h.edit(t, 0, is(history.Intent, commandOf(t, h, "k-open")), func(e *history.Event) { e.WallNs -= 5100e6 })
		}, []string{"CMD-4", "CMD-6"}, history.Publish, "after it was accepted"},
	}
}

func relayPlants() []planted {
	return []planted{
		{"hold forgotten", func(t *testing.T, h *builder) {
			h.minutes = 5
			h.command("brd_1", "k-long", "hold", vocab.Reported, true, 0)
			h.pass(301_000)
			h.emit(history.Event{Kind: history.Label})
		}, []string{"CMD-7"}, history.Actuation, "has been held for 301.0 s"},
		{"hold ends early", func(t *testing.T, h *builder) { h.hold("brd_1", 299_000) },
			[]string{"CMD-7"}, history.Actuation, "ended its hold 299.0 s after it began"},
		{"hold ends although until locked", func(t *testing.T, h *builder) {
			h.hold("brd_1", 300_000)
			for i := range h.events {
				if e := &h.events[i]; e.Key == history.KeyHash("plc_a", "k-long") {
					e.Meaning = strings.Replace(e.Meaning, " 5 ", " 0 ", 1)
				}
			}
		}, []string{"CMD-7"}, history.Actuation, "until the door was locked"},
		{"wrong operation", func(t *testing.T, h *builder) {
			h.edit(t, 0, acts(t, h, "k-close"), func(e *history.Event) { e.Action = "hold" })
		}, []string{"CMD-1"}, history.Actuation, "the relay did hold"},
		{"wrong door", func(t *testing.T, h *builder) {
			h.edit(t, 0, acts(t, h, "k-open"), func(e *history.Event) { e.DoorID = doorOf("brd_1", 2) })
		}, []string{"CMD-1"}, history.Actuation, "moved dor_brd_1_2"},
		{"offline but sent", func(t *testing.T, h *builder) {
			h.after(t, is(history.Intent, commandOf(t, h, "k-off")), func(e *history.Event) { e.Kind, e.BoardID, e.NotAfterMs = history.Publish, "brd_2", 5000 })
		}, []string{"CMD-2"}, history.Publish, "ended offline but was sent"},
		{"refused but moved", func(t *testing.T, h *builder) {
			h.edit(t, 0, acts(t, h, "k-refused"), func(e *history.Event) { e.Action = "pulse" })
		}, []string{"CMD-3"}, history.Actuation, "was refused but moved"},
		{"board-ignores-notafter", func(t *testing.T, h *builder) {
			h.edit(t, 0, acts(t, h, "k-silent"), func(e *history.Event) { e.WallNs += 6e9 })
		}, []string{"CMD-4"}, history.Actuation, "notAfter is 5.00 s"},
		{"notAfter of a reported command", func(t *testing.T, h *builder) {
			id := commandOf(t, h, "k-close")
			h.edit(t, 0, is(history.Publish, id), func(e *history.Event) { e.NotAfterMs = 1 })
			for _, kind := range []string{history.Actuation, history.RecordIn, history.Answer} {
				h.edit(t, 0, is(kind, id), func(e *history.Event) { e.WallNs += 60e6 })
			}
		}, []string{"CMD-4"}, history.Actuation, "after it was sent"},
	}
}

func keyPlants() []planted {
	return []planted{
		{"publish-before-commit", func(t *testing.T, h *builder) {
			i := find(t, h.events, 0, is(history.Intent, commandOf(t, h, "k-open")))
			h.events[i], h.events[i+1] = h.events[i+1], h.events[i]
			h.events[i].WallNs, h.events[i+1].WallNs = h.events[i+1].WallNs, h.events[i].WallNs
		}, []string{"CMD-5"}, history.Publish, "before its intent"},
		{"publish-before-commit and death", func(t *testing.T, h *builder) {
			h.drop(t, is(history.Intent, commandOf(t, h, "k-silent")))
		}, []string{"CMD-5"}, history.Publish, "without a committed intent"},
		{"memory-only-ledger", func(t *testing.T, h *builder) { // the key is forgotten at a restart: the repeat is a new command
			h.emit(history.Event{Kind: history.Offline, BoardID: "brd_1", Epoch: 1})
			h.emit(history.Event{Kind: history.Started, Text: "server"})
			h.online("brd_1")
			h.command("brd_1", "k-open", "open", vocab.Reported, true, 0)
		}, []string{"CMD-5"}, history.Actuation, "second command"},
		{"memory-only-ledger, first answer lost", func(t *testing.T, h *builder) {
			h.drop(t, is(history.Answer, commandOf(t, h, "k-silent")))
			h.emit(history.Event{Kind: history.Started, Text: "server"})
			h.online("brd_1")
			h.command("brd_1", "k-silent", "open", vocab.Reported, true, 0)
		}, []string{"CMD-5"}, history.Actuation, "second command"},
		{"conflict-after-send", func(t *testing.T, h *builder) {
			reused := func(e history.Event) bool { return e.Code == codeReused }
			h.after(t, reused, func(e *history.Event) {
				*e = history.Event{Kind: history.Publish, At: e.At, WallNs: e.WallNs - 2000, PlaceID: "plc_a", BoardID: "brd_1", DoorID: e.DoorID,
					CommandID: "cmd_x", Key: e.Key, Epoch: 1, NotAfterMs: 5000, Op: "hold"}
			})
		}, []string{"CMD-5"}, history.Publish, "cmd_x was sent without"},
		{"conflict-after-send with intent", func(t *testing.T, h *builder) {
			reused := func(e history.Event) bool { return e.Code == codeReused }
			for _, kind := range []string{history.Publish, history.Intent} {
				h.after(t, reused, func(e *history.Event) {
					*e = history.Event{Kind: kind, At: e.At, WallNs: e.WallNs, PlaceID: "plc_a", DoorID: e.DoorID, CommandID: "cmd_x", Key: e.Key, Op: "hold"}
					if kind == history.Publish {
						e.BoardID, e.WallNs = "brd_1", e.WallNs+1000
					}
				})
			}
		}, []string{"ENT-4", "CMD-5"}, history.Publish, "second command cmd_x"},
		{"the body differs", func(t *testing.T, h *builder) {
			h.edit(t, 2, is(history.Answer, commandOf(t, h, "k-open")), func(e *history.Event) { e.BodyHash = "other" })
		}, []string{"CMD-5"}, history.Answer, "the body differs"},
		{"another status", func(t *testing.T, h *builder) {
			h.edit(t, 1, is(history.Answer, commandOf(t, h, "k-silent")), func(e *history.Event) { e.Status, e.Outcome = 200, vocab.Reported })
		}, []string{"CMD-1", "CMD-5"}, history.Answer, "answered with 200 reported, but first with 504"},
		{"500 under a settled key", func(t *testing.T, h *builder) {
			h.edit(t, 2, is(history.Answer, commandOf(t, h, "k-open")), func(e *history.Event) { e.Status, e.Code, e.Outcome, e.CommandID = 500, "internal_error", "", "" })
		}, []string{"CMD-5"}, history.Answer, "answered with 500 internal_error"},
		{"same request refused as reused", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e history.Event) bool { return e.Code == codeReused }, func(e *history.Event) { e.Meaning = meaningOf(doorOf("brd_1", 1), "open", 0) })
		}, []string{"CMD-5"}, history.Answer, "although it is the same request"},
		{"another request got the answer", func(t *testing.T, h *builder) {
			h.edit(t, 1, is(history.Answer, commandOf(t, h, "k-open")), func(e *history.Event) { e.Meaning = "something else" })
		}, []string{"CMD-5"}, history.Answer, "another request"},
		{"sent twice", func(t *testing.T, h *builder) { h.after(t, is(history.Publish, commandOf(t, h, "k-lost")), same) },
			[]string{"CMD-5"}, history.Publish, "was sent 2 times"},
		{"moved but never sent", func(t *testing.T, h *builder) { h.drop(t, is(history.Publish, commandOf(t, h, "k-hold"))) },
			[]string{"CMD-5"}, history.Actuation, "was never sent"},
		{"twice over a death", func(t *testing.T, h *builder) {
			h.after(t, acts(t, h, "k-silent"), func(e *history.Event) { *e = history.Event{Kind: history.Started, At: e.At, WallNs: e.WallNs} })
			for _, id := range h.boardIDs() { // all reconnect
				h.after(t, func(e history.Event) bool { return e.Kind == history.Started && e.Text == "" }, func(e *history.Event) {
					*e = history.Event{Kind: history.Online, At: e.At, WallNs: e.WallNs, BoardID: id, PlaceID: h.boards[id].place, Epoch: 1, Revision: h.boards[id].rev}
				})
			}
			h.after(t, acts(t, h, "k-silent"), same)
		}, []string{"CMD-4", "CMD-5", "CMD-6"}, history.Actuation, "actuated 2 times"},
	}
}

func recordPlants() []planted {
	return []planted{
		{"command without record", func(t *testing.T, h *builder) { h.drop(t, is(history.RecordIn, commandOf(t, h, "k-hold"))) },
			[]string{"ENT-4"}, history.Answer, "has no record"},
		{"recorded twice", func(t *testing.T, h *builder) {
			h.after(t, is(history.RecordIn, commandOf(t, h, "k-open")), func(e *history.Event) { e.RecordID = "rec_x" })
		}, []string{"ENT-4"}, history.RecordIn, "has 2 records"},
		{"recorded otherwise", func(t *testing.T, h *builder) {
			h.edit(t, 0, is(history.RecordIn, commandOf(t, h, "k-refused")), func(e *history.Event) { e.Result = "offline" })
		}, []string{"ENT-4"}, history.RecordIn, "recorded as offline"},
		{"hold recorded as opened", func(t *testing.T, h *builder) {
			h.edit(t, 0, is(history.RecordIn, commandOf(t, h, "k-hold")), func(e *history.Event) { e.Result = "opened" })
		}, []string{"ENT-4"}, history.RecordIn, "recorded as opened"},
		{"record that was never requested", func(t *testing.T, h *builder) {
			h.emit(history.Event{Kind: history.RecordIn, RecordID: "rec_x", PlaceID: "plc_a", CommandID: "cmd_x", Result: "refused"})
		}, []string{"ENT-4"}, history.RecordIn, "never requested"},
		{"record that was never requested, after a restart", func(t *testing.T, h *builder) {
			h.restart()
			h.emit(history.Event{Kind: history.RecordIn, RecordID: "rec_x", PlaceID: "plc_a", DoorID: doorOf("brd_1", 1), CommandID: "cmd_x", Result: "noResponse"})
		}, []string{"ENT-4"}, history.RecordIn, "never requested"},
		{"two records for one request at a death", func(t *testing.T, h *builder) {
			h.emit(history.Event{Kind: history.Attempt, PlaceID: "plc_a", DoorID: doorOf("brd_1", 1), Key: "aa", Request: "r-x"})
			h.restart()
			for _, id := range []string{"x", "y"} {
				h.emit(history.Event{Kind: history.RecordIn, RecordID: "rec_" + id, PlaceID: "plc_a", DoorID: doorOf("brd_1", 1), CommandID: "cmd_" + id, Result: "noResponse"})
			}
		}, []string{"ENT-4"}, history.RecordIn, "record of cmd_y"},
		{"phone in clear", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e history.Event) bool { return e.Kind == history.RecordIn && e.Method == "onsite" }, func(e *history.Event) { e.Text = "010-1234-5678" })
		}, []string{"ENT-4"}, history.RecordIn, "last four digits"},
		{"on-site attempt not recorded", func(t *testing.T, h *builder) {
			h.drop(t, func(e history.Event) bool {
				return e.Kind == history.RecordIn && e.BoardID == "brd_1" && e.RecordSeq == 1
			})
		}, []string{"ENT-4"}, history.Presented, "never arrived"},
		{"another place's board", func(t *testing.T, h *builder) {
			h.edit(t, 0, is(history.Publish, commandOf(t, h, "k-lost")), func(e *history.Event) { e.BoardID = "brd_t" })
		}, []string{"AUTH-4"}, history.Publish, "reached brd_t of plc_t"},
		{"test key moves a live door", func(t *testing.T, h *builder) {
			for i := range h.events {
				if e := &h.events[i]; e.CommandID == commandOf(t, h, "k-open") && (e.Kind == history.Answer || e.Kind == history.Intent) {
					e.PlaceID = "plc_t"
				}
			}
		}, []string{"AUTH-4"}, history.Publish, "was given at plc_t"},
	}
}

func TestPlantedCommandBugs(t *testing.T) {
	runPlants(t, slices.Concat(commandPlants(), relayPlants(), keyPlants()))
}
func TestPlantedRecordBugs(t *testing.T) { runPlants(t, recordPlants()) }
func TestPlantedSyncBugs(t *testing.T)   { runPlants(t, slices.Concat(syncPlants(), recoveryPlants())) }
func TestPlantedOutageBugs(t *testing.T) {
	runPlants(t, slices.Concat(outagePlants(), onsitePlants(), restPlants()))
}

func runPlants(t *testing.T, plants []planted) {
	t.Parallel()
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			h := clean()
			p.plant(t, h)
			verdicts := Judge(NewView(h.events))
			if got := failing(verdicts); !slices.Equal(got, p.clauses) {
				for _, v := range verdicts {
					if v.Status == Fail {
						t.Logf("%s: %s", v.Clause, v.FirstBad)
					}
				}
				t.Fatalf("failing %v, want %v", got, p.clauses)
			}
			v := verdicts[slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Clause == p.clauses[len(p.clauses)-1] })]
			bad := v.FirstBad
			if bad.Event.Kind != p.kind || !strings.Contains(bad.Why, p.why) {
				t.Errorf("first bad is %s: %s; want %s: %s", bad.Event, bad.Why, p.kind, p.why)
			}
			if !slices.ContainsFunc(bad.Timeline, func(e history.Event) bool { return e.Seq == bad.Event.Seq }) {
				t.Errorf("the timeline lacks the bad event:\n%s", bad)
			}
			if !strings.Contains(bad.String(), "\n> ") {
				t.Errorf("the bad event isn't marked:\n%s", bad)
			}
		})
	}
}
