package judge

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// excuses are things that a checker must not count as a breach.
func excuses() map[string]func(t *testing.T, h *builder) {
	return map[string]func(t *testing.T, h *builder){
		"a full buffer": func(t *testing.T, h *builder) {
			h.drop(t, func(e history.Event) bool {
				return e.Kind == history.RecordIn && e.BoardID == "brd_2" && e.RecordSeq == 3
			})
			h.emit(history.Event{Kind: history.Dropped, BoardID: "brd_2", RecordSeq: 3})
		},
		"a record that a lossy line kept in a flash until that was wiped": keptByALossyLine,
		"a board that is told what it has":                                toldBoard,
		"a wiped flash": func(t *testing.T, h *builder) {
			h.cut("brd_2")
			h.present("brd_2", "cho", "opened", "onsite", "pmt_3")
			h.boards["brd_2"].buffered, h.boards["brd_2"].rev = nil, 0
			h.emit(history.Event{Kind: history.Wiped, BoardID: "brd_2"})
			h.back("brd_2")
		},
		"an acknowledgement that was on its way when the flash was wiped": ackedBeforeWipe,
		"an end just after a change": func(t *testing.T, h *builder) {
			h.change("plc_a", "revoke", grant("pmt_3", "cho", true))
			h.events = h.events[:len(h.events)-2]
		},
		"a hold that an outage kept off":           func(t *testing.T, h *builder) { h.off(true) },
		"an outage that kept off what nobody held": func(t *testing.T, h *builder) { h.off(false) },
		"37 h of a board that was taken away": func(t *testing.T, h *builder) {
			h.emit(history.Event{Kind: history.Detached, BoardID: "brd_1"})
			h.emit(history.Event{Kind: history.Offline, BoardID: "brd_1", Epoch: 1})
			h.pass(37 * 3600 * 1000)
			h.emit(history.Event{Kind: history.Label})
		},
		"a record whose intent died untold": func(t *testing.T, h *builder) {
			h.emit(history.Event{Kind: history.Attempt, PlaceID: "plc_a", DoorID: doorOf("brd_1", 1), Key: "aa", Request: "r-x"})
			h.restart()
			h.emit(history.Event{Kind: history.RecordIn, RecordID: "rec_x", PlaceID: "plc_a", DoorID: doorOf("brd_1", 1), CommandID: "cmd_x", Result: "noResponse"})
		},
		"a hold that ends in time": func(t *testing.T, h *builder) { h.hold("brd_1", 300_000) },
		"the same record told again": func(t *testing.T, h *builder) {
			h.after(t, func(e history.Event) bool { return e.Kind == history.RecordIn }, same)
		},
		"a key after 30 days": func(t *testing.T, h *builder) {
			h.at = t0 + 29*24*3600*1000
			h.command("brd_1", "k-old", "open", vocab.Reported, true, 1)
			h.pass(keptMs)
			h.command("brd_1", "k-old", "hold", vocab.Reported, true, 1)
		},
		"a report after the wait, and a 504 held up on a busy machine":                     heldUp(8100),
		"a report shortly before the wait is over, and a 504 that comes four seconds late": heldUp(7500),
		"a 504 that the test place was asked for, with the door open":                      askedForSilence,
		"a death between intent and record, and no board is back yet": func(t *testing.T, h *builder) {
			id := commandOf(t, h, "k-lost")
			h.drop(t, is(history.RecordIn, id))
			i := find(t, h.events, 0, is(history.Answer, id))
			h.events = h.events[:i+1]
			h.after(t, is(history.Publish, id), func(e *history.Event) { *e = history.Event{Kind: history.Started, At: e.At, WallNs: e.WallNs} })
		},
		"a half-open line that the server believes in": func(t *testing.T, h *builder) {
			h.emit(history.Event{Kind: history.Line, BoardID: "brd_t", Op: "down", Text: "halfopen"})
			h.boards["brd_t"].cutAt = h.at
			h.change("plc_t", "revoke", grant("pmt_t", "kim", true))
			h.pass(FreshMs * 2)
			h.emit(history.Event{Kind: history.Label})
		},
		"a real board's digest, repaired in time": mendedByARealBoard,
		"denials until the acknowledgement": func(t *testing.T, h *builder) {
			i := find(t, h.events, 1, on("brd_2", history.Online))
			e := h.events[find(t, h.events, 0, at(limitMs+1000))]
			e.OutageAgeMs, e.RecordSeq, e.WallNs = 0, 0, h.events[i].WallNs+1
			h.events = append(h.events[:i+1], append([]history.Event{e}, h.events[i+1:]...)...)
		},
	}
}

// keptByALossyLine: a record that was long due can't get through a line that loses packets, and is wiped.
func keptByALossyLine(_ *testing.T, h *builder) {
	h.emit(history.Event{Kind: history.Line, BoardID: "brd_2", Op: "lossy", Text: "packets"})
	h.present("brd_2", "cho", "opened", "onsite", "pmt_3")
	h.events = h.events[:len(h.events)-1] // its record
	h.pass(2 * FreshMs)
	h.emit(history.Event{Kind: history.Label})
	h.cut("brd_2")
	h.emit(history.Event{Kind: history.Wiped, BoardID: "brd_2"})
	h.boards["brd_2"].rev = 0
	h.back("brd_2")
}

// ackedBeforeWipe: a board acknowledges what it has, and before the server hears of it the board loses its flash.
func ackedBeforeWipe(t *testing.T, h *builder) {
	last := h.events[find(t, h.events, 0, on("brd_2", history.Applied))]
	last.Revision, last.Digest, last.At = h.boards["brd_2"].rev, h.digest["plc_a"], 0
	h.emit(history.Event{Kind: history.Wiped, BoardID: "brd_2"})
	h.boards["brd_2"].rev = 0
	h.emit(last)
	h.emit(history.Event{Kind: history.Offline, BoardID: "brd_2", Epoch: h.boards["brd_2"].epoch})
	h.back("brd_2")
}

// toldBoard: a board to which somebody speaks in its server's place is behind.
func toldBoard(_ *testing.T, h *builder) {
	const id = "brd_1"
	h.emit(history.Event{Kind: history.Detached, BoardID: id})
	h.emit(history.Event{Kind: history.Hand, BoardID: id, Op: "tell"})
	h.emit(history.Event{Kind: history.Offline, BoardID: id, Epoch: h.boards[id].epoch})
	h.emit(history.Event{Kind: history.Online, BoardID: id, PlaceID: "plc_a", Epoch: h.boards[id].epoch + 1})
	h.pass(2 * FreshMs)
	h.emit(history.Event{Kind: history.Label})
}

// heldUp is a report that arrives so many ms after the command was sent, and a 504 that arrives four seconds late.
func heldUp(ms int64) func(t *testing.T, h *builder) {
	return func(t *testing.T, h *builder) {
		t.Helper()
		id := commandOf(t, h, "k-silent")
		h.after(t, is(history.Publish, id), func(e *history.Event) { e.Kind, e.Result, e.WallNs = history.Received, "ok", e.WallNs+ms*1e6 })
		h.edit(t, 0, is(history.Answer, id), func(e *history.Event) { e.WallNs += 12000e6 })
	}
}

// askedForSilence: the door opens, and its report is held back until after the answer.
func askedForSilence(t *testing.T, h *builder) {
	id, key := commandOf(t, h, "k-silent"), history.KeyHash("plc_a", "k-silent")
	h.after(t, is(history.Publish, id), func(e *history.Event) { e.Kind, e.Result = history.Received, "ok" })
	h.edit(t, 0, is(history.Answer, id), func(e *history.Event) { e.WallNs += 8000e6 })
	for i := range h.events {
		if e := &h.events[i]; e.Key == key && e.Meaning != "" {
			e.Meaning = strings.TrimSuffix(e.Meaning, `""`) + `"sim:noResponse:opened"`
		}
	}
}

// mendedByARealBoard: a board that was real for a while corrects its digest; what happened to its flash isn't known.
func mendedByARealBoard(t *testing.T, h *builder) {
	h.guest()
	h.change("plc_a", "register", grant("pmt_6", "noh", false))
	last := applied("brd_1", h.boards["brd_1"].rev)
	right := h.events[find(t, h.events, 0, last)].Digest
	h.edit(t, 0, last, func(e *history.Event) { e.Digest = "other" })
	h.after(t, last, func(e *history.Event) { e.Digest = right; e.At += 500 })
}

// TestExcused: no excuse is a violation.
func TestExcused(t *testing.T) {
	t.Parallel()
	for name, plant := range excuses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := clean()
			plant(t, h)
			for _, v := range Judge(NewView(h.events)) {
				if v.Status == Fail {
					t.Errorf("want no FAIL, got %s\n%s", v, v.FirstBad)
				}
			}
		})
	}
}

// A breach of a command that was in progress during a crash also counts for CMD-6; other breaches don't.
func TestDeathsAreCounted(t *testing.T) {
	t.Parallel()
	h := clean()
	h.after(t, is(history.Publish, commandOf(t, h, "k-lost")), func(e *history.Event) {
		*e = history.Event{Kind: history.Line, Op: "down", BoardID: "brd_1", At: e.At, WallNs: e.WallNs, Text: "offline"}
	})
	v := cmd6(NewView(h.events))
	if v.Status != Pass || v.Checked != 1 || !strings.Contains(v.Number, "line 1") {
		t.Errorf("%s; want PASS with 1 checked and \"line 1\" in the number", v)
	}
}
