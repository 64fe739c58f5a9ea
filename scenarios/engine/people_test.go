package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestEachDoorGetsSomebody: at each door somebody is presented who may open it, if there is anybody.
func TestEachDoorGetsSomebody(t *testing.T) {
	t.Parallel()
	x := &frame{run: &run{dir: &directory{doors: map[string]*boardInfo{}}}}
	for _, d := range []string{"dor_1", "dor_2", "dor_3"} {
		x.run.dir.doors[d] = &boardInfo{placeID: "plc_1"}
	}
	person := func(name string, doors ...string) m { return m{"name": name, "place": "plc_1", "doors": doors} }
	for _, c := range []struct {
		people []m
		per    int
		want   string
	}{
		{[]m{person("a", "dor_1"), person("b", "dor_2")}, 1, "a dor_1, b dor_2"},
		{[]m{person("b", "dor_2"), person("a", "dor_1")}, 1, "a dor_1, b dor_2"},
		{[]m{person("a"), person("b")}, 1, "a dor_1, b dor_2, a dor_3"},
		{[]m{person("a"), person("b", "dor_2")}, 2, "a dor_1, b dor_2, a dor_2, a dor_3"},
	} {
		var got []string
		for _, p := range x.pair([]string{"dor_1", "dor_2", "dor_3"}, c.people, c.per) {
			got = append(got, fmt.Sprint(p.who["name"], " ", p.door))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%v: got %s, want %s", c.people, s, c.want)
		}
	}
}

// TestLinkOfSomebodyWithoutOne: nothing is sent for somebody who has no link.
func TestLinkOfSomebodyWithoutOne(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	res, out := play(t, f, `steps: [{membership: {person: cho, place: "\"plc_1\""}}, {link: {person: cho, door: dor_1, status: 404}}]`, Options{})
	if got := res.Files[0]; got.Status != judge.Blocked || !strings.Contains(got.Reason, "cho has no link") || f.asked("/entry/open") > 0 {
		t.Errorf("got %s %q, want BLOCKED because cho has no link, and nothing sent\n%s", got.Status, got.Reason, out)
	}
}

// TestNamesOfPeople: a person's name stands for the person, as a table's column has it; any other text doesn't.
func TestNamesOfPeople(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]judge.Status{"ann": judge.Pass, "door": judge.Blocked, "nobody": judge.Blocked} {
		res, out := play(t, newFake(t), fmt.Sprintf(`
setup: [{permit: {person: ann, place: "\"plc_1\""}}, {set: {door: dor_1}}]
steps: [{cases: [%s], present: {person: "${row}", door: dor_1, result: denied}}]`, name), Options{})
		if got := res.Files[0]; got.Status != want || want == judge.Blocked && !strings.Contains(got.Reason, "is not a person") {
			t.Errorf("%s: got %s %q, want %s\n%s", name, got.Status, got.Reason, want, out)
		}
	}
}

// TestRevokedKey: a step with a key of the file's own that gets no token has the exchange's answer, to expect or to fail by.
func TestRevokedKey(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]judge.Status{
		`command: {door: dor_1, apiKey: partner, status: 401, error: invalid_api_key}`: judge.Pass,
		`call: {path: /device/v1/devices, key: partner}, expect: status == 401`:        judge.Pass,
		`command: {door: dor_1, apiKey: partner}`:                                      judge.Fail,
	} {
		res, out := play(t, newFake(t), `{setup: [{set: {partner: {apiKey: revoked}}}], steps: [{`+step+`}]}`, Options{})
		if got := res.Files[0]; got.Status != want {
			t.Errorf("%s: got %s %q, want %s\n%s", step, got.Status, got.Reason, want, out)
		}
	}
}

// TestNamesThatComeTooLate: a reference to what only a later step defines says so, and an id that doesn't exist is followed by
// the nearest that does.
func TestNamesThatComeTooLate(t *testing.T) {
	t.Parallel()
	for steps, want := range map[string]string{
		`{present: {person: kim, door: dor_1}}, {permit: {person: kim, place: "\"plc_1\""}}`: "kim has no value yet",
		`{command: {door: store}}, {cohort: {name: store, boards: 1}}`:                       "store has no value yet",
		`{boards: {of: store, all: online}}, {cohort: {name: store, boards: 1}}`:             "store has no value yet",
		`{command: {door: dor_11, outcome: reported}}`:                                       `no door "dor_11" in the target, did you mean "dor_1"?`,
		`{synced: {of: brd_11}}`:                       `no board "brd_11" in the target, did you mean "brd_1"?`,
		`{permit: {person: kim, place: "\"plc_11\""}}`: `no place "plc_11" in the target, did you mean "plc_1"?`,
	} {
		res, out := play(t, newFake(t), `steps: [`+steps+`]`, Options{})
		if got := res.Files[0]; got.Status != judge.Blocked || !strings.Contains(got.Reason, want) {
			t.Errorf("%s: got %s %q, want BLOCKED: %s\n%s", steps, got.Status, got.Reason, want, out)
		}
	}
}

// TestOfflineAfterClear: who expects an answer from a board right after its line was repaired hears that synced waits for it;
// who expects one while a fault is armed doesn't.
func TestOfflineAfterClear(t *testing.T) {
	t.Parallel()
	for steps, want := range map[string]bool{
		`{fault: {fault: offline, name: cut, of: brd_1}}, {clear: cut}, {command: {door: dor_1, key: away, outcome: reported}}`: true,
		`{fault: {fault: offline, name: cut, of: brd_1}}, {command: {door: dor_1, key: away, outcome: reported}}`:               false,
		`{command: {door: dor_1, key: away, outcome: reported}}`:                                                                false,
	} {
		f := newFake(t)
		f.away409 = true
		res, out := play(t, f, `steps: [`+steps+`]`, Options{})
		if got := res.Files[0]; got.Status != judge.Fail || strings.Contains(got.Reason, "synced waits until a board is back") != want {
			t.Errorf("%s: got %s %q, want FAIL, with a hint: %v\n%s", steps, got.Status, got.Reason, want, out)
		}
	}
}

// TestRowNames: a row's name has the values of its columns where the step's title has templates.
func TestRowNames(t *testing.T) {
	t.Parallel()
	if got, want := rowName("permit ${name} for ${row.hours} ${uid('x')}", map[string]any{"name": "a", "hours": 24}, nil, 0), "permit a for 24 ${uid('x')} [hours=24 name=a]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := rowName("command k${row}", map[string]any{}, 3, 0), "command k3 [3]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPlaceForItsBoards: a place's id stands for its boards.
func TestPlaceForItsBoards(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	res, out := play(t, f, `setup: [{cohort: {name: shop, from: plc_1}}]
steps: [{boards: {of: plc_1, all: online}, expect: count == 1}, {command: {door: shop, outcome: reported}}]`, Options{})
	if got := res.Files[0]; got.Status != judge.Pass || f.asked("/devices/dor_1/commands") != 1 {
		t.Errorf("got %s %q, want PASS, with one command to dor_1\n%s", got.Status, got.Reason, out)
	}
}
