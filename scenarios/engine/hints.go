package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/faults"
)

// methods are what people who know hurl begin a request with.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// hint says what to write instead of some keys. KEY in its text is the one that was written.
type hint struct{ keys, text string }

// stepHints are for those who know hurl, put a key of call beside it, or have a word of their own for a verb.
var stepHints = []hint{
	{"status http", "; it belongs inside the verb, as in call: {path: /..., status: 409}; or use expect: status == 409"},
	{"method path url headers header body raw", "; it belongs inside call, as in call: {method: POST, path: /..., body: {...}}"},
	{"outcome", "; it belongs inside the verb, as in command: {door: ..., outcome: reported}"},
	{"result reason", "; it belongs inside the verb, as in present: {person: ..., door: ..., result: denied, reason: expired}"},
	{"error match", "; it belongs inside the verb, as in call: {path: /..., status: 409, error: device_offline}"},
	{"assert asserts test tests", ", use expect: status == 409"},
	{"captures extract", ", use capture: {name: data.permitId}"},
	{"retry retries", ", use within: 10s"},
	{"open hold close", ", use command: {door: ..., command: KEY}"},
	{"sleep delay", ", use pause: 5s, or clock: {advance: 5s} to move the lab's time"},
	{"advance jump", ", use clock: {advance: 36h}"},
	{"freeze run", ", use clock: KEY"},
	{"cut disconnect", ", use fault: {fault: offline, of: ...}"},
}

var callHints = []hint{
	{"url", ", use path: only the path and the query"},
	{"header", ", use headers: {Name: value}"},
	{"assert asserts", ", use expect beside call, not inside it"},
	{"captures", ", use capture beside call, not inside it"},
	{"expect capture within", "; put KEY beside call, not inside it"},
}

// hinted is the hint for a key, "" if there is none.
func hinted(hints []hint, key string) string {
	i := slices.IndexFunc(hints, func(h hint) bool { return slices.Contains(strings.Fields(h.keys), key) })
	if i < 0 {
		return ""
	}
	return strings.ReplaceAll(hints[i].text, "KEY", key)
}

// HintKey implements strictyaml.KeyHinter.
func (*Step) HintKey(wrong string) string {
	key := strings.ToLower(wrong)
	switch {
	case slices.Contains(methods, strings.ToUpper(key)):
		return fmt.Sprintf(", use call: {method: %s, path: /...}", strings.ToUpper(key))
	case slices.Contains(faults.Names(), key):
		return fmt.Sprintf(", use fault: {fault: %s, of: ...}", key)
	}
	return hinted(stepHints, key)
}

// WhereKeys implements strictyaml.KeyGuide.
func (*Step) WhereKeys() string {
	return "; docs/scenarios.md lists the verbs, and 'doorlab schema' prints them all"
}

// HintKey implements strictyaml.KeyHinter.
func (*Call) HintKey(wrong string) string { return hinted(callHints, strings.ToLower(wrong)) }
