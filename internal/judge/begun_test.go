package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// joined is the history of a run that begins after the first k events: what others requested before that is known
// from the server only.
func joined(events []history.Event, k int) []history.Event {
	var found history.Standing
	others := map[string]bool{}
	for _, e := range events[:k] {
		found.See(e)
		others[e.Key] = true
	}
	delete(others, "")
	var since []history.Event
	issued := map[any]bool{"": true} // the run's own tokens
	for _, e := range events[k:] {
		asked := e.Kind == history.Attempt || e.Kind == history.Answer
		var c history.CallText
		if e.Kind == history.Call && json.Unmarshal([]byte(e.Text), &c) == nil && e.Route == ExchangeRoute {
			issued[c.Out["accessToken"]] = true
		}
		if (!asked || !others[e.Key]) && issued[c.Token] {
			since = append(since, e)
		}
	}
	begun := history.Event{At: events[0].At, WallNs: events[0].WallNs}
	if k > 0 {
		begun = history.Event{At: events[k-1].At, WallNs: events[k-1].WallNs}
	}
	return history.Since(begun, [][]history.Event{found.Events()}, [][]history.Event{since})
}

func failures(events []history.Event) (out []Verdict) {
	for _, v := range Judge(NewView(slices.Clone(events))) {
		if v.Status == Fail {
			out = append(out, v)
		}
	}
	return out
}

// TestARunBeginsAnywhere: if all parts are honest, a run finds no breach, whatever happened or was in progress before
// it began.
func TestARunBeginsAnywhere(t *testing.T) {
	t.Parallel()
	for k := range len(clean().events) {
		for _, v := range failures(joined(clean().events, k)) {
			t.Errorf("begun after %d events: %s, want no breach\n%s", k, v, v.FirstBad)
		}
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		events := random(t).events
		k := rapid.IntRange(0, len(events)-1).Draw(t, "begun after")
		for _, v := range failures(joined(events, k)) {
			t.Fatalf("begun after %d events, want no failure, got %s\n%s", k, v, v.FirstBad)
		}
	})
}

// TestBreachesBeforeARun: a breach from before a run isn't charged to the run. A breach during it is found, whether
// the run or somebody else sent the commands.
func TestBreachesBeforeARun(t *testing.T) {
	t.Parallel()
	twice := func(h *builder, key string) {
		h.command("brd_1", key, "open", vocab.Reported, true, 0)
		act := h.events[slices.IndexFunc(h.events, is(history.Actuation, commandOf(t, h, key)))]
		act.JournalSeq++
		h.emit(act)
	}
	for name, c := range map[string]struct {
		before, during string
		want           Status
	}{"before": {"k-twice", "k-once", Pass}, "inside": {"k-once", "k-twice", Fail}} {
		h := clean()
		at := 0
		for i, key := range []string{c.before, c.during} {
			if i == 1 {
				at = len(h.events)
			}
			if key == "k-twice" {
				twice(h, key)
			} else {
				h.command("brd_1", key, "open", vocab.Reported, true, 0)
			}
		}
		events := joined(h.events, at)
		for _, v := range Judge(NewView(events)) {
			if v.Clause == "CMD-5" && v.Status != c.want {
				t.Errorf("%s: got %s, want %s", name, v, c.want)
			}
		}
		if f := NewView(events).Foreign(); f.Commands != 0 {
			t.Errorf("%s: the run's own commands were counted as others': got %s, want Commands 0", name, f)
		}
		if c.want != Fail {
			continue
		}
		var others []history.Event // the same, requested by others
		for _, e := range events {
			if e.Kind != history.Attempt && e.Kind != history.Answer {
				others = append(others, e)
			}
		}
		bad := failures(others)
		if len(bad) == 0 || !strings.Contains(bad[0].Number, "given by somebody else") {
			t.Errorf("somebody else's command that acted twice: got %v, want a breach that says whose it was", bad)
		}
		if f := NewView(others).Foreign(); f.Commands != 1 || !strings.Contains(f.String(), "1 command (first cmd_") {
			t.Errorf("got %+v, want one command of others, named", f)
		}
	}
}

// TestQuietBeginning: a run that continues a quiet world excuses nothing with what may have happened before, doesn't
// judge again what it was told of that time, and checks its own commands and calls against it.
func TestQuietBeginning(t *testing.T) {
	t.Parallel()
	h := clean()
	h.command("brd_1", "k-again", "open", vocab.Reported, true, 0)
	key := history.KeyHash(h.boards["brd_1"].place, "k-again")
	var found history.Standing
	var told []history.Event // what is kept about the key
	for _, e := range h.events {
		found.See(e)
		if e.Key == key {
			told = append(told, e)
		}
	}
	last := h.events[len(h.events)-1]
	joined := func(told []history.Event, more func(h *builder)) []history.Event {
		h := &builder{at: h.at, wall: h.wall, n: h.n, rev: h.rev, digest: h.digest, boards: h.boards}
		more(h)
		return history.Since(history.Event{Op: history.Quiet, At: last.At, WallNs: last.WallNs}, [][]history.Event{found.Events(), told}, [][]history.Event{h.events})
	}
	of := func(events []history.Event, clause string) Verdict {
		for _, v := range Judge(NewView(events)) {
			if v.Clause == clause {
				return v
			}
		}
		return Verdict{}
	}
	again := func(h *builder) { h.command("brd_1", "k-again", "open", vocab.Reported, true, 0) }
	orphan := func(h *builder) {
		h.emit(history.Event{Kind: history.Actuation, BoardID: "brd_1", DoorID: doorOf("brd_1", 1), Channel: 1, Boot: 1, Action: "pulse", Cause: "command", CommandID: "cmd_late"})
		h.command("brd_1", "k-new", "open", vocab.Reported, true, 0)
	}
	for name, c := range map[string]struct {
		told    []history.Event
		more    func(h *builder)
		status  Status
		checked int
	}{
		"nothing happens":                     {told, func(*builder) {}, Skipped, 0},
		"another key":                         {told, func(h *builder) { h.command("brd_1", "k-new", "open", vocab.Reported, true, 1) }, Pass, 1},
		"the same key opens again":            {told, again, Fail, 1},
		"the same key, and nobody remembered": {nil, again, Pass, 1},
		"moved right at the beginning":        {nil, orphan, Fail, 1},
	} {
		if v := of(joined(c.told, c.more), "CMD-5"); v.Status != c.status || v.Checked != c.checked {
			t.Errorf("%s: got %s, %d checked, want %s, %d", name, v, v.Checked, c.status, c.checked)
		}
	}
}
