package report

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// TestNumbersAddUp: the numbers of several shards read as if one run had played everything, although a checker words them
// differently from world to world.
func TestNumbersAddUp(t *testing.T) {
	t.Parallel()
	world := func(number string) []judge.Verdict {
		return []judge.Verdict{{Clause: "ENT-1", Status: judge.Pass, Number: number, Checked: 1}}
	}
	shard := func(others judge.Foreign, worlds ...[]judge.Verdict) Result {
		res := Result{byWorld: worlds, played: true, told: true, Unordered: 2, Foreign: others}
		s := settling{res: &res, names: make([]string, len(worlds)), shared: make([]bool, len(worlds))}
		s.done()
		return res
	}
	one := shard(judge.Foreign{}, world("10 decisions"), world("5 decisions (1 more)"), world("3 decisions"))
	parts := []Result{shard(judge.Foreign{Commands: 1, First: []string{"cmd_1"}}, world("10 decisions"), world("5 decisions (1 more)")),
		shard(judge.Foreign{Commands: 2, First: []string{"cmd_2"}}, world("3 decisions"))}
	merged := joined(Result{}, parts)
	number := func(r Result) string {
		return r.Ledger[slices.IndexFunc(r.Ledger, func(r judge.Row) bool { return r.Clause == "ENT-1" })].Number
	}
	if got, want := number(merged), number(one); got != want || want != "13 decisions; 5 decisions (1 more)" {
		t.Errorf("merged: %q, one run: %q, want %q for both", got, want, "13 decisions; 5 decisions (1 more)")
	}
	if merged.Unordered != 4 || merged.Foreign.Commands != 3 || !slices.Equal(merged.Foreign.First, []string{"cmd_1", "cmd_2"}) {
		t.Errorf("merged: %d pairs without an order, %+v by others; want 4, and 3 commands, first cmd_1 and cmd_2", merged.Unordered, merged.Foreign)
	}
}

// TestRequiredIsNoEvidence: a guarantee that was required but not exercised is not proven, and isn't counted as exercised.
func TestRequiredIsNoEvidence(t *testing.T) {
	t.Parallel()
	res := Result{Require: []string{"CMD-1"}, Files: []FileResult{{Path: "a.yaml", Status: judge.Pass}}}
	res.Settle(nil)
	if got, want := sentence(res), "1 scenario: 1 passed. 35 guarantees: 0 passed, 1 not proven, 34 not exercised."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if line := Line(res); !strings.Contains(line, "0 of 35 guarantees exercised") {
		t.Errorf("got %q, want that 0 of 35 were exercised", line)
	}
}

// TestPageOfAMerge: the head of a merged result's page has the number of events that its environment has.
func TestPageOfAMerge(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	must.OK(t, WriteHTML(&b, Result{History: history.Summary{Count: 106}, Shards: []Shard{{Index: 1, Of: 1}}}))
	if got := regexp.MustCompile(`[\d,]+ events?\b`).FindAllString(b.String(), -1); !slices.Equal(got, []string{"106 events", "106 events"}) {
		t.Errorf("the page says %q, want 106 events twice", got)
	}
}
