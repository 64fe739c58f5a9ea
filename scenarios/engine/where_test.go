package engine

import (
	"fmt"
	"testing"
)

// TestWhere: a step that decides or looks says where; any other may show a promise anywhere.
func TestWhere(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]string{
		`{command: {door: "\"dor_1\""}}`:                                               "[dor_1] [] [] true",
		`{present: {phone: "01011112222", door: "\"dor_2\""}}`:                         "[dor_2] [] [] true",
		`{phone: {from: "01012340001", to: "0212345678"}}`:                             "[] [] [] true",
		`{permit: {person: ann, place: one}}`:                                          "anywhere",
		`{journal: {of: "\"dor_2\"", atLeast: 0}}`:                                     "[dor_2] [] [] false",
		`{journal: {of: "\"brd_1\"", atLeast: 0}}`:                                     "[] [brd_1] [] false",
		`{boards: {of: one, all: online}}`:                                             "[] [brd_1] [] false",
		`{synced: {of: one}}`:                                                          "[] [brd_1] [] false",
		`{records: {place: one, atLeast: 0}}`:                                          "[] [] [plc_1] false",
		`{records: {place: one, door: "\"dor_1\"", atLeast: 0}}`:                       "[dor_1] [] [plc_1] false",
		`{boards: {all: online}}`:                                                      "anywhere",
		`{call: {path: /echo}}`:                                                        "anywhere",
		`{call: {path: /device/v1/devices/dor_2, status: 404}}`:                        "[dor_2] [] [] false",
		`{call: {path: /device/v1/boards/brd_1/netloss}, expect: data.graceSec == 60}`: "[] [brd_1] [] false",
		`{call: {path: /device/v1/devices, status: 404}}`:                              "anywhere",
		`{link: {token: x, status: 404}}`:                                              "anywhere",
		`{link: {token: x, door: "\"dor_1\"", status: 404}}`:                           "[dor_1] [] [] true",
	} {
		res, out := play(t, newFake(t), "setup: [{cohort: {name: one, boards: 1}}]\nsteps: ["+step+"]", Options{})
		steps, got := res.Files[0].Steps, "anywhere"
		if w := steps[len(steps)-1].Where; w != nil {
			got = fmt.Sprint(w.Doors, w.Boards, w.Places, w.Decides)
		}
		if got != want {
			t.Errorf("%s: at %s, want %s\n%s", step, got, want, out)
		}
	}
}

// TestPlain: a step is plain if it says no more than that a command, a press, a call or a presentation succeeds.
func TestPlain(t *testing.T) {
	t.Parallel()
	after := map[string]string{"command: {door: a}, capture: {x: data}": "{log: '${x}'}, ", "command: {door: a}, background: b": "{wait: b}, "}
	for step, want := range map[string]bool{
		"command: {door: a}": true,
		"command: {door: a, outcome: reported, status: 200}":                      true,
		"command: {door: a, outcome: offline}":                                    false,
		"command: {door: a, status: 409}":                                         false,
		"command: {door: a, error: device_offline}":                               false,
		"command: {door: a, match: {data: {outcome: reported}}}":                  false,
		"command: {door: a}, expect: ms < 900":                                    true,
		"command: {door: a}, capture: {x: data}":                                  false,
		"command: {door: a}, background: b":                                       false,
		"link: {person: p, door: a}":                                              true,
		"link: {person: p, door: a, status: 404}":                                 false,
		"phone: {person: p, result: opened}":                                      true,
		"phone: {person: p, answered: false}":                                     false,
		"present: {person: p, door: a, result: opened}":                           true,
		"present: {person: p, door: a, result: denied}":                           false,
		"present: {person: p, door: a, result: opened, reason: onsite}":           false,
		"call: {path: /device/v1/devices}":                                        false,
		"command: {door: a}, expect: 'status == 200'":                             true,
		"command: {door: a}, expect: 'data.outcome == \"reported\" and ms < 900'": true,
		"command: {door: a}, expect: ['status == 200', 'data.commandId != \"\"']": false,
		"command: {door: a, status: 409}, expect: 'status == 409'":                false,
		"group: [{command: {door: a}}, {log: x}]":                                 true,
		"group: [{command: {door: a}}, {journal: {of: a}, expect: count == 1}]":   false,
		"parallel: [{command: {door: a}}, {phone: {person: p, result: opened}}]":  true,
		"wait: before":                          true,
		"wait: before, expect: 'status == 200'": true,
		"wait: before, expect: 'data.x == 1'":   false,
	} {
		f, err := Parse("one.yaml", []byte("setup: [{cohort: {name: a}}, {permit: {person: p, place: a}}, {command: {door: a}, background: before}]\nsteps: [{"+step+"}, "+after[step]+"{log: x}]"))
		if f == nil {
			t.Fatalf("%s: %v", step, err)
		}
		if got := f.Doc.Steps[0].plain(); got != want {
			t.Errorf("%s: got plain %t, want %t", step, got, want)
		}
	}
}
