package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/shard"
)

const example = `
seed: 7
places:
  - id: plc_gangnam
    name: Gangnam
    kind: live
    timezone: Asia/Seoul
    entryPhone: "05012345678"
    hours: {mon: [["09:00", "22:00"]], sun: []}
    closures: [{from: 2026-12-24, to: 2026-12-25, name: Refit}]
    holidays: [{date: 2026-10-09, name: Hangul Day}]
    boards:
      - id: brd_front
        password: sixteen letters.
        doors: [{id: dor_front, name: Front, channel: 1, entry: true, entryPermitMaxHours: 48}]
    fleet: {boards: 10, doorsPerBoard: 2, report: {p50: 80ms, p99: 400ms}}
    keys: [{name: partner, scopes: [space:partner, device:door]}]
    memberships: [{phone: "01011112222", startsAt: 2026-10-01T00:00:00Z}]
`

func TestExampleOfTheSpecification(t *testing.T) {
	t.Parallel()
	w := must.Get(Parse("w.yaml", []byte(example), 0))(t)
	w.DeriveSecrets(nil)
	p := w.Places[0]
	if len(p.Boards) != 11 || p.Boards[0].Password != "sixteen letters." || p.Boards[0].Doors[0].EntryPermitMaxHours != 48 {
		t.Errorf("boards: got %d %+v, want 11, Password sixteen letters. and Doors[0].EntryPermitMaxHours 48", len(p.Boards), p.Boards[0])
	}
	if p.Closures[0].From != "2026-12-24" || p.Holidays[0].Date != "2026-10-09" {
		t.Errorf("got closures %+v and holidays %+v, want them from 2026-12-24 and on 2026-10-09", p.Closures, p.Holidays)
	}
	if p.Report.P99 != 400*time.Millisecond || !strings.HasPrefix(p.MainKey().Secret, "sacl_") {
		t.Errorf("report %+v, key %+v, want P99 %v and Secret to begin with %q", p.Report, p.MainKey(), 400*time.Millisecond, "sacl_")
	}
	if p.Memberships[0].StartsAt.Year() != 2026 {
		t.Errorf("got membership %+v, want it to start in 2026", p.Memberships[0])
	}
}

// TestExampleWordForWord: the specification's example says "password: optional", and that can be loaded as it stands.
func TestExampleWordForWord(t *testing.T) {
	t.Parallel()
	w := must.Get(Parse("w.yaml", []byte(strings.Replace(example, "sixteen letters.", "optional      # else derived", 1)), 0))(t)
	w.DeriveSecrets(nil)
	if b := w.Places[0].Boards[0]; b.Given || len(b.Password) < MinPassword || w.PasswordsGiven() {
		t.Errorf("got a password of %d characters, given: %t, want a derived one", len(b.Password), b.Given)
	}
}

func TestDefaultIsDeterministic(t *testing.T) {
	t.Parallel()
	a, b := Default(3, 25), Default(3, 25)
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("the same seed makes two different worlds (-first +second):\n%s", d)
	}
	if a.LiveBoards() != 25 || a.TestBoards() != 1 || len(a.Places) != 4 {
		t.Errorf("live %d test %d places %d, want 25, 1 and 4", a.LiveBoards(), a.TestBoards(), len(a.Places))
	}
	a.DeriveSecrets(nil)
	c := Default(4, 25)
	c.DeriveSecrets(nil)
	if c.Places[0].ID == a.Places[0].ID || c.Places[0].MainKey().Secret == a.Places[0].MainKey().Secret {
		t.Error("another seed must give another world")
	}
	if !a.Places[0].MainKey().Sim || a.Places[1].MainKey().Sim {
		t.Error("sim is for the test key of the default world only")
	}
	big := Default(1, 10000) // ids and phones stay unique
	if big.LiveBoards() != 10000 {
		t.Errorf("%d live boards, want 10000", big.LiveBoards())
	}
	for n := range 4000 { // places that derive the same number take the next free one
		big.Places = append(big.Places, Place{ID: fmt.Sprintf("plc_%d", n), Kind: Live})
	}
	if err := big.Resolve(); err != nil {
		t.Errorf("5,001 places: got %v, want entry phones of their own", err)
	}
}

// TestShards: every place of a world is in exactly one shard, complete and unchanged.
func TestShards(t *testing.T) {
	t.Parallel()
	all := Default(1, 500)
	seen := map[string]Place{}
	for i := 1; i <= 7; i++ {
		w := all.Shard(shard.Shard{Index: i, Of: 7})
		if w.Seed != all.Seed {
			t.Errorf("shard %d has the seed %d, want %d", i, w.Seed, all.Seed)
		}
		for _, p := range w.Places {
			if _, twice := seen[p.ID]; twice {
				t.Errorf("%s is in two shards, want one", p.ID)
			}
			seen[p.ID] = p
		}
	}
	for _, p := range all.Places {
		if !cmp.Equal(seen[p.ID], p) {
			t.Errorf("%s in its shard is %+v, want %+v", p.ID, seen[p.ID], p)
		}
	}
	if got := all.Shard(shard.Shard{}); len(got.Places) != len(all.Places) {
		t.Errorf("the whole has %d places, want %d", len(got.Places), len(all.Places))
	}
}

func TestBadWorlds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"unknown field": {"places:\n  - nmae: x\n", "w.yaml:2:5:"},
		"empty":         {"", "empty"},
		"seed":          {"seed: -7\nplaces: [{}]\n", "w.yaml:1:7: seed: must be 1 or more"},
		"seed of zero":  {"seed: 0\nplaces: [{}]\n", "w.yaml:1:7: seed: must be 1 or more"},
		"no places":     {"seed: 1\n", "at least one place"},
		"kind":          {"places: [{kind: toy}]\n", "w.yaml:1:17: places[0].kind: \"toy\" is neither test nor live"},
		"deep": {"seed: 1\nplaces:\n  - name: x\n    boards:\n      - id: brd_a\n        doors: [{channel: 1, entryPermitMaxHours: 721}]\n",
			"w.yaml:6:51: places[0].boards[0].doors[0].entryPermitMaxHours: "},
		"every one":            {"places:\n  - kind: toy\n    timezone: Mars/Crater\n", "w.yaml:2:11: places[0].kind: \"toy\" is neither test nor live\nw.yaml:3:15: "},
		"timezone":             {"places: [{timezone: Mars/Crater}]\n", "not a known time zone"},
		"same id":              {"places: [{id: plc_a}, {id: plc_a}]\n", "taken by places[0].id"},
		"channel":              {"places: [{boards: [{doors: [{channel: 1}, {channel: 1}]}]}]\n", "doors[1].channel: channel 1 is taken by doors[0] of this board"},
		"channel 0":            {"places: [{boards: [{doors: [{channel: 0}]}]}]\n", "doors[0].channel: must be 1 to 64"},
		"channel 65":           {"places: [{boards: [{doors: [{channel: 65}]}]}]\n", "doors[0].channel: must be 1 to 64"},
		"no hours":             {"places: [{boards: [{doors: [{entryPermitMaxHours: 0}]}]}]\n", "must be 1 to 720"},
		"board of nothing":     {"places: [{boards: [{}]}]\n", "\"doors\" is missing"},
		"no doors":             {"places: [{boards: [{doors: []}]}]\n", "boards[0].doors: at least one door is needed"},
		"empty fleet":          {"places: [{fleet: {}}]\n", "\"boards\" is missing"},
		"doors of a fleet":     {"places: [{fleet: {boards: 1, doorsPerBoard: 0}}]\n", "doorsPerBoard: must be 1 to 16"},
		"half a report":        {"places: [{fleet: {boards: 1, report: {p50: 80ms}}}]\n", "\"p99\" is missing"},
		"upside down":          {"places: [{fleet: {boards: 1, report: {p50: 400ms, p99: 80ms}}}]\n", "report.p99: must not be below p50 (400ms)"},
		"far too many":         {"places: [{fleet: {boards: 9999999999}}]\n", "places[0].fleet.boards: must be 0 to 2000000"},
		"too many together":    {"places: [{fleet: {boards: 1}}, {fleet: {boards: 2000000}}]\n", "places[1].fleet.boards: the fleets have more than 2000000 boards together"},
		"no doors of a member": {"places: [{memberships: [{phone: \"01011112222\", startsAt: 2026-10-01, doorIds: []}]}]\n", "memberships[0].doorIds: at least one is needed"},
		"negative":             {"places: [{fleet: {boards: 1, report: {p50: -1ms, p99: 80ms}}}]\n", "report.p50: must be longer than 0"},
		"at once":              {"places: [{fleet: {boards: 1, report: {p50: 0s, p99: 1500ms}}}]\n", "report.p50: must be longer than 0"},
		"a live key's sim":     {"places: [{kind: live, keys: [{sim: true}]}]\n", "w.yaml:1:36: places[0].keys[0].sim: must be left out in a live place"},
		"no scopes":            {"places: [{keys: [{scopes: []}]}]\n", "scopes: at least one is needed"},
		"scope":                {"places: [{keys: [{scopes: [device:doors]}]}]\n", "did you mean \"device:door\"?"},
		"no name":              {"places: [{name: \"\"}]\n", "places[0].name: must not be empty"},
		"no password":          {"places: [{boards: [{password: \"\", doors: [{}]}]}]\n", "boards[0].password: must have at least 16"},
		"near kind":            {"places: [{kind: liv}]\n", "did you mean \"live\"?"},
		"weekday":              {"places: [{hours: {mond: []}}]\n", "places[0].hours.mond: \"mond\" is not a day (mon..sun), did you mean \"mon\"?"},
		"a whole weekday":      {"places: [{hours: {Tuesday: []}}]\n", "\"Tuesday\" is not a day (mon..sun), did you mean \"tue\"?"},
		"hours without pairs":  {"places: [{hours: {mon: [\"09:00\", \"12:00\"]}}]\n", "expected a pair such as [\"09:00\", \"18:00\"], found \"09:00\""},
		"two days":             {"places: [{hours: {mon: [[\"9\", \"10:00\"]], tue: [[\"x\", \"y\"]]}}]\n", "must be HH:MM\nw.yaml:1:47: places[0].hours.tue: start \"x\" must be"},
		"holiday":              {"places: [{holidays: [{date: 2026-13-09}]}]\n", "\"2026-13-09\" is not a date, write it like"},
		"holiday twice":        {"places: [{holidays: [{date: 2026-10-09}, {date: 2026-10-09}]}]\n", "2026-10-09 is a holiday already"},
		"closure":              {"places: [{closures: [{from: 2026-10-09, to: 2026-10-08}]}]\n", "closures[0].to: 2026-10-08 is before from"},
		"a member of no door":  {"places: [{boards: [{doors: [{entry: false}]}], memberships: [{phone: \"01011112222\", startsAt: 2026-10-01T00:00:00Z}]}]\n", "memberships[0]: the place has no entry door; name doors in doorIds"},
		"start of nobody":      {"places: [{memberships: [{phone: \"01011112222\", startsAt: 2026-10-01}]}]\n", "\"2026-10-01\" is not a time, write it like 2026-11-22T09:00:00Z"},
		"hours":                {"places: [{hours: {mon: [[\"09:00\", \"09:00\"]]}}]\n", "hours"},
		"place's name":         {"places: [{name: \"a\\u202eb\"}]\n", "w.yaml:1:17: places[0].name: must not contain control"},
		"board's name":         {"places: [{boards: [{name: \"a\\tb\"}]}]\n", "places[0].boards[0].name: must not"},
		"door's name":          {"places: [{boards: [{doors: [{name: \"a\\u0000\"}]}]}]\n", "places[0].boards[0].doors[0].name: must not"},
		"key's name":           {"places: [{keys: [{name: \"a\\nb\"}]}]\n", "places[0].keys[0].name: must not"},
		"closure's name":       {"places: [{closures: [{from: 2026-01-01, to: 2026-01-01, name: \"\\u2066\"}]}]\n", "places[0].closures[0].name: must not"},
		"holiday's name":       {"places: [{holidays: [{date: 2026-01-01, name: \"\\u009b31m\"}]}]\n", "places[0].holidays[0].name: must not"},
		"membership's name":    {"places: [{memberships: [{phone: \"01011112222\", startsAt: 2026-01-01T00:00:00Z, name: \"\\u202e\"}]}]\n", "memberships[0].name: must not"},
		"long name":            {"places: [{name: " + strings.Repeat("x", 101) + "}]\n", "at most 100 characters"},
		"max hours":            {"places: [{boards: [{doors: [{entryPermitMaxHours: 721}]}]}]\n", "1 to 720"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("w.yaml", []byte(c.in), 0)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestEveryMistakeAtOnce: what can't be read doesn't hide what is wrong elsewhere, and isn't reported twice.
func TestEveryMistakeAtOnce(t *testing.T) {
	t.Parallel()
	const file = `places:
  - nam: Gangnam
    kind: liv
    timezone: X/Y
    boards: [{doors: [{channel: x, entryPermitMaxHours: 0}]}]
    fleet: {report: {p50: soon, p99: 80ms}}
    keys: [{scopes: [[a]]}]
    memberships: [{phone: "0101111222A", startsAt: 2026-10-01, doorIds: [dor_x, dor_y]}]
`
	var at []string
	_, err := Parse("w.yaml", []byte(file), 0)
	for line := range strings.Lines(fmt.Sprint(err)) {
		_, rest, _ := strings.Cut(line, ":")
		n, _, _ := strings.Cut(rest, ":")
		at = append(at, n)
	}
	if got, want := strings.Join(at, " "), "2 3 4 5 5 6 6 7 8 8 8 8"; got != want {
		t.Errorf("problems in lines %s, want %s:\n%s", got, want, err)
	}
}

// TestScopesByAlias: a scope may have an anchor, and an alias stands for it.
func TestScopesByAlias(t *testing.T) {
	t.Parallel()
	source := strings.Replace(example, "scopes: [space:partner, device:door]}", `scopes: [&s "space:partner"]}, {name: other, scopes: [*s]}`, 1)
	w := must.Get(Parse("w.yaml", []byte(source), 0))(t)
	for _, k := range w.Places[0].Keys {
		if !slices.Equal(k.Scopes, []string{"space:partner"}) {
			t.Errorf("key %s has scopes %q, want space:partner", k.Name, k.Scopes)
		}
	}
}
