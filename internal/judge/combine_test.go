package judge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCombine(t *testing.T) {
	t.Parallel()
	one := []Verdict{
		{Clause: "CMD-4", Status: Pass, Number: "1,200 unknown (3 acted, 7 not), latest start 0.54 s of 12", Checked: 1200},
		{Clause: "CMD-6", Status: Pass, Number: "2 in progress at a crash (server 2, board 0, line 0)", Checked: 2, Missing: []string{"board", "line"}},
		{Clause: "OFF-1", Status: Skipped, Number: "not exercised"},
		{Clause: "CMD-1", Status: Pass, Number: "4 reported", Checked: 4},
	}
	two := []Verdict{
		{Clause: "CMD-4", Status: Pass, Number: "5 unknown (1 acted, 4 not), latest start 36.000 h of 5", Checked: 5},
		{Clause: "CMD-6", Status: Pass, Number: "1 in progress at a crash (server 0, board 0, line 1)", Checked: 1, Missing: []string{"server", "board"}},
		{Clause: "OFF-1", Status: Pass, Number: "2 decisions, oldest 35h59m59.5s", Checked: 2},
		{Clause: "CMD-1", Status: Fail, Number: "1 of 3 broke it: moved twice", Checked: 3, Bad: 1, FirstBad: &Bad{Why: "moved twice"}},
	}
	three := []Verdict{{Clause: "OFF-1", Status: Pass, Number: "9 decisions, oldest 36h0m0s", Checked: 9}, {Clause: "CMD-4", Status: Pass, Number: "none", Checked: 1}}
	got := map[string]Verdict{}
	for _, v := range Combine(one, two, three) {
		got[v.Clause] = v
	}
	want := map[string]Verdict{
		"CMD-4": {Clause: "CMD-4", Status: Pass, Number: "1,205 unknown (4 acted, 11 not), latest start 36.000 h of 17; none", Checked: 1206},
		"CMD-6": {Clause: "CMD-6", Status: Pass, Number: "3 in progress at a crash (server 2, board 0, line 1)", Checked: 3, Missing: []string{"board"}},
		"OFF-1": {Clause: "OFF-1", Status: Pass, Number: "11 decisions, oldest 36h0m0s", Checked: 11},
		"CMD-1": {Clause: "CMD-1", Status: Fail, Number: "1 of 7 broke it: moved twice", Checked: 7, Bad: 1, FirstBad: &Bad{Why: "moved twice"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("combined (-want +got):\n%s", d)
	}
}

// TestMaximaStay: when worlds are combined, a maximum is the largest of all worlds, not a sum.
func TestMaximaStay(t *testing.T) {
	t.Parallel()
	got := addUp([]string{"12 exchanges, at most 30 of an address in 60 s", "9 exchanges, at most 9 of an address in 60 s"})
	if want := "21 exchanges, at most 30 of an address in 60 s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
