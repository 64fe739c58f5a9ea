package report_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// shardDir writes the run directory of one of two shards, with one file each.
func shardDir(t *testing.T, index int, change func(*report.Result)) string {
	t.Helper()
	name := string(rune('a' + index - 1))
	res := report.Result{Schema: report.SchemaVersion, Version: "v1", Seed: 1, Worlds: 1, Config: map[string]any{"boards": 20, "world": ""},
		Shard: &report.Shard{Index: index, Of: 2, Files: 2}, Files: []report.FileResult{{Path: name + ".yaml", Name: name, Status: judge.Pass}},
		Assertions: []judge.Assertion{{Clause: "CMD-1", Name: name, Status: judge.Pass}}}
	res.Events = tokenUsed()
	change(&res)
	res.Settle(res.Events)
	dir := filepath.Join(t.TempDir(), name)
	must.OK(t, report.WriteDir(dir, res))
	return dir
}

// TestShardThatDoesntCount: if one shard's result is INVALID, so is the merged one, and shards that ran something
// else aren't merged.
func TestShardThatDoesntCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*report.Result)
		status judge.Status
		want   string
	}{
		"sound":                   {func(*report.Result) {}, judge.Pass, ""},
		"no ground truth":         {func(r *report.Result) { r.Events = []history.Event{{Seq: 1, At: 1, Kind: history.Label}} }, judge.Invalid, "is itself INVALID: CMD-1: no ground truth"},
		"an invalid file":         {func(r *report.Result) { r.Files[0].Status, r.Files[0].Reason = judge.Invalid, "too slow" }, judge.Invalid, "is itself INVALID"},
		"trouble":                 {func(r *report.Result) { r.Trouble = "the history ended early" }, judge.Blocked, "the history ended early"},
		"unreachable":             {func(r *report.Result) { r.Unreached, r.Reason = true, "connection refused" }, judge.Invalid, "didn't reach its target: connection refused"},
		"another version":         {func(r *report.Result) { r.Version = "v2" }, judge.Invalid, "were made by different versions: v1, v2"},
		"another world":           {func(r *report.Result) { r.Config = map[string]any{"boards": 21, "world": ""} }, judge.Invalid, "had different worlds: --boards 20, --boards 21"},
		"a world file":            {func(r *report.Result) { r.Config = map[string]any{"boards": 20, "world": "w.yaml"} }, judge.Invalid, "had different worlds: --boards 20, --world w.yaml"},
		"no shard":                {func(r *report.Result) { r.Shard = nil }, judge.Invalid, "b is a whole run, not a shard: it was made without --shard"},
		"the other's index":       {func(r *report.Result) { r.Shard.Index = 1 }, judge.Invalid, "are both shard 1 of 2"},
		"a file that it left out": {func(r *report.Result) { r.Files = nil }, judge.Invalid, "the shards ran 1 of 2 scenarios"},
		"a file of the other":     {func(r *report.Result) { r.Files[0].Path = "a.yaml" }, judge.Invalid, "a.yaml was run in both"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := report.Merge(shardDir(t, 1, func(*report.Result) {}), shardDir(t, 2, c.change))
			if said := res.Reason + "\n" + strings.Join(res.Notes, "\n"); res.Status != c.status || !strings.Contains(said, c.want) {
				t.Errorf("merged: %s, %s\nwant %s, %s", res.Status, said, c.status, c.want)
			}
		})
	}
	first := shardDir(t, 1, func(*report.Result) {})
	if res := report.Merge(first); res.Status != judge.Invalid || !strings.Contains(res.Reason, "shard 2/2 is missing") {
		t.Errorf("without the second: %s, %s, want INVALID: it is missing", res.Status, res.Reason)
	}
	if line := report.Line(report.Merge(first)); strings.Count(line, "is missing") != 1 {
		t.Errorf("without the second: got %q, want once that it is missing", line)
	}
	failed := shardDir(t, 1, func(r *report.Result) { r.Files[0].Status, r.Files[0].Reason = judge.Fail, "a door moved twice" })
	if res := report.Merge(failed); res.Status != judge.Fail {
		t.Errorf("a failure, and a shard is missing: %s, want FAIL", res.Status)
	}
	second := shardDir(t, 2, func(*report.Result) {})
	must.OK(t, os.Truncate(filepath.Join(second, "history.ndjson"), 10))
	if res := report.Merge(first, second); res.Status != judge.Invalid || !strings.Contains(strings.Join(res.Notes, "\n"), "can't be read as a run") {
		t.Errorf("with half a history: %s, %q, want INVALID", res.Status, res.Notes)
	}
}

// TestEveryWorldCounts: a breach counts in whichever world it happened, and so does ground truth.
func TestEveryWorldCounts(t *testing.T) {
	t.Parallel()
	const place, door = "plc_1", "dor_1"
	world := func(name string, acts int) []history.Event {
		events := []history.Event{{Kind: history.World, Text: name},
			{Kind: history.Door, PlaceID: place, BoardID: "brd_1", DoorID: door, Channel: 1},
			{Kind: history.Intent, PlaceID: place, DoorID: door, CommandID: "cmd_1", Op: "open"},
			{Kind: history.Publish, PlaceID: place, BoardID: "brd_1", DoorID: door, CommandID: "cmd_1", NotAfterMs: 5000, Op: "open"}}
		for range acts {
			events = append(events, history.Event{Kind: history.Actuation, PlaceID: place, BoardID: "brd_1", DoorID: door, Channel: 1, Boot: 1,
				Action: "pulse", Cause: "command", CommandID: "cmd_1"})
		}
		for i := range events {
			events[i].Seq, events[i].At, events[i].WallNs = int64(i+1), int64(1_000_000+i), int64(1_000_000+i)*1e6
		}
		return events
	}
	silent := []history.Event{{Kind: history.World, Text: "silent"}, {Kind: history.Label, At: 1, WallNs: 1}}
	for name, c := range map[string]struct {
		events []history.Event
		want   judge.Status
	}{
		"the first":           {slices.Concat(world("a", 2), world("b", 1), silent), judge.Fail},
		"the last":            {slices.Concat(silent, world("a", 1), world("b", 2)), judge.Fail},
		"none":                {slices.Concat(world("a", 1), world("b", 1)), judge.Pass},
		"truth in the first":  {slices.Concat(world("a", 1), silent), judge.Pass},
		"truth in the second": {slices.Concat(silent, world("a", 1)), judge.Pass},
		"no truth":            {slices.Concat(silent, silent), judge.Invalid},
	} {
		res := report.Result{Worlds: 2, Files: []report.FileResult{{Path: "a.yaml", Name: "a", Status: judge.Pass}},
			Assertions: []judge.Assertion{{Clause: "CMD-4", Name: "a", Status: judge.Pass}, {Clause: "AUTH-3", Name: "a", Status: judge.Pass}}}
		res.Settle(c.events)
		if res.Status != c.want {
			t.Errorf("%s: got %s, want %s: %s", name, res.Status, c.want, res.Reason)
		}
	}
}

// TestCourseOfShards: the page of a merged check shows its shards' courses added up on one axis, although their
// events stay in their own directories.
func TestCourseOfShards(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	course := func(after time.Duration, calls int) func(*report.Result) {
		return func(r *report.Result) {
			r.Started, r.Seconds = begin.Add(after), 10
			r.Events[0].WallNs = r.Started.UnixNano()
			for i := range calls {
				r.Events = append(r.Events, history.Event{Seq: int64(i + 4), At: 1, Kind: history.Call, Status: 200, WallNs: r.Started.Add(5 * time.Second).UnixNano(), Text: "{}"})
			}
		}
	}
	out := filepath.Join(t.TempDir(), "merged")
	res := report.Merge(shardDir(t, 1, course(0, 30)), shardDir(t, 2, course(10*time.Second, 70)))
	must.OK(t, report.WriteDir(out, res))
	page := must.Get(os.ReadFile(filepath.Join(out, "report.html")))(t)
	for _, want := range []string{`id="load"`, `id="shards"`, "106 events in the histories of the shards", "104 call", "20 s"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page of the merge has no %s", want)
		}
	}
	if res.Status != judge.Pass {
		t.Errorf("merged %s, %s, want PASS", res.Status, res.Reason)
	}
}

// TestMergedAgain: a merged result isn't merged a second time, and what it says isn't lost. It finds its shards from
// anywhere, and refuses one that replaced its own shard.
func TestMergedAgain(t *testing.T) {
	t.Parallel()
	failed := shardDir(t, 1, func(r *report.Result) { r.Files[0].Status, r.Files[0].Reason = judge.Fail, "a door moved twice" })
	passed, second := shardDir(t, 1, func(*report.Result) {}), shardDir(t, 2, func(*report.Result) {})
	merged := func(want judge.Status, dirs ...string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "merged")
		res := report.Merge(dirs...)
		must.OK(t, report.WriteDir(out, res))
		if again := must.Get(report.Judge(out))(t); res.Status != want || again.Status != want {
			t.Errorf("merge of %v: %s, judged again %s, want %s", dirs, res.Status, again.Status, want)
		}
		return out
	}
	merged(judge.Fail, merged(judge.Fail, failed, second))
	merged(judge.Invalid, merged(judge.Pass, passed, second))
	merged(judge.Fail, passed, merged(judge.Fail, failed, second))
	if res := report.Merge(merged(judge.Pass, passed, second)); !strings.Contains(res.Reason, "is a merged result itself; name the directories of its shards") {
		t.Errorf("merge of a merged result: %q, want that it is one", res.Reason)
	}

	merged(judge.Pass, passed, second)
	must.OK(t, report.WriteDir(passed, report.Merge(passed, second)))
	if res, err := report.Judge(passed); err == nil || !strings.Contains(err.Error(), "names itself as one of its shards") {
		t.Errorf("a merge over its own shard: %s, %v, want an error", res.Status, err)
	}
	merged(judge.Invalid, passed, second)
}

// TestShardsWithKeysOnly: shards that saw only their own requests are as good together as one by one.
func TestShardsWithKeysOnly(t *testing.T) {
	t.Parallel()
	keysOnly := func(r *report.Result) {
		r.Worlds, r.Events = 0, []history.Event{{Seq: 1, At: 1, Kind: history.Label}}
	}
	one, two := shardDir(t, 1, keysOnly), shardDir(t, 2, keysOnly)
	alone, res := must.Get(report.Judge(one))(t), report.Merge(one, two)
	if res.Status != judge.Pass || res.Status != alone.Status || res.Worlds != 0 {
		t.Errorf("merged: %s, %s, %d worlds, want PASS and 0 worlds, as for each of them (%s, %d)", res.Status, res.Reason, res.Worlds, alone.Status, alone.Worlds)
	}
}
