package age

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/live"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

const aDay = 24 * time.Hour

// few is a small world for a few days, cut into segments.
func few(t *testing.T, days int) Config {
	t.Helper()
	return Config{For: time.Duration(days) * aDay, Start: time.Date(2027, 3, 26, 0, 0, 0, 0, time.UTC), Boards: 3, Doors: 2, Entries: 20, Seed: 3,
		Segment: 2 * aDay, DataDir: t.TempDir(), Wait: 20 * time.Second}
}

// TestDays: some days pass, with outages, restarts and a night on which clocks go forward; the same seed plays the
// same days.
func TestDays(t *testing.T) {
	t.Parallel()
	var first Counts
	for i := range 2 {
		res, counts, err := Run(t.Context(), few(t, 4))
		if err != nil || res.Status != judge.Pass {
			t.Fatalf("run %d: got %s (%s), %v, want PASS\n%s", i+1, res.Status, res.Reason, err, failed(res))
		}
		if i == 0 {
			first = counts
		} else if !reflect.DeepEqual(counts, first) {
			t.Errorf("the same seed: got %+v, want %+v as in the first run", counts, first)
		}
		if n := len(res.Files); n != 2 {
			t.Errorf("got %d segments, want 2", n)
		}
		if want := 8 * 4 * 20; counts.Decisions < want*9/10 || counts.Decisions > want*11/10 {
			t.Errorf("got %d decisions, want about %d: 8 doors, 4 days, 20 each", counts.Decisions, want)
		}
		for _, clause := range []string{"AUTH-1", "PERM-3", "ENT-1", "ENT-3", "ENT-4", "CMD-1", "CMD-4", "CMD-5", "SYNC-1"} {
			if !slices.ContainsFunc(res.Ledger, func(r judge.Row) bool { return r.Clause == clause && r.Status == judge.Pass && r.Judged > 0 }) {
				t.Errorf("%s wasn't exercised", clause)
			}
		}
	}
}

func failed(res report.Result) string {
	var b strings.Builder
	for _, v := range res.Verdicts {
		if v.FirstBad != nil {
			b.WriteString(v.Clause + ": " + v.FirstBad.String() + "\n")
		}
	}
	return b.String()
}

// TestRetention: what is too old is deleted at the end and the rest is kept; a run that ends with more than it should
// keep fails.
func TestRetention(t *testing.T) {
	t.Parallel()
	c := few(t, 5)
	c.Boards, c.Retention.Records = 1, aDay
	res, _, err := Run(t.Context(), c)
	if f := res.Files[len(res.Files)-1]; err != nil || res.Status != judge.Pass || f.Name != "retention" {
		t.Errorf("got %s (%s), %v, last %+v, want PASS and retention looked at", res.Status, res.Reason, err, f)
	}
	c.DataDir = t.TempDir()
	c.keepsAll = true
	if res, _, err = Run(t.Context(), c); err != nil || res.Status != judge.Fail || !strings.Contains(res.Reason, "still there: ") {
		t.Errorf("a server that keeps everything: got %s (%s), %v, want FAIL", res.Status, res.Reason, err)
	}
}

// TestNobodyComes: a run without entries proves nothing.
func TestNobodyComes(t *testing.T) {
	t.Parallel()
	c := few(t, 1)
	c.Entries = 0
	res, counts, err := Run(t.Context(), c)
	if err != nil || res.Status != judge.Invalid || counts.Decisions != 0 || res.ExitCode() != 6 {
		t.Errorf("got %s (%s), exit code %d, %d decisions, %v, want INVALID, 6 and none", res.Status, res.Reason, res.ExitCode(), counts.Decisions, err)
	}
}

// TestInterrupted: what was played until then is judged.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := few(t, 400)
	c.Segment = aDay
	c.Progress = live.Screen{W: cancels{cancel}, Every: 50 * time.Millisecond}
	res, counts, err := Run(ctx, c)
	if err == nil || ctx.Err() == nil || res.Trouble != "" || !slices.ContainsFunc(res.Notes, func(n string) bool { return strings.HasPrefix(n, "interrupted after ") }) {
		t.Errorf("got %v, trouble %q, notes %q, want an interruption that is noted", err, res.Trouble, res.Notes)
	}
	if counts.Decisions > 0 && len(res.Verdicts) == 0 {
		t.Errorf("no verdicts on %d decisions, want some", counts.Decisions)
	}
}

// cancels ends a run once it has shown some progress.
type cancels struct{ cancel func() }

func (c cancels) Write(p []byte) (int, error) { c.cancel(); return len(p), nil }

// TestCountsSince: a segment's counts are the increase since the previous segment.
func TestCountsSince(t *testing.T) {
	t.Parallel()
	old := newCounts()
	old.Decisions, old.Changes["read"] = 3, 2
	now := old.clone()
	now.Decisions, now.Changes["read"], now.Mishaps["offline"] = 10, 3, 1
	got, err := json.Marshal(now.since(old))
	if want := `{"decisions":7,"entries":{},"results":{},"changes":{"read":1},"mishaps":{"offline":1}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if old.Changes["read"] != 2 {
		t.Error("a clone shares its maps")
	}
}

// TestWorlds: worlds are played concurrently and added up; one that can't continue ends the others.
func TestWorlds(t *testing.T) {
	t.Parallel()
	c := few(t, 2)
	c.Worlds = 2
	res, counts, err := Run(t.Context(), c)
	if err != nil || res.Status != judge.Pass || res.Worlds != 2 {
		t.Fatalf("got %s (%s) of %d worlds, %v, want PASS of 2\n%s", res.Status, res.Reason, res.Worlds, err, failed(res))
	}
	var names []string
	for _, f := range res.Files {
		names = append(names, f.Name)
	}
	if want := []string{"2027-03-26 to 2027-03-28, world 1", "2027-03-26 to 2027-03-28, world 2"}; !slices.Equal(names, want) {
		t.Errorf("got segments %q, want %q", names, want)
	}
	if want := (3*2 + 2*2) * 2 * 20; counts.Decisions < want*9/10 || counts.Decisions > want*11/10 {
		t.Errorf("got %d decisions, want about %d: 10 doors with the test places', 2 days, 20 each", counts.Decisions, want)
	}
	c = few(t, 400)
	c.Worlds = 2
	must.OK(t, os.WriteFile(filepath.Join(c.DataDir, "world-2"), nil, 0o600))
	if res, _, err = Run(t.Context(), c); err == nil || !strings.Contains(res.Trouble, "world-2") {
		t.Errorf("a world that can't begin: got %v, trouble %q, want it to name world-2", err, res.Trouble)
	}
}
