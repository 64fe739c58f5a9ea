package engine

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/mask"
)

// TestArguments: what is written down as an argument of a built-in function is checked before anything runs.
func TestArguments(t *testing.T) {
	t.Parallel()
	for expectation, want := range map[string]string{
		`data.at >= at("nosuch")`:                      `no mark "nosuch" in this file`,
		`data.at >= at("cut+1h")`:                      "",
		`data.at >= at("2026-01-01T00:00:00Z")`:        "",
		`data.at >= at("now-" + data.n)`:               "",
		`data.at >= at("36 hours")`:                    `"36 hours" is not a valid moment`,
		`data.at >= at(5)`:                             `at takes text, as in at("cut+36h")`,
		`data.ms >= label("nosuch")`:                   `no mark "nosuch" in this file`,
		`any(data.list, .at > at("nosuch"))`:           `no mark "nosuch" in this file`,
		`data.n == seconds(5)`:                         `seconds takes text, as in seconds("36h")`,
		`data.n == seconds("five")`:                    `"five" is not a valid duration`,
		`data.phone == phone(5)`:                       `phone takes text, as in phone("ann")`,
		`data.id == uid(5)`:                            `uid takes text`,
		`data.on == clock_change("Europe/Berlin","x")`: `"x" is not a valid direction, write forward or back`,
	} {
		problem(t, "steps: [{mark: cut}, {call: {path: /echo}, expect: '"+expectation+"'}]", want)
	}
	parse(t, `steps: [{mark: "cut${seed}"}, {call: {path: /echo}, expect: 'data.at >= at("cut1")'}]`) // known in the run
}

// TestMistakesOfTheFile: what the file gets wrong while it runs isn't the target's failure, and is told in its own words.
func TestMistakesOfTheFile(t *testing.T) {
	t.Parallel()
	for steps, want := range map[string]string{
		`{call: {path: /echo}, expect: 'data.name != at("later")'}, {mark: later}`:                    `the moment "later" has not been marked yet`,
		`{set: {n: abc}}, {call: {path: '/echo/${row}'}, expect: data.n == 3, cases: '${1..n}'}`:      `cases: 1..n: text can't be the end of a range, only a whole number`,
		`{set: {l: "[1, 2]"}}, {call: {path: '/echo/${row}'}, expect: data.n == 3, cases: '${l}'}`:    `cases is not a list, but "[1, 2]"`,
		`{set: {n: 5}}, {call: {path: '/echo/${uid(n)}'}, expect: data.n == 3}`:                       `a number can't be an argument here, only text`,
		`{set: {way: up}}, {log: '${clock_change("Europe/Berlin", way)}'}, {call: {path: /echo}}`:     `"up" is not a valid direction`,
		`{set: {at1: nowhere}}, {log: '${at(at1)}'}, {call: {path: /echo}, expect: data.name == at1}`: `the moment "nowhere" has not been marked yet`,
	} {
		res, _ := play(t, newFake(t), "steps: ["+steps+"]", Options{})
		if f := res.Files[0]; f.Status != judge.Blocked || !strings.Contains(f.Reason, want) {
			t.Errorf("%s: got %s, %s; want BLOCKED, %s", steps, f.Status, f.Reason, want)
		}
	}
}

// TestCauses: a mistake is told once, and by its cause.
func TestCauses(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		`steps: [{call: {path: /echo}, expect: ""}]`:                             `the expression is empty; write a condition`,
		`steps: [{call: {path: '/echo/${}'}}]`:                                   `the expression is empty; write a condition`,
		`steps: [{cohort: {name: not, boards: 1}}, {call: {path: /echo}}]`:       `"not" is not a valid name: it is a word of the expression language`,
		`steps: [{call: {path: /echo}, capture: {a-b: data.n}}]`:                 `"a-b" is not a valid name: use only letters, digits and _`,
		`steps: [{call: {path: /echo}, capture: {in: data.n}}]`:                  `"in" is not a valid name: it is a word`,
		`steps: [{set: {or: 1}}, {call: {path: /echo}}]`:                         `"or" is not a valid name`,
		"vars: {a-b: 1}\nsteps: [{call: {path: /echo}}]":                         `"a-b" is not a valid name`,
		`steps: [{call: {path: /echo}, expect: data.n == 3, clauses: [auth-1]}]`: `no guarantee "auth-1", did you mean "AUTH-1"?`,
		"steps:\n  - &a {call: {path: /echo}}\n  - {<<: *a}":                     `unknown key "<<": merge keys aren't supported, anchors and aliases are`,
	} {
		_, err := Parse("one.yaml", []byte(file))
		ps, _ := errors.AsType[Problems](err)
		if err == nil || len(ps) > 1 && !strings.Contains(want, "<<") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want only %q", file, err, want)
		}
	}
}

// TestUid: whatever the file and the thing are called, the text fits an Idempotency-Key and a reference, and differs.
func TestUid(t *testing.T) {
	t.Parallel()
	fits, seen := regexp.MustCompile(`^[!-~]{1,128}$`), map[string]string{}
	for _, path := range []string{"doors.yaml", "my tür.yaml", "my_tür.yaml", strings.Repeat("long", 40) + ".yaml"} {
		f := &fileRun{run: newRun(Target{}, Options{}), file: &File{Path: path}}
		for _, name := range []string{"ann", "key/a b", "key/a_b", "schlüssel", strings.Repeat("n", 100), strings.Repeat("n", 101)} {
			id := f.uid(name)
			if of := path + " " + name; !fits.MatchString(id) || seen[id] != "" {
				t.Errorf("%s: got %q, also for %q; want another one that fits %s", of, id, seen[id], fits)
			}
			seen[id] = path + " " + name
		}
		for n := range 500 {
			if id := f.uid("ann" + strconv.Itoa(n)); mask.Text(id) != id {
				t.Fatalf("%s is masked as %s: the target and its reports take it for a phone", id, mask.Text(id))
			}
		}
		if id := f.uid("ann"); path == "doors.yaml" && !strings.HasPrefix(id, "doors-ann-") {
			t.Errorf("got %q, want it to begin with the names", id)
		}
	}
}
