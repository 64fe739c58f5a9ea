package engine

import (
	"errors"
	"strings"
	"testing"
)

// TestHurlWords: whoever writes what hurl would want, or a verb by another name, is told how it is written here, and nothing
// else.
func TestHurlWords(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"steps:\n  - get: /a":                                        `one.yaml:2:5: unknown key "get", use call: {method: GET, path: /...}`,
		"steps:\n  - POST: /a":                                       `one.yaml:2:5: unknown key "POST", use call: {method: POST, path: /...}`,
		"steps:\n  - call: {path: /a}\n    status: 409":              `one.yaml:3:5: unknown key "status"; it belongs inside the verb, as in call: {path: /..., status: 409}; or use expect: status == 409`,
		"steps:\n  - call: {path: /a}\n    Asserts: [status == 409]": `one.yaml:3:5: unknown key "Asserts", use expect: status == 409`,
		"steps:\n  - call: {path: /a}\n    captures: {id: data.id}":  `one.yaml:3:5: unknown key "captures", use capture: {name: data.permitId}`,
		"steps:\n  - call: {path: /a}\n    body: {n: 1}":             `one.yaml:3:5: unknown key "body"; it belongs inside call, as in call: {method: POST, path: /..., body: {...}}`,
		"steps:\n  - call: {path: /a, expect: status == 409}":        `one.yaml:2:22: unknown key "expect"; put expect beside call, not inside it`,
		"steps:\n  - call: {path: /a, asserts: [status == 409]}":     `one.yaml:2:22: unknown key "asserts", use expect beside call, not inside it`,
		"steps:\n  - call: {path: /a, header: {A: b}}":               `one.yaml:2:22: unknown key "header", use headers: {Name: value}`,
		"steps:\n  - call: {path: /a}\n    error: device_offline":    `one.yaml:3:5: unknown key "error"; it belongs inside the verb, as in call: {path: /..., status: 409, error: device_offline}`,
		"steps:\n  - call: {path: /a, statuss: 409}":                 `one.yaml:2:22: unknown key "statuss", did you mean "status"?`,
		"steps:\n  - open: {door: x}":                                `one.yaml:2:5: unknown key "open", use command: {door: ..., command: open}`,
		"steps:\n  - sleep: 5s":                                      `one.yaml:2:5: unknown key "sleep", use pause: 5s, or clock: {advance: 5s} to move the lab's time`,
		"steps:\n  - advance: 36h":                                   `one.yaml:2:5: unknown key "advance", use clock: {advance: 36h}`,
		"steps:\n  - call: {path: /a}\n    result: denied":           `one.yaml:3:5: unknown key "result"; it belongs inside the verb, as in present: {person: ..., door: ..., result: denied, reason: expired}`,
		"steps:\n  - teleport: {door: x}":                            `one.yaml:2:5: unknown key "teleport"; docs/scenarios.md lists the verbs, and 'doorlab schema' prints them all`,
		"steps:\n  - freeze: now":                                    `one.yaml:2:5: unknown key "freeze", use clock: freeze`,
		"steps:\n  - cut: x":                                         `one.yaml:2:5: unknown key "cut", use fault: {fault: offline, of: ...}`,
		"steps:\n  - halfopen: x":                                    `one.yaml:2:5: unknown key "halfopen", use fault: {fault: halfopen, of: ...}`,
		"steps:\n  - call: /a":                                       `one.yaml:2:11: expected a mapping such as {path: ...}, found "/a"`,
		"steps:\n  - call: {path: /a}\n    retry: 3":                 `one.yaml:3:5: unknown key "retry", use within: 10s`,
		"steps:\n  - call: {path: /a}\n    expct: status == 409":     `one.yaml:3:5: unknown key "expct", did you mean "expect"?`,
	} {
		_, err := Parse("one.yaml", []byte(source))
		var ps Problems
		if !errors.As(err, &ps) || len(ps) != 1 || !strings.HasPrefix(err.Error(), want+"\n") {
			t.Errorf("%q\ngot  %v\nwant %s, and nothing else", source, err, want)
		}
	}
}
