package history

import (
	"slices"
	"strings"
	"testing"
)

// planted is a bug in an otherwise clean history: which clauses must fail, and
// where the last of them must point.
type planted struct {
	name    string
	plant   func(t *testing.T, h *builder)
	clauses []string // exactly these fail
	kind    string   // of the last clause's first bad event
	why     string   // part of its reason
}

func is(kind, id string) func(Event) bool {
	return func(e Event) bool { return e.Kind == kind && (id == "" || e.CommandID == id) }
}

// commandOf is the command id under a key of brd_1's place.
func commandOf(t *testing.T, h *builder, key string) string {
	return h.events[find(t, h.events, 0, func(e Event) bool { return e.Kind == Intent && e.Key == KeyHash("plc_a", key) })].CommandID
}

// edit changes the n-th event that matches.
func (h *builder) edit(t *testing.T, n int, match func(Event) bool, change func(*Event)) {
	t.Helper()
	change(&h.events[find(t, h.events, n, match)])
}

// drop takes out all events that match; there must be one.
func (h *builder) drop(t *testing.T, match func(Event) bool) {
	t.Helper()
	find(t, h.events, 0, match)
	h.events = slices.DeleteFunc(h.events, match)
}

// after puts a changed copy of the event behind it.
func (h *builder) after(t *testing.T, match func(Event) bool, change func(*Event)) {
	t.Helper()
	i := find(t, h.events, 0, match)
	e := h.events[i]
	e.WallNs += 1000
	change(&e)
	h.events = slices.Insert(h.events, i+1, e)
}

func same(*Event) {}

func commandPlants() []planted {
	act := func(t *testing.T, h *builder, key string) func(Event) bool {
		return is(Actuation, commandOf(t, h, key))
	}
	return []planted{
		{"200 without an actuation", func(t *testing.T, h *builder) { h.drop(t, act(t, h, "k-open")) },
			[]string{"CMD-1"}, Answer, "reported without an actuation"},
		{"answer before the actuation", func(t *testing.T, h *builder) {
			h.edit(t, 0, act(t, h, "k-hold"), func(e *Event) { e.WallNs += 100e6 })
		}, []string{"CMD-1"}, Answer, "before its actuation"},
		{"board-acts-twice", func(t *testing.T, h *builder) { h.after(t, act(t, h, "k-open"), same) },
			[]string{"CMD-1", "CMD-5"}, Actuation, "actuated 2 times"},
		{"acts twice over a reboot", func(t *testing.T, h *builder) {
			h.after(t, act(t, h, "k-silent"), func(e *Event) { e.Boot = 2 })
		}, []string{"CMD-4", "CMD-5"}, Actuation, "actuated 2 times"},
		{"wrong operation", func(t *testing.T, h *builder) {
			h.edit(t, 0, act(t, h, "k-close"), func(e *Event) { e.Action = "hold" })
		}, []string{"CMD-1"}, Actuation, "the relay did hold"},
		{"wrong door", func(t *testing.T, h *builder) {
			h.edit(t, 0, act(t, h, "k-open"), func(e *Event) { e.DoorID = doorOf("brd_1", 2) })
		}, []string{"CMD-1"}, Actuation, "moved dor_brd_1_2"},
		{"offline but sent", func(t *testing.T, h *builder) {
			h.after(t, is(Intent, commandOf(t, h, "k-off")), func(e *Event) { e.Kind, e.BoardID, e.NotAfterMs = Publish, "brd_2", 5000 })
		}, []string{"CMD-2"}, Publish, "ended offline but was sent"},
		{"refused but moved", func(t *testing.T, h *builder) {
			h.edit(t, 0, act(t, h, "k-refused"), func(e *Event) { e.Action = "pulse" })
		}, []string{"CMD-3"}, Actuation, "was refused but moved"},
		{"board-ignores-notafter", func(t *testing.T, h *builder) {
			h.edit(t, 0, act(t, h, "k-silent"), func(e *Event) { e.WallNs += 6e9 })
		}, []string{"CMD-4"}, Actuation, "notAfter is 5.00 s"},
		{"notAfter of a reported command", func(t *testing.T, h *builder) {
			id := commandOf(t, h, "k-close")
			h.edit(t, 0, is(Publish, id), func(e *Event) { e.NotAfterMs = 1 })
			for _, kind := range []string{Actuation, RecordIn, Answer} {
				h.edit(t, 0, is(kind, id), func(e *Event) { e.WallNs += 60e6 })
			}
		}, []string{"CMD-4"}, Actuation, "after it was sent"},
		{"publish-before-commit", func(t *testing.T, h *builder) {
			i := find(t, h.events, 0, is(Intent, commandOf(t, h, "k-open")))
			h.events[i], h.events[i+1] = h.events[i+1], h.events[i]
			h.events[i].WallNs, h.events[i+1].WallNs = h.events[i+1].WallNs, h.events[i].WallNs
		}, []string{"CMD-5"}, Publish, "before its intent"},
		{"publish-before-commit and death", func(t *testing.T, h *builder) {
			h.drop(t, is(Intent, commandOf(t, h, "k-silent")))
		}, []string{"CMD-5"}, Publish, "without a committed intent"},
		{"memory-only-ledger", func(t *testing.T, h *builder) { // forgets over a restart: the repeat is a new command
			h.emit(Event{Kind: Offline, BoardID: "brd_1", Epoch: 1})
			h.emit(Event{Kind: Started, Text: "server"})
			h.online("brd_1")
			h.command("brd_1", "k-open", "open", Reported, true, 0)
		}, []string{"CMD-5"}, Actuation, "second command"},
		{"memory-only-ledger, first answer lost", func(t *testing.T, h *builder) {
			h.drop(t, is(Answer, commandOf(t, h, "k-silent")))
			h.emit(Event{Kind: Started, Text: "server"})
			h.online("brd_1")
			h.command("brd_1", "k-silent", "open", Reported, true, 0)
		}, []string{"CMD-5"}, Actuation, "second command"},
		{"conflict-after-send", func(t *testing.T, h *builder) {
			reused := func(e Event) bool { return e.Code == codeReused }
			h.after(t, reused, func(e *Event) {
				*e = Event{Kind: Publish, At: e.At, WallNs: e.WallNs - 2000, PlaceID: "plc_a", BoardID: "brd_1", DoorID: e.DoorID,
					CommandID: "cmd_x", Key: e.Key, Epoch: 1, NotAfterMs: 5000, Op: "hold"}
			})
		}, []string{"CMD-5"}, Publish, "cmd_x was sent without"},
		{"conflict-after-send with intent", func(t *testing.T, h *builder) {
			reused := func(e Event) bool { return e.Code == codeReused }
			for _, kind := range []string{Publish, Intent} {
				h.after(t, reused, func(e *Event) {
					*e = Event{Kind: kind, At: e.At, WallNs: e.WallNs, PlaceID: "plc_a", DoorID: e.DoorID, CommandID: "cmd_x", Key: e.Key, Op: "hold"}
					if kind == Publish {
						e.BoardID, e.WallNs = "brd_1", e.WallNs+1000
					}
				})
			}
		}, []string{"CMD-5"}, Publish, "second command cmd_x"},
		{"another body", func(t *testing.T, h *builder) {
			h.edit(t, 2, is(Answer, commandOf(t, h, "k-open")), func(e *Event) { e.BodyHash = "other" })
		}, []string{"CMD-5"}, Answer, "another body"},
		{"another status", func(t *testing.T, h *builder) {
			h.edit(t, 1, is(Answer, commandOf(t, h, "k-silent")), func(e *Event) { e.Status, e.Outcome = 200, Reported })
		}, []string{"CMD-5"}, Answer, "answered 200 reported, first 504"},
		{"same request refused as reused", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e Event) bool { return e.Code == codeReused }, func(e *Event) { e.Meaning = doorOf("brd_1", 1) + " open" })
		}, []string{"CMD-5"}, Answer, "although it is the same request"},
		{"another request got the answer", func(t *testing.T, h *builder) {
			h.edit(t, 1, is(Answer, commandOf(t, h, "k-open")), func(e *Event) { e.Meaning = "something else" })
		}, []string{"CMD-5"}, Answer, "another request"},
		{"sent twice", func(t *testing.T, h *builder) { h.after(t, is(Publish, commandOf(t, h, "k-lost")), same) },
			[]string{"CMD-5"}, Publish, "was sent 2 times"},
		{"moved but never sent", func(t *testing.T, h *builder) { h.drop(t, is(Publish, commandOf(t, h, "k-hold"))) },
			[]string{"CMD-5"}, Actuation, "was never sent"},
		{"twice over a death", func(t *testing.T, h *builder) {
			h.after(t, act(t, h, "k-silent"), func(e *Event) { *e = Event{Kind: Started, At: e.At, WallNs: e.WallNs} })
			h.after(t, act(t, h, "k-silent"), same)
		}, []string{"CMD-4", "CMD-5", "CMD-6"}, Actuation, "actuated 2 times"},
	}
}

func recordPlants() []planted {
	return []planted{
		{"command without record", func(t *testing.T, h *builder) { h.drop(t, is(RecordIn, commandOf(t, h, "k-hold"))) },
			[]string{"ENT-4"}, Answer, "has no record"},
		{"recorded twice", func(t *testing.T, h *builder) {
			h.after(t, is(RecordIn, commandOf(t, h, "k-open")), func(e *Event) { e.RecordID = "rec_x" })
		}, []string{"ENT-4"}, RecordIn, "has 2 records"},
		{"recorded otherwise", func(t *testing.T, h *builder) {
			h.edit(t, 0, is(RecordIn, commandOf(t, h, "k-refused")), func(e *Event) { e.Result = "offline" })
		}, []string{"ENT-4"}, RecordIn, "recorded as offline"},
		{"hold recorded as opened", func(t *testing.T, h *builder) {
			h.edit(t, 0, is(RecordIn, commandOf(t, h, "k-hold")), func(e *Event) { e.Result = "opened" })
		}, []string{"ENT-4"}, RecordIn, "recorded as opened"},
		{"record nobody asked for", func(t *testing.T, h *builder) {
			h.emit(Event{Kind: RecordIn, RecordID: "rec_x", PlaceID: "plc_a", CommandID: "cmd_x", Result: "refused"})
		}, []string{"ENT-4"}, RecordIn, "nobody asked for"},
		{"phone in clear", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e Event) bool { return e.Kind == RecordIn && e.Method == "onsite" }, func(e *Event) { e.Text = "010-1234-5678" })
		}, []string{"ENT-4"}, RecordIn, "phone number"},
		{"on-site attempt not recorded", func(t *testing.T, h *builder) {
			h.drop(t, func(e Event) bool { return e.Kind == RecordIn && e.BoardID == "brd_1" && e.RecordSeq == 1 })
		}, []string{"ENT-4"}, Presented, "never arrived"},
		{"another place's board", func(t *testing.T, h *builder) {
			h.edit(t, 0, is(Publish, commandOf(t, h, "k-lost")), func(e *Event) { e.BoardID = "brd_t" })
		}, []string{"AUTH-4"}, Publish, "reached brd_t of plc_t"},
		{"test key moves a live door", func(t *testing.T, h *builder) {
			for i := range h.events {
				if e := &h.events[i]; e.CommandID == commandOf(t, h, "k-open") && (e.Kind == Answer || e.Kind == Intent) {
					e.PlaceID = "plc_t"
				}
			}
		}, []string{"AUTH-4"}, Publish, "was given at plc_t"},
	}
}

func TestPlantedCommandBugs(t *testing.T) { runPlants(t, commandPlants()) }
func TestPlantedRecordBugs(t *testing.T)  { runPlants(t, recordPlants()) }
func TestPlantedSyncBugs(t *testing.T)    { runPlants(t, syncPlants()) }
func TestPlantedOutageBugs(t *testing.T)  { runPlants(t, outagePlants()) }

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
			if !slices.ContainsFunc(bad.Timeline, func(e Event) bool { return e.Seq == bad.Event.Seq }) {
				t.Errorf("timeline without the bad event:\n%s", bad)
			}
			if !strings.Contains(bad.String(), "\n> ") {
				t.Errorf("bad event is not marked:\n%s", bad)
			}
		})
	}
}
