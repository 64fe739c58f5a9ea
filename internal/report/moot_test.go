package report

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestTelling: what came up while a step was playing of which its answer shows nothing is no evidence, unless another step was
// playing as well.
func TestTelling(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	at := func(second int) judge.Occasion {
		ns := began.Add(time.Duration(second) * time.Second).UnixNano()
		return judge.Occasion{From: ns, To: ns + 1000}
	}
	step := func(second int, moot string) *Step {
		s := &Step{Line: second, Started: began.Add(time.Duration(second) * time.Second), Seconds: 0.5}
		if moot != "" {
			s.Moot = map[string]string{moot: "it is refused anyway"}
		}
		return s
	}
	for name, c := range map[string]struct {
		occasions []judge.Occasion
		steps     []*Step
		left      int
		why       string
	}{
		"nothing happened":          {nil, []*Step{step(1, "AUTH-4")}, 0, ""},
		"at such a step":            {[]judge.Occasion{at(1)}, []*Step{step(1, "AUTH-4")}, 0, "line 1"},
		"at another as well":        {[]judge.Occasion{at(1), at(2)}, []*Step{step(1, "AUTH-4"), step(2, "")}, 1, ""},
		"for another guarantee":     {[]judge.Occasion{at(1)}, []*Step{step(1, "AUTH-5")}, 1, ""},
		"beside another step":       {[]judge.Occasion{at(1)}, []*Step{step(1, "AUTH-4"), step(1, "")}, 1, ""},
		"in a group":                {[]judge.Occasion{at(1)}, []*Step{{Started: began, Seconds: 9, Children: []*Step{step(1, "AUTH-4")}}}, 0, "line 1"},
		"between steps, from afar":  {[]judge.Occasion{at(5)}, []*Step{step(1, "AUTH-4")}, 1, ""},
		"at several of such steps":  {[]judge.Occasion{at(1), at(2)}, []*Step{step(1, "AUTH-4"), step(2, "AUTH-4")}, 0, "line 2"},
		"a look that lasts forever": {[]judge.Occasion{{From: at(1).From, To: 1<<63 - 1}}, []*Step{step(1, "AUTH-4")}, 1, ""},
	} {
		left, why := telling("AUTH-4", c.occasions, c.steps)
		if len(left) != c.left || (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: got %d occasions and %q, want %d and %q", name, len(left), why, c.left, c.why)
		}
	}
}

// TestMute: a claim is empty if each step that makes it shows nothing of the clause.
func TestMute(t *testing.T) {
	t.Parallel()
	moot, other := &Step{Line: 1, Moot: map[string]string{"PERM-6": "it is refused anyway"}}, &Step{Line: 2}
	for name, c := range map[string]struct {
		steps []*Step
		want  bool
	}{
		"nobody claims it":  {nil, false},
		"one such step":     {[]*Step{moot}, true},
		"another as well":   {[]*Step{moot, other}, false},
		"a group of such":   {[]*Step{{Children: []*Step{moot}}}, true},
		"a group with more": {[]*Step{{Children: []*Step{moot, other}}}, false},
	} {
		claims := &claimed{at: map[string][]*Step{"PERM-6": c.steps}}
		if got := claims.mute("PERM-6"); (got != "") != c.want {
			t.Errorf("%s: got %q, want a reason: %t", name, got, c.want)
		}
	}
}
