package report

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/plot"
)

// TestItemLine: an item of a list that a step counted is read as a sentence, and nothing of it is lost.
func TestItemLine(t *testing.T) {
	t.Parallel()
	for item, want := range map[string]string{
		`{"action":"pulse","at":"2026-11-29T07:05:37.01Z","cause":"onsite","door":"store","revision":1000002,"commandId":null}`: "07:05:37.010 pulse by onsite, door store, revision 1000002",
		`{"result":"denied","at":"later","online":false}`:                                                                       "at later, online false, result denied",
		`{"ids":[1]}`:  "{\n  \"ids\": [\n    1\n  ]\n}",
		`"text"`:       `"text"`,
		`{}`:           "{}",
		`7`:            "7",
		`{"cut… (cut)`: `{"cut… (cut)`,
	} {
		if got := itemLine(item); got != want {
			t.Errorf("%s: got %q, want %q", item, got, want)
		}
	}
}

// TestFewValues: a run of few requests has no picture of them, and keeps those that aren't about numbers.
func TestFewValues(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{5: 1, 20: 2} {
		c := &course{from: time.Unix(0, 0), to: time.Unix(10, 0)}
		var calls bin
		for i := range n {
			calls.add(c, float64(i%10))
		}
		load, boards := c.chart("load", "Requests", rate), c.chart("boards", "Boards", "connected")
		load.Lines = []plot.Line{calls.line(c, "all", 1, true)}
		if got := (drawn{seconds: c.seconds(), tracks: []plot.Chart{load, boards}}).telling(); len(got) != want {
			t.Errorf("%d requests: got %d pictures, want %d", n, len(got), want)
		}
	}
}
