package judge

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

func TestCleanHistoryPasses(t *testing.T) {
	t.Parallel()
	for _, v := range Judge(NewView(clean().events)) {
		want := Pass
		if v.Clause == "CMD-6" {
			want = Skipped
		}
		if v.Status != want || v.Promise == "" {
			t.Errorf("%s; want %s and a promise", v, want)
			if v.FirstBad != nil {
				t.Log(v.FirstBad.String())
			}
		}
	}
}

func TestNothingIsSkipped(t *testing.T) {
	t.Parallel()
	for _, v := range Judge(NewView(nil)) {
		if v.Status != Skipped {
			t.Errorf("%s; want SKIPPED without events", v)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	h := clean()
	var b bytes.Buffer
	must.OK(t, WriteLedger(&b, Ledger(Judge(NewView(h.events)), nil, Basis{})))
	t.Log("\n" + b.String())
	for _, want := range []string{
		"slowest of 19 updates: 1.00 s (limit 300 s) ", "decisions one second before 36 h: 1, at 36 h: 1, one second after: 1", "2 with unknown outcome (1 acted, 1 didn't)", "not exercised",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("ledger lacks %q", want)
		}
	}
}

// Every history of honest parts passes.
func TestRandomCleanHistoriesPass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := random(t)
		for _, v := range Judge(NewView(h.events)) {
			if v.Status != Pass && v.Status != Skipped {
				t.Fatalf("want PASS or SKIPPED, got %s\n%s", v, v.FirstBad)
			}
		}
	})
}

func random(t *rapid.T) *builder {
	h := newBuilder()
	h.base("plc_a")
	h.base("plc_b")
	h.addBoard("plc_a", "brd_1")
	h.addBoard("plc_a", "brd_2")
	h.addBoard("plc_b", "brd_3")
	revoked := map[string]bool{} // what the server has on record, by person
	known := map[string]map[string]string{}
	sync := func(id string) {
		known[id] = map[string]string{}
		for p, r := range revoked {
			known[id][p] = map[bool]string{true: "revoked", false: "valid"}[r]
		}
	}
	all := []string{doorOf("brd_1", 1), doorOf("brd_2", 1)}
	for _, id := range h.boardIDs() {
		h.online(id)
		sync(id)
	}
	h.auto = true
	people := []string{"kim", "lee", "cho"}
	for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
		id := rapid.SampledFrom(h.boardIDs()).Draw(t, "board")
		b := h.boards[id]
		switch rapid.IntRange(0, 6).Draw(t, "what") {
		case 0:
			if b.cutAt == 0 {
				h.cut(id)
				h.pass(1)
			}
		case 1:
			if b.cutAt != 0 {
				h.back(id)
				sync(id)
			}
		case 2:
			h.pass(rapid.SampledFrom([]int64{1, 999, 60_000, 301_000, limitMs - 1000, limitMs / 2}).Draw(t, "ms"))
		case 3:
			who := rapid.SampledFrom(people).Draw(t, "who")
			r := rapid.Bool().Draw(t, "revoke")
			revoked[who] = r
			h.pass(2) // commits must not share a moment with a cut
			h.change("plc_a", map[bool]string{true: "revoke", false: "register"}[r], grant("pmt_"+who, who, r, all...))
			for _, o := range []string{"brd_1", "brd_2"} {
				if h.boards[o].cutAt == 0 {
					sync(o)
				}
			}
		case 4:
			who := rapid.SampledFrom(people).Draw(t, "who")
			h.presentRightly(id, who, known[id][who])
		default:
			op := rapid.SampledFrom([]string{"open", "hold", "close"}).Draw(t, "op")
			key := "k" + string(rune('a'+i%26)) + string(rune('a'+i/26))
			outcome := rapid.SampledFrom([]vocab.Outcome{vocab.Reported, vocab.Refused, vocab.NoResponse}).Draw(t, "outcome")
			acted := outcome == vocab.Reported || outcome == vocab.NoResponse && rapid.Bool().Draw(t, "acted")
			if b.cutAt != 0 {
				outcome, acted = vocab.Offline, false
			}
			h.command(id, key, op, outcome, acted, rapid.IntRange(0, 2).Draw(t, "repeats"))
			if rapid.Bool().Draw(t, "reuse") {
				h.reuse(id, key, op+" other")
			}
		}
	}
	return h
}

// presentRightly is a correctly decided presentation at a board that knows the person's permit as valid, revoked, or
// (if state is "") not at all.
func (h *builder) presentRightly(id, who, state string) {
	switch b := h.boards[id]; {
	case b.cutAt != 0 && h.at-b.cutAt > limitMs:
		h.present(id, who, vocab.Denied, vocab.OutageLimit, "")
	case b.place != "plc_a" || state == "":
		h.present(id, who, vocab.Denied, vocab.NoValidGrant, "")
	case h.at >= t0+90*24*3600*1000 && state == "valid":
		h.present(id, who, vocab.Denied, vocab.Expired, "")
	case state == "revoked":
		h.present(id, who, vocab.Denied, vocab.Revoked, "")
	default:
		h.present(id, who, vocab.Opened, vocab.Reason(vocab.Onsite), "pmt_"+who)
	}
}
