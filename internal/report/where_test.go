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
		got := claims.elsewhere("OFF-1", []judge.Occasion{c.occasion}, 0)
		if (got == "") != c.want || got != "" && !strings.HasPrefix(got, "line 7 claims OFF-1, but what it is about happened elsewhere") {
			t.Errorf("%s: got %q, want it accepted: %t", name, got, c.want)
		}
	}
}

// TestElsewhereUnknown: without occasions, nothing is held against a step.
func TestElsewhereUnknown(t *testing.T) {
	t.Parallel()
	claims := claimed{at: map[string][]*Step{"OFF-1": {{Status: judge.Pass, Where: &Where{Decides: true}}}}}
	if got := claims.elsewhere("OFF-1", nil, 0); got != "" {
		t.Errorf("without occasions: got %q, want nothing", got)
	}
}

// TestElsewhereInGroup: a group shows what one of its steps does that asserts something.
func TestElsewhereInGroup(t *testing.T) {
	t.Parallel()
	began := time.Unix(1000, 0)
	ns := began.UnixNano() + 1e8
	step := func(asserts bool, w *Where) *Step {
		return &Step{Status: judge.Pass, Asserts: asserts, Started: began, Seconds: 0.5, Where: w}
	}
	here, there := &Where{Doors: []string{"dor_1"}, Decides: true}, &Where{Doors: []string{"dor_2"}}
	for name, c := range map[string]struct {
		inside []*Step
		want   bool
	}{
		"one at the door":             {[]*Step{step(true, there), step(true, here)}, true},
		"none at the door":            {[]*Step{step(true, there)}, false},
		"a jump of the clock besides": {[]*Step{step(false, nil), step(true, there)}, false},
		"one of another kind":         {[]*Step{step(true, nil), step(true, there)}, true},
		"none that asserts anything":  {[]*Step{step(false, nil)}, true},
	} {
		group := step(true, nil)
		group.Children = c.inside
		claims := claimed{at: map[string][]*Step{"CMD-3": {group}}}
		if got := claims.elsewhere("CMD-3", []judge.Occasion{{From: ns, To: ns, Door: "dor_1", Board: "brd_1"}}, 0); (got == "") != c.want {
			t.Errorf("%s: got %q, want it accepted: %t", name, got, c.want)
		}
	}
}

// TestOnlyInSetUp: what an answer shows and nothing afterwards has to come up outside the set-up.
func TestOnlyInSetUp(t *testing.T) {
	t.Parallel()
	began := time.Unix(1000, 0)
	at := func(second float64) int64 { return began.UnixNano() + int64(second*1e9) }
	step := func(w *Where) *Step {
		return &Step{Line: 7, Status: judge.Pass, Asserts: true, Started: began.Add(2 * time.Second), Seconds: 0.5, Where: w}
	}
	for name, c := range map[string]struct {
		clause string
		came   float64
		step   *Step
		want   bool
	}{
		"in the set-up, then a request":         {"AUTH-5", 0.2, step(nil), false},
		"in the set-up, then nothing":           {"AUTH-5", 0.2, nil, false},
		"in the set-up, then a look":            {"AUTH-5", 0.2, step(&Where{Places: []string{"plc_1"}}), true},
		"in the set-up, and claimed there":      {"AUTH-5", 0.2, &Step{Line: 3, Status: judge.Pass, Asserts: true, Started: began, Seconds: 0.5, Where: &Where{Decides: true}}, false},
		"after the set-up":                      {"AUTH-5", 2.2, step(nil), true},
		"after the set-up, claimed by the file": {"AUTH-5", 2.2, nil, true},
		"in the test place, in the set-up":      {"CMD-8", 0.2, step(nil), false},
		"in the test place, then its records":   {"CMD-8", 0.2, step(&Where{Places: []string{"plc_1"}}), true},
		"a use, which can be read later":        {"PERM-1", 0.2, step(nil), true},
	} {
		claims := claimed{at: map[string][]*Step{}}
		if c.step != nil {
			claims.at[c.clause] = []*Step{c.step}
		}
		got := claims.elsewhere(c.clause, []judge.Occasion{{From: at(c.came), To: at(c.came)}}, at(1))
		if (got == "") != c.want || !c.want && !strings.Contains(got, "happened only in the set-up") {
			t.Errorf("%s: got %q, want it accepted: %t", name, got, c.want)
		}
	}
}
