package engine

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestCohortOfTooFew: a cohort has as many boards as it asks for, or the file says how many will do.
func TestCohortOfTooFew(t *testing.T) {
	t.Parallel()
	for cohort, want := range map[string]judge.Status{
		"boards: 1":                judge.Pass,
		"boards: 2":                judge.Blocked,
		`boards: "${1 + 1}"`:       judge.Blocked,
		"boards: 2, atLeast: 1":    judge.Pass,
		`boards: "${0}"`:           judge.Blocked,
		"share: 10%":               judge.Pass,
		"places: 1, perPlace: 1":   judge.Pass,
		"boards: 1, atLeast: 2":    judge.Blocked,
		"share: 100%, atLeast: 20": judge.Blocked,
	} {
		res, _ := play(t, newFake(t), "setup: [{cohort: {name: one, "+cohort+`}}]
steps: [{call: {path: /echo, place: one}, expect: data.n == 3}]`, Options{})
		if f := res.Files[0]; f.Status != want || want == judge.Blocked && !strings.Contains(f.Reason, "for cohort one, which needs") {
			t.Errorf("%s: got %s (%s), want %s", cohort, f.Status, f.Reason, want)
		}
	}
}

// TestCountOfOne: one board is one board.
func TestCountOfOne(t *testing.T) {
	t.Parallel()
	res, _ := play(t, newFake(t), `steps: [{boards: {all: not online}}]`, Options{})
	if f := res.Files[0]; !strings.Contains(f.Reason, "1 of 1 board: expected not online") {
		t.Errorf("got %s, %s; want 1 of 1 board", f.Status, f.Reason)
	}
}
