package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/faults"
)

// methods are what people who know hurl begin a request with.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// inCall are the keys of call that people put beside it.
var inCall = []string{"method", "path", "url", "headers", "header", "body", "raw"}

// HintKey implements strictyaml.KeyHinter, for those who know hurl.
func (*Step) HintKey(wrong string) string {
	key := strings.ToLower(wrong)
	switch {
	case slices.Contains(methods, strings.ToUpper(key)):
		return fmt.Sprintf(", use call: {method: %s, path: /...}", strings.ToUpper(key))
	case key == "status" || key == "http":
		return "; it belongs inside the verb, as in call: {path: /..., status: 409}; or use expect: status == 409"
	case slices.Contains(inCall, key):
		return "; it belongs inside call, as in call: {method: POST, path: /..., body: {...}}"
	case key == "error" || key == "match":
		return "; it belongs inside the verb, as in call: {path: /..., status: 409, error: device_offline}"
	case key == "assert" || key == "asserts" || key == "test" || key == "tests":
		return ", use expect: status == 409"
	case key == "captures" || key == "extract":
		return ", use capture: {name: data.permitId}"
	case key == "retry" || key == "retries":
		return ", use within: 10s"
	}
	return hintVerb(key)
}

// hintVerb names the verb for what people call by a word of their own.
func hintVerb(key string) string {
	switch {
	case key == "open" || key == "hold" || key == "close":
		return fmt.Sprintf(", use command: {door: ..., command: %s}", key)
	case key == "sleep" || key == "delay":
		return ", use pause: 5s, or clock: {advance: 5s} to move the lab's time"
	case key == "advance" || key == "jump":
		return ", use clock: {advance: 36h}"
	case key == "freeze" || key == "run":
		return ", use clock: " + key
	case key == "cut" || key == "disconnect":
		return ", use fault: {fault: offline, of: ...}"
	case slices.Contains(faults.Names(), key):
		return fmt.Sprintf(", use fault: {fault: %s, of: ...}", key)
	}
	return ""
}

// HintKey implements strictyaml.KeyHinter.
func (*Call) HintKey(wrong string) string {
	switch key := strings.ToLower(wrong); key {
	case "url":
		return ", use path: only the path and the query"
	case "header":
		return ", use headers: {Name: value}"
	case "assert", "asserts":
		return ", use expect beside call, not inside it"
	case "captures":
		return ", use capture beside call, not inside it"
	case "expect", "capture", "within":
		return fmt.Sprintf("; put %s beside call, not inside it", key)
	}
	return ""
}
