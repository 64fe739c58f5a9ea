package engine

import (
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestPermitsOfAFile: how long the permits are that a file registers for all doors of a place.
func TestPermitsOfAFile(t *testing.T) {
	t.Parallel()
	for steps, want := range map[string]int{
		"permit: {person: ann, place: one}":                                                       73,
		"permit: {person: ann, place: one, to: +60h}":                                             61,
		"permit: {person: ann, place: one, to: cut+36h}":                                          37,
		"permit: {person: ann, place: one, from: start-1h, to: start+90m}":                        3,
		"permit: {person: ann, place: one, from: start-1h, to: +1h}":                              720,
		"permit: {person: ann, place: one, to: \"${end}\"}":                                       720,
		"permit: {person: ann, place: one, to: \"2026-10-01T00:00:00Z\"}":                         720,
		"permit: {person: ann, place: one, doors: one.doors}":                                     0,
		"bulk: {name: crowd, over: one, register: 8}":                                             73,
		"group: [{bulk: {name: crowd, over: one, register: 8, to: +1h}}, {command: {door: one}}]": 2,
		"call: {path: /space/v1/partner/entry-permits, body: {startsAt: now}}":                    720,
		"call: {path: /space/v1/partner/entry-permits/revoke, body: {externalRef: a}}":            0,
		"call: {path: /space/v1/partner/entry-permits}":                                           0,
	} {
		f, err := Parse("x.yaml", []byte("steps:\n  - mark: cut\n  - mark: start\n  - set: {end: 1}\n  - cohort: {name: one}\n  - "+steps+"\n"))
		if err != nil {
			t.Errorf("%s: %v", steps, err)
			continue
		}
		if got := f.permits(); got != want {
			t.Errorf("%s: got %d h, want %d", steps, got, want)
		}
	}
}

// TestSuits: the built-in suite chooses boards that it can work with, a user's file any.
func TestSuits(t *testing.T) {
	t.Parallel()
	set := &setting{}
	for id, max := range map[string]int{"dor_a": 720, "dor_b": 720, "dor_short": 48, "dor_inner": 720} {
		set.Doors = append(set.Doors, doorSetting{DoorID: id, Entry: id != "dor_inner", Max: max})
	}
	d := &directory{places: map[string]*Place{"plc_1": {PlaceID: "plc_1", APIKey: "x"}, "plc_keyless": {PlaceID: "plc_keyless"}}, set: map[string]*setting{"plc_1": set}}
	brief, lasting, one, all := &File{BuiltIn: true}, &File{BuiltIn: true}, &File{BuiltIn: true}, &File{BuiltIn: true}
	one.Doc.Needs.Doors, all.Doc.Needs = 1, Needs{Doors: 1, Entry: true}
	mine := &File{}
	mine.Doc.Needs.Doors = 2
	lasting.Doc.Steps = []Step{{Verbs: Verbs{Permit: &Permit{}}}}
	fits := boardInfo{placeID: "plc_1", doors: []string{"dor_a", "dor_b"}, channels: []int{1, 2}}
	for name, c := range map[string]struct {
		change func(*boardInfo)
		file   *File
		want   bool
	}{
		"as in the default world":        {func(*boardInfo) {}, brief, true},
		"a short maximum in the place":   {func(*boardInfo) {}, lasting, false},
		"one door":                       {func(b *boardInfo) { b.doors, b.channels = b.doors[:1], b.channels[:1] }, brief, false},
		"three doors":                    {func(b *boardInfo) { b.doors, b.channels = append(b.doors, "dor_c"), []int{1, 2, 3} }, brief, false},
		"other channels":                 {func(b *boardInfo) { b.channels = []int{9, 5} }, brief, false},
		"an inner door":                  {func(b *boardInfo) { b.doors = []string{"dor_a", "dor_inner"} }, brief, false},
		"a door with a maximum":          {func(b *boardInfo) { b.doors = []string{"dor_a", "dor_short"} }, brief, false},
		"a place without a key":          {func(b *boardInfo) { b.placeID = "plc_keyless" }, brief, false},
		"one door, for a file of a user": {func(b *boardInfo) { b.doors = b.doors[:1] }, &File{}, true},

		"one door where one is enough":            {func(b *boardInfo) { b.doors, b.channels = b.doors[:1], []int{9} }, one, true},
		"an inner door after it":                  {func(b *boardInfo) { b.doors = []string{"dor_a", "dor_inner"} }, one, true},
		"an inner door before it":                 {func(b *boardInfo) { b.doors = []string{"dor_inner", "dor_a"} }, one, false},
		"a maximum where one is enough":           {func(b *boardInfo) { b.doors = []string{"dor_short"} }, one, false},
		"an inner door where all let people in":   {func(b *boardInfo) { b.doors = []string{"dor_a", "dor_inner"} }, all, false},
		"three entry doors":                       {func(b *boardInfo) { b.doors = append(b.doors, "dor_c") }, all, true},
		"a user's file that needs two doors":      {func(b *boardInfo) { b.placeID = "plc_keyless" }, mine, true},
		"its board has one":                       {func(b *boardInfo) { b.doors = b.doors[:1] }, mine, false},
		"its board has an inner one":              {func(b *boardInfo) { b.doors = []string{"dor_a", "dor_inner"} }, mine, false},
		"its board has a door with a short limit": {func(b *boardInfo) { b.doors = []string{"dor_a", "dor_short"} }, mine, true},
	} {
		b := fits
		if c.change(&b); d.suits(c.file, &b) != c.want {
			t.Errorf("%s: got %v, want %v", name, !c.want, c.want)
		}
	}
}

// TestRefusedDefaultPeriod: that a door's maximum refuses the period that the engine chose breaks no guarantee. A refusal
// without that reason does, and so does that of a period which the file gives.
func TestRefusedDefaultPeriod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step    string
		maximum int
		want    judge.Status
	}{
		"a permit":                     {"permit: {person: ann, place: plc_1}", 48, judge.Blocked},
		"several":                      {"bulk: {name: crowd, over: '\"plc_1\"', register: 2}", 48, judge.Blocked},
		"a permit that is allowed":     {"permit: {person: ann, place: plc_1}", 720, judge.Fail},
		"several that are allowed":     {"bulk: {name: crowd, over: '\"plc_1\"', register: 2}", 73, judge.Fail},
		"a permit with an end":         {"permit: {person: ann, place: plc_1, to: +72h}", 48, judge.Fail},
		"several with an end":          {"bulk: {name: crowd, over: '\"plc_1\"', register: 2, to: +72h}", 48, judge.Fail},
		"a file that expected as much": {"permit: {person: ann, place: plc_1, status: 409, error: permit_period_too_long}", 48, judge.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.permit, f.maximum = 409, c.maximum
			ends(t, f, "steps:\n  - "+c.step+"\n  - call: {path: /echo}\n    expect: data.n == 3\n", c.want, "")
		})
	}
}

// TestRefusedPeriodIsTheLastRequest: the report of a refused permit shows its request last, not what was asked to explain it.
func TestRefusedPeriodIsTheLastRequest(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.permit, f.maximum = 409, 48
	res, out := play(t, f, `steps: [{permit: {person: ann, place: plc_1}}]`, Options{})
	asked := res.Files[0].Steps[0].Exchanges
	if len(asked) == 0 || asked[len(asked)-1].URL != "/space/v1/partner/entry-permits" {
		t.Errorf("the step's requests are %+v, want the permit's as the last\n%s", asked, out)
	}
}

// TestSpentFaults: a fault of others that has acted the n-th time isn't armed again.
func TestSpentFaults(t *testing.T) {
	t.Parallel()
	for want, list := range map[bool][]theirs{true: {{Nth: 1, Hits: 1}}, false: {{}, {Hits: 4}, {Nth: 3}}} {
		for _, f := range list {
			if f.spent() != want {
				t.Errorf("%+v: got %v, want %v", f, !want, want)
			}
		}
	}
}
