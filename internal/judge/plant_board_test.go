package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

func on(board, kind string) func(history.Event) bool {
	return func(e history.Event) bool { return e.Kind == kind && e.BoardID == board }
}

func applied(board string, rev int64) func(history.Event) bool {
	return func(e history.Event) bool {
		return e.Kind == history.Applied && e.BoardID == board && e.Revision == rev
	}
}

func syncPlants() []planted {
	return []planted{
		{"registration late", func(t *testing.T, h *builder) {
			h.edit(t, 0, applied("brd_1", 2), func(e *history.Event) { e.At += FreshMs })
			h.drop(t, applied("brd_1", 3))
		}, []string{"SYNC-1"}, history.Committed, "reached brd_1 only after 301.0 s"},
		{"never there on a line that drops every 299 s", func(t *testing.T, h *builder) {
			h.change("plc_t", "register", grant("pmt_t", "kim", false))
			h.drop(t, func(e history.Event) bool {
				return e.Kind == history.Applied && e.BoardID == "brd_t" && e.Revision == 2
			})
			h.boards["brd_t"].rev = 1
			for range 3 {
				h.pass(299_000)
				h.cut("brd_t")
				h.pass(1000)
				h.emit(history.Event{Kind: history.Line, BoardID: "brd_t", Op: "up"})
				h.boards["brd_t"].cutAt = 0
				h.boards["brd_t"].epoch++
				h.emit(history.Event{Kind: history.Online, BoardID: "brd_t", PlaceID: "plc_t", Epoch: h.boards["brd_t"].epoch, Revision: 1, OutageAgeMs: 1000})
			}
		}, []string{"SYNC-1"}, history.Committed, "never reached brd_t, although it was connected for"},
		{"an empty digest", func(t *testing.T, h *builder) {
			h.edit(t, 0, applied("brd_t", 1), func(e *history.Event) { e.Digest = "" })
			h.change("plc_t", "register", grant("pmt_t", "kim", false))
			h.edit(t, 0, applied("brd_t", 2), func(e *history.Event) { e.Digest = "" })
		}, []string{"SYNC-1"}, history.Applied, "content that differs"},
		{"hours that never arrive", func(t *testing.T, h *builder) {
			h.windows("plc_t", `[]`)
			h.drop(t, applied("brd_t", 2))
			h.pass(FreshMs + 1)
			h.emit(history.Event{Kind: history.Label})
		}, []string{"SYNC-1"}, history.Online, "never got to revision 2"},
		{"registration never there", func(t *testing.T, h *builder) {
			h.drop(t, func(e history.Event) bool {
				return e.Kind == history.Applied && e.BoardID == "brd_1" && e.Revision == h.rev["plc_a"]
			})
			h.pass(FreshMs + 1)
			h.emit(history.Event{Kind: history.Label})
		}, []string{"SYNC-1"}, history.Committed, "never reached brd_1"},
		{"revocation-lost by digest", func(t *testing.T, h *builder) {
			for i := range h.events { // from revision 4 on, which revokes, the board has different content
				if e := &h.events[i]; e.Kind == history.Applied && e.BoardID == "brd_1" && e.Revision >= 4 {
					e.Digest += "'"
				}
			}
		}, []string{"SYNC-1", "SYNC-2"}, history.Committed, "never reached brd_1"},
		{"other content, though mended at once", func(t *testing.T, h *builder) {
			h.edit(t, 0, applied("brd_1", 3), func(e *history.Event) { e.Digest = "other" })
			h.after(t, applied("brd_1", 3), func(e *history.Event) { e.Digest = "d3"; e.At += 500 })
		}, []string{"SYNC-1"}, history.Applied, "acknowledged revision 3 with content that differs"},
		{"revocation-lost, just now", func(t *testing.T, h *builder) {
			h.change("plc_a", "revoke", grant("pmt_3", "cho", true))
			last := len(h.events) - 1
			h.events[last].Digest = "other"
		}, []string{"SYNC-2", "OFF-4"}, history.Applied, "digest other"},
		{"revocation-lost in the test place", func(t *testing.T, h *builder) {
			h.change("plc_t", "register", grant("pmt_t", "kim", false))
			h.change("plc_t", "revoke", grant("pmt_t", "kim", true))
			h.events[len(h.events)-1].Digest = "other"
		}, []string{"SYNC-2"}, history.Applied, "has revision 3 (revoke) in it"},
		{"revocation never applied", func(t *testing.T, h *builder) {
			h.change("plc_t", "revoke", grant("pmt_t", "kim", true))
			h.drop(t, func(e history.Event) bool {
				return e.Kind == history.Applied && e.BoardID == "brd_t" && e.Revision == 2
			})
			h.pass(FreshMs)
			h.emit(history.Event{Kind: history.Label})
		}, []string{"SYNC-2"}, history.Committed, "never reached brd_t, although it was connected for"},
	}
}

func recoveryPlants() []planted {
	return []planted{
		{"not there after an outage", func(t *testing.T, h *builder) {
			h.change("plc_t", "register", grant("pmt_t", "kim", false))
			h.cut("brd_t")
			h.change("plc_t", "revoke", grant("pmt_t", "kim", true))
			h.back("brd_t")
			h.events = h.events[:len(h.events)-1]
			h.pass(FreshMs + 1)
			h.emit(history.Event{Kind: history.Label})
		}, []string{"SYNC-2", "OFF-4"}, history.Online, "never got to revision 3"},
		{"revision goes back", func(t *testing.T, h *builder) {
			h.after(t, applied("brd_1", 3), func(e *history.Event) { e.Revision, e.Digest = 2, "d2" })
		}, []string{"SYNC-1"}, history.Applied, "went back from revision 3 to 2"},
		{"revision forgotten over a reboot", func(t *testing.T, h *builder) {
			h.edit(t, 1, on("brd_2", history.Online), func(e *history.Event) { e.Revision = 3 })
		}, []string{"SYNC-1"}, history.Online, "came back with revision 3"},
		{"change acts during the outage", func(t *testing.T, h *builder) {
			h.decide(t, func(e history.Event) bool { return e.Kind == history.Presented && e.PhoneHash == "cho" }, func(e *history.Event) {
				e.Revision, e.Result, e.Reason, e.GrantID = 5, "opened", "onsite", "pmt_3"
			})
			h.edit(t, 0, func(e history.Event) bool {
				return e.Kind == history.RecordIn && e.BoardID == "brd_2" && e.RecordSeq == 3
			}, func(e *history.Event) { e.Result = "opened" })
		}, []string{"SYNC-3"}, history.Actuation, "in an outage"},
		{"decided by a newer revision throughout", func(t *testing.T, h *builder) {
			for i := range h.events {
				if e := &h.events[i]; e.BoardID == "brd_2" && onsite(e) && e.OutageAgeMs > 4000*1000 {
					e.Revision = 5
				}
			}
		}, []string{"SYNC-3"}, history.Actuation, "in an outage"},
	}
}

func at(ageMs int64) func(history.Event) bool {
	return func(e history.Event) bool { return e.Kind == history.Presented && e.OutageAgeMs == ageMs }
}

func rests(e history.Event) bool {
	return e.Kind == history.Actuation && e.Cause == "outage" && e.Action == "hold"
}

// recordNo matches the arrival of record seq of brd_2.
func recordNo(seq int64) func(history.Event) bool {
	return func(e history.Event) bool {
		return e.Kind == history.RecordIn && e.BoardID == "brd_2" && e.RecordSeq == seq
	}
}

func outagePlants() []planted {
	return []planted{
		{"valid permit denied in the outage", func(t *testing.T, h *builder) {
			h.decide(t, at(3600*1000), func(e *history.Event) { e.Result, e.Reason = "denied", "no_valid_grant" })
			h.edit(t, 0, recordNo(2), func(e *history.Event) { e.Result, e.Reason = "denied", "no_valid_grant" })
		}, []string{"OFF-1"}, history.Presented, "the reference opens"},
		{"stranger let in", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e history.Event) bool { return e.Kind == history.Presented && e.PhoneHash == "kim" }, func(e *history.Event) { e.PhoneHash = "eve" })
		}, []string{"ENT-1"}, history.Presented, "the reference denies: no_valid_grant"},
		{"wrong credit", func(t *testing.T, h *builder) {
			h.edit(t, 0, at(3600*1000), func(e *history.Event) { e.GrantID = "pmt_2" })
		}, []string{"OFF-1"}, history.Presented, "credited pmt_2"},
		{"outage-36h-ge", func(t *testing.T, h *builder) {
			deny := func(e *history.Event) { e.Result, e.Reason = "denied", "outage_limit" }
			h.decide(t, at(limitMs), deny)
			h.edit(t, 0, recordNo(5), deny)
		}, []string{"OFF-1", "OFF-2"}, history.Presented, "denied outage_limit at outage age 36h0m0s"},
		{"opened after 36 h", func(t *testing.T, h *builder) {
			open := func(e *history.Event) { e.Result, e.Reason = "opened", "onsite" }
			h.decide(t, at(limitMs+1000), open)
			h.edit(t, 0, recordNo(6), open)
		}, []string{"OFF-2"}, history.Presented, "must be denied with outage_limit"},
		{"relay after 36 h", func(t *testing.T, h *builder) {
			h.after(t, at(limitMs+1000), func(e *history.Event) {
				e.Kind, e.Action, e.Cause, e.RecordSeq = history.Actuation, "pulse", "onsite", 0
			})
		}, []string{"OFF-2"}, history.Actuation, "did pulse on site (onsite) at outage age 36h0m1s"},
		{"opened with a lost clock", func(t *testing.T, h *builder) {
			h.cut("brd_2")
			h.pass(5000)
			h.present("brd_2", "cho", "opened", "onsite", "pmt_3")
			h.events[len(h.events)-1].OutageAgeMs = -1
			h.events[len(h.events)-2].OutageAgeMs = 0
			h.rest("brd_2", "hold")
		}, []string{"OFF-2", "OFF-3"}, history.Actuation, "due at"},
	}
}

func onsitePlants() []planted {
	return []planted{
		{"lets the revoked in, saying denied", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e history.Event) bool { return byItself(&e) && e.Action == "deny" && e.Revision == 4 }, func(e *history.Event) { e.Action = "pulse" })
		}, []string{"ENT-1"}, history.Presented, "but the relay pulsed; the reference denies: revoked"},
		{"opened in the outage, the relay stays", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e history.Event) bool { return byItself(&e) && e.OutageAgeMs == 3600*1000 }, func(e *history.Event) { e.Action = "deny" })
		}, []string{"OFF-1"}, history.Presented, "the relay did deny"},
		{"opened without a line in the journal", func(t *testing.T, h *builder) {
			h.drop(t, func(e history.Event) bool { return byItself(&e) && e.OutageAgeMs == 3600*1000 })
		}, []string{"OFF-1"}, history.Presented, "no line"},
		{"opens for nobody", func(t *testing.T, h *builder) {
			h.after(t, on("brd_1", history.Presented), func(e *history.Event) {
				e.Kind, e.Action, e.Cause, e.RecordSeq = history.Actuation, "pulse", "onsite", 0
			})
		}, []string{"ENT-1"}, history.Actuation, "nobody had presented"},
		{"opens for nobody in an outage", func(t *testing.T, h *builder) {
			h.after(t, at(3600*1000), func(e *history.Event) { e.Kind, e.Action, e.Cause, e.RecordSeq = history.Actuation, "pulse", "free", 0 })
		}, []string{"OFF-1"}, history.Actuation, "nobody had presented"},
		{"free window ignored", func(t *testing.T, h *builder) {
			h.decide(t, on("brd_w", history.Presented), func(e *history.Event) { e.Result, e.Reason = "denied", "no_valid_grant" })
			h.edit(t, 0, on("brd_w", history.RecordIn), func(e *history.Event) { e.Result, e.Reason = "denied", "no_valid_grant" })
		}, []string{"ENT-1", "ENT-2"}, history.Presented, "the reference opens: free_window"},
		{"closed window ignored by the relay", func(t *testing.T, h *builder) {
			h.edit(t, 1, func(e history.Event) bool { return byItself(&e) && e.BoardID == "brd_w" }, func(e *history.Event) { e.Action = "pulse" })
		}, []string{"ENT-1", "ENT-2"}, history.Presented, "the reference denies: closed_window"},
		{"outage age from noticing", func(t *testing.T, h *builder) {
			for i := range h.events {
				if e := &h.events[i]; e.BoardID == "brd_2" && onsite(e) && e.OutageAgeMs > 0 {
					e.OutageAgeMs -= 45_000
				}
			}
		}, []string{"OFF-1", "OFF-2"}, history.Presented, "its line has been down for 1h0m0s"},
		{"opens at 40 h, saying 20", func(t *testing.T, h *builder) {
			h.cut("brd_2")
			h.rest("brd_2", "hold")
			h.pass(40 * 3600 * 1000)
			h.present("brd_2", "cho", "opened", "onsite", "pmt_3")
			for _, e := range []*history.Event{&h.events[len(h.events)-1], &h.events[len(h.events)-2]} {
				e.OutageAgeMs /= 2
			}
		}, []string{"OFF-2", "OFF-3"}, history.Actuation, "due at"},
		{"an outage while connected", func(t *testing.T, h *builder) {
			h.pass(20_000)
			h.present("brd_1", "lee", "denied", "outage_limit", "")
			h.events[len(h.events)-2].OutageAgeMs = limitMs + 1000
		}, []string{"SYNC-3", "OFF-2", "OFF-3"}, history.Presented, "shows nothing at outage age"},
	}
}

func restPlants() []planted {
	return []planted{
		{"held on after recovery", func(t *testing.T, h *builder) {
			h.drop(t, func(e history.Event) bool { return e.Cause == "outage" && e.Action == "lock" && e.Channel == 2 })
		}, []string{"OFF-3"}, history.Applied, "channel 2 is still held"},
		{"37 h without rest or return", func(t *testing.T, h *builder) {
			h.cut("brd_1")
			h.pass(37 * 3600 * 1000)
			h.emit(history.Event{Kind: history.Label})
		}, []string{"OFF-3"}, history.Line, "shows nothing at outage age 37h0m0s"},
		{"drives a hold that nobody holds", func(t *testing.T, h *builder) {
			h.off(false)
			h.edit(t, len(h.events)-2, func(history.Event) bool { return true }, func(e *history.Event) {
				*e = history.Event{Kind: history.Actuation, At: e.At, WallNs: e.WallNs, BoardID: "brd_1", DoorID: doorOf("brd_1", 1), Channel: 1, Boot: 1, Action: "hold", Cause: "outage"}
			})
		}, []string{"OFF-3"}, history.Actuation, "no hold was active"},
		{"forgets a hold over an outage that was off", func(t *testing.T, h *builder) { h.off(true); h.unheld(t) },
			[]string{"OFF-3"}, history.Applied, "isn't driven again"},
		{"rests 30 h late, saying 1 h", func(t *testing.T, h *builder) {
			for i := range h.events {
				if e := &h.events[i]; rests(*e) {
					e.At += 30 * 3600 * 1000
				}
			}
		}, []string{"OFF-3"}, history.Actuation, "its line has been down for 31h0m0s"},
		{"no resting behaviour", func(t *testing.T, h *builder) {
			h.drop(t, func(e history.Event) bool { return rests(e) && e.Channel == 2 })
		}, []string{"OFF-3"}, history.Online, "channel 2 shows nothing"},
		{"no resting behaviour at all", func(t *testing.T, h *builder) {
			h.drop(t, func(e history.Event) bool { return e.Cause == "outage" })
		}, []string{"OFF-3"}, history.Online, "shows nothing"},
		{"twice", func(t *testing.T, h *builder) {
			h.after(t, rests, func(e *history.Event) { e.OutageAgeMs += 100 })
		}, []string{"OFF-3"}, history.Actuation, "again in the same outage"},
		{"early", func(t *testing.T, h *builder) { h.edit(t, 0, rests, func(e *history.Event) { e.OutageAgeMs -= 2 }) },
			[]string{"OFF-3"}, history.Actuation, "due at 1h0m0s"},
		{"late", func(t *testing.T, h *builder) {
			h.edit(t, 1, rests, func(e *history.Event) { e.OutageAgeMs, e.At = e.OutageAgeMs+501, e.At+501 })
		},
			[]string{"OFF-3"}, history.Actuation, "only at outage age"},
		{"another behaviour", func(t *testing.T, h *builder) { h.edit(t, 0, rests, func(e *history.Event) { e.Action = "pulse" }) },
			[]string{"OFF-3"}, history.Actuation, "but hold is stored"},
		{"buffered record lost", func(t *testing.T, h *builder) { h.drop(t, recordNo(3)) },
			[]string{"OFF-4"}, history.Presented, "record 3 of brd_2 never arrived"},
		{"buffered record twice", func(t *testing.T, h *builder) {
			h.after(t, recordNo(3), func(e *history.Event) { e.RecordID = "rec_x" })
		}, []string{"OFF-4"}, history.RecordIn, "arrived 2 times"},
		{"buffered record changed", func(t *testing.T, h *builder) {
			h.edit(t, 0, recordNo(3), func(e *history.Event) { e.Result, e.Reason = "opened", "onsite" })
		}, []string{"OFF-4"}, history.RecordIn, "says opened"},
	}
}

// off takes brd_1 through an outage with channels off, with or without a hold before it.
func (h *builder) off(held bool) {
	const id = "brd_1"
	if held {
		h.command(id, "k-held", "hold", vocab.Reported, true, 0)
	}
	h.emit(history.Event{Kind: history.Netloss, BoardID: id, Text: `{"graceSec":60,"channels":{"1":"off","2":"off"},"version":1}`})
	h.cut(id)
	h.pass(60_000)
	h.rest(id, "off")
	h.emit(history.Event{Kind: history.Line, BoardID: id, Op: "up"})
	at := len(h.events)
	h.online(id)
	if held {
		e := history.Event{Kind: history.Actuation, At: h.at, WallNs: h.events[at].WallNs + 1, BoardID: id, DoorID: doorOf(id, 1), Channel: 1, Boot: 1, Action: "hold", Cause: "outage"}
		h.events = slices.Insert(h.events, at+1, e)
	} else {
		h.events = slices.Insert(h.events, at+1, history.Event{Kind: history.Label, At: h.at, WallNs: h.events[at].WallNs + 1})
	}
}

// unheld removes the hold after the last recovery.
func (h *builder) unheld(t *testing.T) {
	i := len(h.events) - 2
	if h.events[i].Action != "hold" {
		t.Fatalf("planted history: %s isn't a hold", h.events[i])
	}
	h.events = slices.Delete(h.events, i, i+1)
}
