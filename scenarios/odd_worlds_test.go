package scenarios_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/scenarios/engine"
	"github.com/doorlab/doorlab/testbed"
)

// inWorld plays built-in files, each in a testbed of a world file.
func inWorld(t *testing.T, source string, names ...string) engine.Result {
	t.Helper()
	files := slices.DeleteFunc(load(t), func(f *engine.File) bool { return !slices.Contains(names, f.Base()) })
	if len(files) != len(names) {
		t.Fatalf("%d of the files %v exist", len(files), names)
	}
	return played(t, source, files...)
}

// played plays files, each in a testbed of a world file.
func played(t *testing.T, source string, files ...*engine.File) engine.Result {
	t.Helper()
	dir, n := t.TempDir(), atomic.Int64{}
	return must.Get(engine.RunApart(t.Context(), func(ctx context.Context, _ *engine.File) (engine.World, error) {
		w, err := world.Parse("world.yaml", []byte(source), 7)
		if err != nil {
			return engine.World{}, err
		}
		return openWorld(ctx, testbed.Config{World: w, Fleet: true, Virtual: true, DataDir: filepath.Join(dir, strconv.FormatInt(n.Add(1), 10)),
			Control: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	}, files, engine.Options{Seed: 7, Loader: mild, Parallel: 2}))(t)
}

// ids is a world whose ids have something between their words.
func ids(between string) string {
	var b strings.Builder
	b.WriteString("places:\n")
	for p := range 2 {
		fmt.Fprintf(&b, "  - id: plc_live%[1]s%[2]d\n    hours: {mon: [[\"09:00\", \"22:00\"]]}\n    keys: [{id: key_live%[1]s%[2]d, name: partner}]\n    boards:\n", between, p)
		for n := range 5 {
			fmt.Fprintf(&b, "      - {id: brd_live%[1]s%[2]d%[1]s%[3]d, doors: [{id: dor_live%[1]s%[2]d%[1]s%[3]d%[1]sa}, {id: dor_live%[1]s%[2]d%[1]s%[3]d%[1]sb}]}\n", between, p, n)
		}
	}
	return b.String()
}

// TestAnyIDs: as much is judged whatever the world's ids look like.
func TestAnyIDs(t *testing.T) {
	t.Parallel()
	names := []string{"hours_apply", "hours_schedule", "windows_rules"}
	want := judged(t, inWorld(t, ids("x"), names...))
	for _, between := range []string{"_", "-"} {
		if got := judged(t, inWorld(t, ids(between), names...)); !alike(got, want) {
			t.Errorf("with %q in the ids:\n%swithout:\n%s", between, got, want)
		}
	}
}

// alike reports whether two texts differ at most in their numbers, and in these by no more than a busy machine makes of it: a
// change of hours that another call overlaps isn't judged.
func alike(a, b string) bool {
	number := regexp.MustCompile(`\d+`)
	as, bs := number.FindAllString(a, -1), number.FindAllString(b, -1)
	if number.ReplaceAllString(a, "n") != number.ReplaceAllString(b, "n") {
		return false
	}
	for i := range as {
		x, _ := strconv.Atoi(as[i]) // digits
		y, _ := strconv.Atoi(bs[i])
		if max(x-y, y-x) > max(x, y)/20 {
			return false
		}
	}
	return true
}

// judged is what a run that passed was judged by: the numbers that depend least on the machine.
func judged(t *testing.T, res engine.Result) string {
	t.Helper()
	if res.Status != judge.Pass {
		t.Fatal(reasons(res))
	}
	var b strings.Builder
	for _, r := range res.Ledger {
		if slices.Contains([]string{"ENT-2", "ENT-3", "HRS-1", "HRS-2"}, r.Clause) {
			fmt.Fprintln(&b, r.Clause, r.Status, r.Number)
		}
	}
	return b.String()
}

// TestOddWorlds: a right server isn't accused because its world has other doors than the suite's files are written for:
// they choose boards that they can work with, or are SKIPPED.
func TestOddWorlds(t *testing.T) {
	t.Parallel()
	const (
		oneDoor = "{doors: [{entry: true, channel: 1}]}"
		inner   = "{doors: [{channel: 1}, {channel: 2, entry: false}]}"
		others  = "{doors: [{channel: 9}, {channel: 5}, {channel: 64}]}"
		short   = "{doors: [{channel: 1, entryPermitMaxHours: 48}, {channel: 2}]}"
	)
	files := []string{"doors_values", "hours_schedule", "permits_create", "records_values", "sync_permits", "terms_values"}
	for name, c := range map[string]struct {
		world string
		plays []string // the others are SKIPPED
	}{
		"no board like the default world's": {"places: [{boards: [" + strings.Join([]string{oneDoor, inner, others, short}, ", ") + "], keys: [{name: partner}]}]", []string{"hours_schedule", "permits_create", "records_values"}},
		"a door with a maximum":             {"places: [{boards: [" + short + "], fleet: {boards: 6}, keys: [{name: partner}]}]", []string{"doors_values", "hours_schedule", "permits_create", "records_values"}},
		"some boards that fit":              {"places: [{boards: [" + strings.Join([]string{oneDoor, inner, others}, ", ") + "], fleet: {boards: 6}, keys: [{}]}, {boards: [" + short + "]}, {}]", files},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range inWorld(t, c.world, files...).Files {
				want := judge.Skipped
				if slices.Contains(c.plays, strings.TrimSuffix(f.Path, ".yaml")) {
					want = judge.Pass
				}
				if f.Status != want || want == judge.Skipped && !strings.Contains(f.Reason, "boards w") {
					t.Errorf("%s: got %s (%s), want %s", f.Path, f.Status, f.Reason, want)
				}
			}
		})
	}
}

// TestFarApart: a file's boards may be at places in different time zones.
func TestFarApart(t *testing.T) {
	t.Parallel()
	res := inWorld(t, "places: [{timezone: Pacific/Auckland, fleet: {boards: 1}, keys: [{name: partner}]}, {timezone: Pacific/Honolulu, fleet: {boards: 1}, keys: [{name: partner}]}]",
		"entry_custom_weeks", "entry_windows", "outage_hours", "outage_windows", "windows_rules")
	for _, f := range res.Files {
		if f.Status != judge.Pass {
			t.Errorf("%s: %s (%s), want PASS", f.Path, f.Status, f.Reason)
		}
	}
}

// TestFilesAskForTheirDoors: a file that names the second door of a single board says that it needs boards with two.
func TestFilesAskForTheirDoors(t *testing.T) {
	t.Parallel()
	single := regexp.MustCompile(`cohort: \{name: (\w+), (?:[^}]*, )?boards: 1[,}]`)
	for _, f := range load(t) {
		for _, cohort := range single.FindAllStringSubmatch(string(f.Source), -1) {
			for _, named := range regexp.MustCompile(cohort[1]+`\.doors\[([1-9])\]`).FindAllStringSubmatch(string(f.Source), -1) {
				if n := must.Get(strconv.Atoi(named[1]))(t); f.Doc.Needs.Doors > 0 && f.Doc.Needs.Doors <= n {
					t.Errorf("%s names %s, but needs only %d of a board's doors", f.Path, named[0], f.Doc.Needs.Doors)
				}
			}
		}
	}
}

// byChannel is about a board whose channels are neither 1 and 2 nor in the order of its doors.
const byChannel = `
name: Doors by channel
clauses: [OFF-3, CMD-1, LEG-1, ENT-1]
setup:
  - cohort: {name: one, boards: 1}
  - set: {five: "${one.doors[0]}", two: "${one.doors[1]}", many: "${one.doors[2]}"}
  - permit: {person: ann, place: one, doors: one}
  - synced: {of: one}
  - clock: freeze
  - mark: start
steps:
  - name: each command moves the channel of its door
    cases:
      - {door: "${five}", channel: 5}
      - {door: "${two}", channel: 2}
      - {door: "${many}", channel: 64}
    group:
      - command: {door: "${door}", outcome: reported}
        expect: data.deviceId == door
        capture: {id: data.commandId}
      - journal: {of: one, command: "${id}"}
        expect: count == 1 and first.channel == channel and first.doorId == door
        clauses: [CMD-1]
      - present: {person: ann, door: "${door}", result: opened}
        expect: journal[0].channel == channel and journal[0].doorId == door
        clauses: [ENT-1]
      - present: {phone: "${phone(\"stranger\")}", door: "${door}", result: denied, reason: no_valid_grant}
        expect: journal[0].channel == channel and journal[0].doorId == door
        clauses: [ENT-1]
  - name: the board is listed with its channels
    group:
      - call: {place: one, path: /device/v1/boards}
        expect: sort(data[0].channels) == [2, 5, 64] and data[0].doorIds == one.doors
        clauses: [LEG-1]
      - call: {place: one, path: "/device/v1/boards/${one.board}/netloss"}
        expect: 'data.channels == {"2": "close", "5": "close", "64": "close"}'
        clauses: [LEG-1]
  - name: a channel that only other boards have is refused
    call: {method: PUT, place: one, path: "/device/v1/boards/${one.board}/netloss", body: {graceSec: 60, channels: {"1": hold}}, status: 400, error: invalid_field}
    clauses: [LEG-1]
  - netloss: {boards: one, graceSec: 60, channels: {"2": open, "5": hold, "64": "off"}}
    expect: 'data.channels == {"2": "open", "5": "hold", "64": "off"}'
    clauses: [LEG-1]
  - fault: {fault: offline, name: cut, of: one}
  - boards: {of: one, all: not online}
    within: 30s
  - mark: cut
  - clock: {to: cut+60s}
  - name: each rests as its own channel is set
    journal: {of: one, cause: outage, since: cut}
    expect: 'count == 3 and one(lines, .doorId == five and .channel == 5 and .action == "hold") and one(lines, .doorId == two and .channel == 2 and .action == "pulse") and one(lines, .doorId == many and .channel == 64 and .action == "off")'
    boundary: 60 s
    clauses: [OFF-3]
  - boards: {of: one, all: 'map(doors, .channel) == [5, 2, 64] and map(doors, .standing.state) == ["unlocked", "locked", "locked"]'}
    clauses: [OFF-3]
  - clear: cut
  - synced: {of: one}
  - name: its standings belong to their doors
    cases:
      - {door: "${five}", channel: 5}
      - {door: "${two}", channel: 2}
    group:
      - command: {door: "${door}", command: hold, minutes: "${channel}", outcome: reported}
        expect: data.standing.state == "unlocked" and data.standing.holdUntil == at("now+" + string(channel) + "m")
        clauses: [CMD-1]
  - call: {place: one, path: /device/v1/doors}
    expect: 'map(data, .id) == one.doors and map(data, .doorState) == ["unlocked", "unlocked", "locked"]'
    clauses: [LEG-1]
  - clock: run
`

// TestDoorsByChannel: what a board does and how it rests goes by its doors' channels, not by their position. (All boards of the suite's
// worlds have the channels 1 and 2, in this order.)
func TestDoorsByChannel(t *testing.T) {
	t.Parallel()
	f := must.Get(engine.Parse("channels.yaml", []byte(byChannel)))(t)
	if res := played(t, "places: [{boards: [{doors: [{channel: 5}, {channel: 2}, {channel: 64}]}], keys: [{name: partner}]}]", f); res.Status != judge.Pass {
		t.Error(reasons(res))
	}
}
