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

// joined is a history as a run sees it that begins after its first k events: what
// others asked for before is known to the server only.
func joined(events []history.Event, k int) []history.Event {
	var found history.Standing
	others := map[string]bool{}
	for _, e := range events[:k] {
		found.See(e)
		others[e.Key] = true
	}
	delete(others, "")
	var since []history.Event
	issued := map[any]bool{"": true} // tokens of the run's own
	for _, e := range events[k:] {
		asked := e.Kind == history.Attempt || e.Kind == history.Answer
		var c history.CallText
		if e.Kind == history.Call && json.Unmarshal([]byte(e.Text), &c) == nil && e.Route == exchangeRoute {
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

// TestARunBeginsAnywhere: whatever honest parts had done before, and whatever was
// in progress, a run that begins then has no breach.
func TestARunBeginsAnywhere(t *testing.T) {
	t.Parallel()
	for k := range len(clean().events) {
		for _, v := range failures(joined(clean().events, k)) {
			t.Errorf("begun after %d events: %s\n%s", k, v, v.FirstBad)
		}
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		events := random(t).events
		k := rapid.IntRange(0, len(events)-1).Draw(t, "begun after")
		for _, v := range failures(joined(events, k)) {
			t.Fatalf("%s\n%s", v, v.FirstBad)
		}
	})
}

// TestBreachesBeforeARun: a breach from before a run isn't the run's, one inside
// is found, be it of a command of its own or of somebody else's.
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
			t.Errorf("%s: the run's own commands were counted as others': %s", name, f)
		}
		if c.want != Fail {
			continue
		}
		var others []history.Event // the same, asked for by somebody else
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
