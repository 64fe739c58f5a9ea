package engine

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
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

// TestPlacesWithBoardsEnough: of places of different sizes, those with as many boards as are wanted of each come first.
func TestPlacesWithBoardsEnough(t *testing.T) {
	t.Parallel()
	var from []*boardInfo
	for n := range 13 { // ten places of one board, one of three
		from = append(from, &boardInfo{id: fmt.Sprint("brd_", n), placeID: fmt.Sprint("plc_", min(n, 10))})
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		if got := somePlaces(from, 2, 3, r); len(got) != 4 || got[0].placeID != "plc_10" {
			t.Fatalf("seed %d: got %d boards of %s, want the place with three boards first, then one of the others", seed, len(got), got[0].placeID)
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

// TestChosenByTheSeed: on a shared target, too, a seed chooses the same boards in every run, whereas people are new to it.
func TestChosenByTheSeed(t *testing.T) {
	t.Parallel()
	half := parse(t, `steps: [{cohort: {name: half, part: 1/2}}, {call: {path: /echo, place: half}, expect: data.n == 3}]`)
	var from []*boardInfo
	for n := range 20 {
		from = append(from, &boardInfo{id: fmt.Sprint("brd_", n)})
	}
	chosen, phones := map[string]bool{}, map[string]bool{}
	for _, id := range []string{"a", "b"} {
		f := &fileRun{run: &run{id: id, seed: 1, target: Target{Marks: []history.Position{{}}}}, file: half}
		x := &frame{run: f.run, file: f, scope: &scope{file: f, vars: map[string]any{}}}
		got := half.Doc.Steps[0].Verbs.Cohort.some(x, from, nil)
		chosen[fmt.Sprint(cohortValue("half", got)["boards"])] = true
		phones[f.phone("ann")] = true
	}
	if len(chosen) != 1 || len(phones) != 2 {
		t.Errorf("two runs chose %v and made up %v, want the same boards and different phones", chosen, phones)
	}
}

// TestSyncedUnseen: boards that no control listener has can't be waited for.
func TestSyncedUnseen(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/device/v1/boards" {
			say(w, 200, m{"data": []m{{"boardId": "brd_s", "name": "S", "online": true, "lastSeenAt": "2026-03-01T09:00:00.000Z", "doorIds": []string{"dor_s"}, "channels": []int{1}}}, "total": 1})
		}
		return r.URL.Path == "/device/v1/boards"
	})
	target := f.target()
	target.Places = append(target.Places, Place{PlaceID: "plc_s", Kind: "test", APIKey: fakeKey})
	res, out := playOn(t, target, `steps: [{cohort: {name: trial, kind: test}}, {synced: {of: trial}}]`, Options{})
	if got := res.Files[0]; got.Status != judge.Blocked || !strings.Contains(got.Reason, "no control listener has board brd_s") {
		t.Errorf("got %s %q, want BLOCKED because no control listener has brd_s\n%s", got.Status, got.Reason, out)
	}
}
