package report

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestElsewhere: a clause has to be claimed by a step that can have seen what it is about: at its door or board, at its time.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	began := time.Unix(1000, 0)
	at := func(second float64, door, board string) judge.Occasion {
		ns := began.UnixNano() + int64(second*1e9)
		return judge.Occasion{From: ns, To: ns, Place: "plc_1", Door: door, Board: board}
	}
	decides := func(doors ...string) *Where { return &Where{Doors: doors, Decides: true} }
	for name, c := range map[string]struct {
		where    []*Where // of each step; the n-th begins at second n and takes half a second
		occasion judge.Occasion
		want     bool
	}{
		"in the step":                          {[]*Where{decides("dor_1")}, at(0.2, "dor_1", "brd_1"), true},
		"in another step":                      {[]*Where{decides("dor_1")}, at(0.7, "dor_1", "brd_1"), false},
		"at another door":                      {[]*Where{decides("dor_2")}, at(0.2, "dor_1", "brd_1"), false},
		"at a door that nobody knows":          {[]*Where{decides("dor_2")}, at(0.2, "", ""), true},
		"in the second of two steps":           {[]*Where{decides("dor_2"), decides("dor_1")}, at(1.2, "dor_1", "brd_1"), true},
		"beside a step of another kind":        {[]*Where{decides("dor_2"), nil}, at(0.7, "dor_1", "brd_1"), true},
		"looked at afterwards":                 {[]*Where{decides("dor_2"), {Boards: []string{"brd_1"}}}, at(0.7, "dor_1", "brd_1"), true},
		"looked at before":                     {[]*Where{{Boards: []string{"brd_1"}}}, at(0.7, "dor_1", "brd_1"), false},
		"another board looked at":              {[]*Where{{Boards: []string{"brd_2"}}}, at(0, "dor_1", "brd_1"), false},
		"another door's journal":               {[]*Where{{Doors: []string{"dor_2"}}}, at(0, "dor_1", "brd_1"), false},
		"the records of the place":             {[]*Where{{Places: []string{"plc_1"}}}, at(0, "dor_1", "brd_1"), true},
		"the records of another place":         {[]*Where{{Places: []string{"plc_2"}}}, at(0, "dor_1", "brd_1"), false},
		"a board, where only a place is known": {[]*Where{{Boards: []string{"brd_2"}}}, judge.Occasion{From: began.UnixNano(), To: began.UnixNano(), Place: "plc_1"}, true},
	} {
		claims := claimed{at: map[string][]*Step{}, clauses: map[string]bool{}, shown: map[string]bool{}}
		for i, w := range c.where {
			claims.add(&Step{Line: 7 + i, Status: judge.Pass, Started: began.Add(time.Duration(i) * time.Second), Seconds: 0.5, Where: w}, []string{"OFF-1"}, true)
		}
		got := claims.elsewhere("OFF-1", []judge.Occasion{c.occasion})
		if (got == "") != c.want || got != "" && !strings.HasPrefix(got, "line 7 claims OFF-1, but what it is about happened elsewhere") {
			t.Errorf("%s: got %q, want it accepted: %t", name, got, c.want)
		}
	}
}

// TestElsewhereUnknown: without occasions, nothing is held against a step.
func TestElsewhereUnknown(t *testing.T) {
	t.Parallel()
	claims := claimed{at: map[string][]*Step{"OFF-1": {{Status: judge.Pass, Where: &Where{Decides: true}}}}}
	if got := claims.elsewhere("OFF-1", nil); got != "" {
		t.Errorf("without occasions: got %q, want nothing", got)
	}
}
