package explore

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
)

// A scenario file is made of these values: string, plain, int, int64, bool, nil,
// []any and fields.
type (
	plain  string   // written without quotes
	fields []any    // name, value, name, value, ...
	list   []any    // a list in brackets
	step   struct { // one step of a scenario
		verb    string
		args    any
		name    string
		cond    string // if
		expect  []string
		capture fields
		within  string
		clauses []string // none for people at doors: what they show depends on what was drawn before
	}
)

// word is text that YAML reads as text even without quotes.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// isOther lists words that some version of YAML doesn't read as text.
var isOther = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

// flow writes a value in YAML's flow style.
func flow(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case plain:
		return string(v)
	case string:
		if word.MatchString(v) && !isOther[strings.ToLower(v)] {
			return v
		}
		return strconv.Quote(v)
	case list:
		return texts(each.Of(v, flow))
	case fields:
		var out []string
		for i := 0; i < len(v); i += 2 {
			out = append(out, v[i].(string)+": "+flow(v[i+1]))
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// write adds the step to a file.
func (s *step) write(b *strings.Builder) {
	var lines []string
	if s.name != "" {
		lines = append(lines, "name: "+flow(s.name))
	}
	if s.verb != "" {
		lines = append(lines, s.verb+": "+flow(s.args))
	}
	if s.cond != "" {
		lines = append(lines, "if: "+s.cond)
	}
	switch len(s.expect) {
	case 0:
	case 1: // YAML takes one without a list
		lines = append(lines, "expect: "+quoted(s.expect[0]))
	default:
		lines = append(lines, "expect:")
		for _, e := range s.expect {
			lines = append(lines, "  - "+quoted(e))
		}
	}
	if len(s.capture) > 0 {
		lines = append(lines, "capture: "+flow(s.capture))
	}
	if s.within != "" {
		lines = append(lines, "within: "+s.within)
	}
	if len(s.clauses) > 0 {
		lines = append(lines, "clauses: ["+strings.Join(s.clauses, ", ")+"]")
	}
	for i, l := range lines {
		lead := "    "
		if i == 0 {
			lead = "  - "
		}
		b.WriteString(lead + l + "\n")
	}
}

// unused drops captures that no other step uses: the steps they were for may have been removed.
func unused(steps []*step) {
	said := map[string]int{}
	for _, s := range steps {
		for _, n := range identifier.FindAllString(flow(s.args)+" "+strings.Join(s.expect, " "), -1) {
			said[n]++
		}
		for i := 1; i < len(s.capture); i += 2 {
			for _, n := range identifier.FindAllString(fmt.Sprint(s.capture[i]), -1) {
				said[n]++
			}
		}
	}
	for _, s := range steps {
		var kept fields
		for i := 0; i < len(s.capture); i += 2 {
			if said[s.capture[i].(string)] > 0 {
				kept = append(kept, s.capture[i], s.capture[i+1])
			}
		}
		s.capture = kept
	}
}

var identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// quoted writes an expression: single quotes leave its own double ones readable.
func quoted(e string) string { return "'" + strings.ReplaceAll(e, "'", "''") + "'" }

// span writes milliseconds as a duration of the scenario language: 36h0m0.001s is 36h1ms.
func span(ms int64) string {
	if ms == 0 {
		return "0s"
	}
	out := ""
	for _, u := range []struct {
		name string
		ms   int64
	}{{"h", hour}, {"m", minute}, {"s", second}, {"ms", 1}} {
		if n := ms / u.ms; n > 0 {
			out += strconv.FormatInt(n, 10) + u.name
			ms %= u.ms
		}
	}
	return out
}

// moment is a time of the model as a scenario says it.
func moment(ms int64) string {
	switch {
	case ms < 0:
		return "start-" + span(-ms)
	case ms == 0:
		return "start"
	}
	return "start+" + span(ms)
}

// at is a time of the model in an expression: RFC 3339, as the API writes times.
func at(ms int64) string { return fmt.Sprintf("at(%q)", moment(ms)) }

// stamp is a time of the model as a template.
func stamp(ms int64) string { return "${" + at(ms) + "}" }
