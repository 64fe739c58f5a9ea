package history

import (
	"strings"
	"testing"
)

func on(board, kind string) func(Event) bool {
	return func(e Event) bool { return e.Kind == kind && e.BoardID == board }
}

func applied(board string, rev int64) func(Event) bool {
	return func(e Event) bool { return e.Kind == Applied && e.BoardID == board && e.Revision == rev }
}

func syncPlants() []planted {
	return []planted{
		{"registration late", func(t *testing.T, h *builder) {
			h.edit(t, 0, applied("brd_1", 2), func(e *Event) { e.At += FreshMs })
			h.drop(t, applied("brd_1", 3))
		}, []string{"SYNC-1"}, Committed, "was on brd_1 only after 301.0 s"},
		{"registration never there", func(t *testing.T, h *builder) {
			h.drop(t, func(e Event) bool { return e.Kind == Applied && e.BoardID == "brd_1" && e.Revision == 7 })
			h.pass(FreshMs + 1)
			h.emit(Event{Kind: Label})
		}, []string{"SYNC-1"}, Committed, "was not on brd_1"},
		{"revocation-lost by digest", func(t *testing.T, h *builder) {
			for i := range h.events { // from revision 4 on, which revokes, the board has other content
				if e := &h.events[i]; e.Kind == Applied && e.BoardID == "brd_1" && e.Revision >= 4 {
					e.Digest += "'"
				}
			}
		}, []string{"SYNC-1", "SYNC-2"}, Committed, "was not on brd_1"},
		{"revocation-lost, just now", func(t *testing.T, h *builder) {
			h.change("plc_a", "revoke", grant("pmt_3", "cho", true))
			last := len(h.events) - 1
			h.events[last].Digest = "other"
		}, []string{"SYNC-2", "OFF-4"}, Applied, "digest other"},
		{"revocation-lost in the test place", func(t *testing.T, h *builder) {
			h.change("plc_t", "register", grant("pmt_t", "kim", false))
			h.change("plc_t", "revoke", grant("pmt_t", "kim", true))
			h.events[len(h.events)-1].Digest = "other"
		}, []string{"SYNC-2"}, Applied, "has revision 3 (revoke) in it"},
		{"revocation never applied", func(t *testing.T, h *builder) {
			h.change("plc_t", "revoke", grant("pmt_t", "kim", true))
			h.drop(t, func(e Event) bool { return e.Kind == Applied && e.BoardID == "brd_t" && e.Revision == 2 })
			h.pass(FreshMs)
			h.emit(Event{Kind: Label})
		}, []string{"SYNC-2"}, Committed, "was not on brd_t although it was connected for"},
		{"not there after an outage", func(t *testing.T, h *builder) {
			h.change("plc_t", "register", grant("pmt_t", "kim", false))
			h.cut("brd_t")
			h.change("plc_t", "revoke", grant("pmt_t", "kim", true))
			h.back("brd_t")
			h.events = h.events[:len(h.events)-1]
			h.pass(FreshMs + 1)
			h.emit(Event{Kind: Label})
		}, []string{"SYNC-2", "OFF-4"}, Online, "never got to revision 3"},
		{"revision goes back", func(t *testing.T, h *builder) {
			h.after(t, applied("brd_1", 3), func(e *Event) { e.Revision, e.Digest = 2, "d2" })
		}, []string{"SYNC-1"}, Applied, "went back from revision 3 to 2"},
		{"revision forgotten over a reboot", func(t *testing.T, h *builder) {
			h.edit(t, 1, on("brd_2", Online), func(e *Event) { e.Revision = 3 })
		}, []string{"SYNC-1"}, Online, "came back with revision 3"},
		{"change acts during the outage", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e Event) bool { return e.Kind == Presented && e.PhoneHash == "cho" }, func(e *Event) {
				e.Revision, e.Result, e.Reason, e.GrantID = 5, "opened", "onsite", "pmt_3"
			})
			h.edit(t, 0, func(e Event) bool { return e.Kind == RecordIn && e.BoardID == "brd_2" && e.RecordSeq == 3 }, func(e *Event) { e.Result = "opened" })
		}, []string{"SYNC-3"}, Presented, "in an outage"},
		{"decided by a newer revision throughout", func(t *testing.T, h *builder) {
			for i := range h.events {
				if e := &h.events[i]; e.BoardID == "brd_2" && onsite(e) && e.OutageAgeMs > 4000*1000 {
					e.Revision = 5
				}
			}
		}, []string{"SYNC-3"}, Actuation, "in an outage"},
	}
}

func at(ageMs int64) func(Event) bool {
	return func(e Event) bool { return e.Kind == Presented && e.OutageAgeMs == ageMs }
}

func outagePlants() []planted {
	rest := func(e Event) bool { return e.Kind == Actuation && e.Cause == "outage" && e.Action == "hold" }
	record := func(h *builder, seq int64) func(Event) bool {
		return func(e Event) bool { return e.Kind == RecordIn && e.BoardID == "brd_2" && e.RecordSeq == seq }
	}
	return []planted{
		{"valid permit denied in the outage", func(t *testing.T, h *builder) {
			h.edit(t, 0, at(3600*1000), func(e *Event) { e.Result, e.Reason = "denied", "no_valid_grant" })
			h.edit(t, 0, record(h, 2), func(e *Event) { e.Result, e.Reason = "denied", "no_valid_grant" })
		}, []string{"OFF-1"}, Presented, "the reference opens"},
		{"stranger let in", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e Event) bool { return e.Kind == Presented && e.PhoneHash == "kim" }, func(e *Event) { e.PhoneHash = "eve" })
		}, []string{"ENT-1"}, Presented, "the reference denies: no_valid_grant"},
		{"wrong credit", func(t *testing.T, h *builder) {
			h.edit(t, 0, at(3600*1000), func(e *Event) { e.GrantID = "pmt_2" })
		}, []string{"OFF-1"}, Presented, "credited pmt_2"},
		{"outage-36h-ge", func(t *testing.T, h *builder) {
			deny := func(e *Event) { e.Result, e.Reason = "denied", "outage_limit" }
			h.edit(t, 0, at(LimitMs), deny)
			h.edit(t, 0, record(h, 5), deny)
			h.drop(t, func(e Event) bool { return e.Kind == Actuation && e.OutageAgeMs == LimitMs && e.Cause == "onsite" })
		}, []string{"OFF-1", "OFF-2"}, Presented, "denied outage_limit at outage age 36h0m0s"},
		{"opened after 36 h", func(t *testing.T, h *builder) {
			open := func(e *Event) { e.Result, e.Reason = "opened", "onsite" }
			h.edit(t, 0, at(LimitMs+1000), open)
			h.edit(t, 0, record(h, 6), open)
		}, []string{"OFF-2"}, Presented, "must be denied outage_limit"},
		{"relay after 36 h", func(t *testing.T, h *builder) {
			h.after(t, at(LimitMs+1000), func(e *Event) { e.Kind, e.Action, e.Cause, e.RecordSeq = Actuation, "pulse", "onsite", 0 })
		}, []string{"OFF-2"}, Actuation, "opened on site at outage age 36h0m1s"},
		{"opened with a lost clock", func(t *testing.T, h *builder) {
			h.cut("brd_2")
			h.pass(5000)
			h.present("brd_2", "cho", "opened", "onsite", "pmt_3")
			h.events[len(h.events)-1].OutageAgeMs = -1
			h.events[len(h.events)-2].OutageAgeMs = 0
			h.rest("brd_2", "hold")
		}, []string{"OFF-2", "OFF-3"}, Actuation, "due at"},
		{"no resting behaviour", func(t *testing.T, h *builder) {
			h.drop(t, func(e Event) bool { return rest(e) && e.Channel == 2 })
		}, []string{"OFF-3"}, Online, "channel 2 shows nothing"},
		{"no resting behaviour at all", func(t *testing.T, h *builder) {
			h.drop(t, func(e Event) bool { return e.Cause == "outage" })
		}, []string{"OFF-3"}, Online, "shows nothing"},
		{"twice", func(t *testing.T, h *builder) {
			h.after(t, rest, func(e *Event) { e.OutageAgeMs += 100 })
		}, []string{"OFF-3"}, Actuation, "again in the same outage"},
		{"early", func(t *testing.T, h *builder) { h.edit(t, 0, rest, func(e *Event) { e.OutageAgeMs -= 2 }) },
			[]string{"OFF-3"}, Actuation, "due at 1h0m0s"},
		{"late", func(t *testing.T, h *builder) { h.edit(t, 1, rest, func(e *Event) { e.OutageAgeMs += 501 }) },
			[]string{"OFF-3"}, Actuation, "only at outage age"},
		{"another behaviour", func(t *testing.T, h *builder) { h.edit(t, 0, rest, func(e *Event) { e.Action = "pulse" }) },
			[]string{"OFF-3"}, Actuation, "stored is hold"},
		{"buffered record lost", func(t *testing.T, h *builder) { h.drop(t, record(h, 3)) },
			[]string{"OFF-4"}, Presented, "record 3 of brd_2 never arrived"},
		{"buffered record twice", func(t *testing.T, h *builder) {
			h.after(t, record(h, 3), func(e *Event) { e.RecordID = "rec_x" })
		}, []string{"OFF-4"}, RecordIn, "arrived 2 times"},
		{"buffered record changed", func(t *testing.T, h *builder) {
			h.edit(t, 0, record(h, 3), func(e *Event) { e.Result, e.Reason = "opened", "onsite" })
		}, []string{"OFF-4"}, RecordIn, "says opened"},
	}
}

// What a checker must not hold against anybody.
func TestExcused(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(t *testing.T, h *builder){
		"a full buffer": func(t *testing.T, h *builder) {
			h.drop(t, func(e Event) bool { return e.Kind == RecordIn && e.BoardID == "brd_2" && e.RecordSeq == 3 })
			h.emit(Event{Kind: Dropped, BoardID: "brd_2", RecordSeq: 3})
		},
		"a wiped flash": func(t *testing.T, h *builder) {
			h.cut("brd_2")
			h.present("brd_2", "cho", "opened", "onsite", "pmt_3")
			h.boards["brd_2"].buffered, h.boards["brd_2"].rev = nil, 0
			h.emit(Event{Kind: Wiped, BoardID: "brd_2"})
			h.back("brd_2")
		},
		"an end just after a change": func(t *testing.T, h *builder) {
			h.change("plc_a", "revoke", grant("pmt_3", "cho", true))
			h.events = h.events[:len(h.events)-2]
		},
		"the same record told again": func(t *testing.T, h *builder) {
			h.after(t, func(e Event) bool { return e.Kind == RecordIn }, same)
		},
		"a key after 30 days": func(t *testing.T, h *builder) {
			h.at = t0 + 29*24*3600*1000
			h.command("brd_1", "k-old", "open", Reported, true, 1)
			h.pass(KeptMs)
			h.command("brd_1", "k-old", "hold", Reported, true, 1)
		},
		"a death between intent and record": func(t *testing.T, h *builder) {
			id := commandOf(t, h, "k-lost")
			h.drop(t, is(RecordIn, id))
			h.after(t, is(Publish, id), func(e *Event) { *e = Event{Kind: Started, At: e.At, WallNs: e.WallNs} })
			for _, b := range h.boardIDs() {
				h.online(b)
			}
		},
		"a half-open line that the server believes in": func(t *testing.T, h *builder) {
			h.emit(Event{Kind: Line, BoardID: "brd_t", Op: "down", Text: "halfopen"})
			h.boards["brd_t"].cutAt = h.at
			h.change("plc_t", "revoke", grant("pmt_t", "kim", true))
			h.pass(FreshMs * 2)
			h.emit(Event{Kind: Label})
		},
		"a digest repaired in time": func(t *testing.T, h *builder) {
			h.edit(t, 0, applied("brd_1", 3), func(e *Event) { e.Digest = "other" })
			h.after(t, applied("brd_1", 3), func(e *Event) { e.Digest = "d3"; e.At += 500 })
		},
		"denials until the acknowledgement": func(t *testing.T, h *builder) {
			i := find(t, h.events, 1, on("brd_2", Online))
			e := h.events[find(t, h.events, 0, at(LimitMs+1000))]
			e.OutageAgeMs, e.RecordSeq, e.WallNs = 0, 0, h.events[i].WallNs+1
			h.events = append(h.events[:i+1], append([]Event{e}, h.events[i+1:]...)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := clean()
			plant(t, h)
			for _, v := range Judge(NewView(h.events)) {
				if v.Status == Fail {
					t.Errorf("%s\n%s", v, v.FirstBad)
				}
			}
		})
	}
}

// A breach of a command that was under way at a death counts for CMD-6, and
// only then.
func TestDeathsAreCounted(t *testing.T) {
	t.Parallel()
	h := clean()
	h.after(t, is(Publish, commandOf(t, h, "k-lost")), func(e *Event) {
		*e = Event{Kind: Line, Op: "down", BoardID: "brd_1", At: e.At, WallNs: e.WallNs, Text: "offline"}
	})
	v := Cmd6(NewView(h.events))
	if v.Status != Pass || v.Checked != 1 || !strings.Contains(v.Number, "line 1") {
		t.Errorf("%s", v)
	}
}
