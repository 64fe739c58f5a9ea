package evidence

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// always are results that are never absent.
var always = SetOf(`it status body headers replayed ms count lines records events boards answers answered same statuses fresh sent outcomes results reasons`)

// statuses are those that requests get, and a few that none gets.
var statuses = []int{200, 204, 301, 400, 401, 403, 404, 405, 409, 429, 500, 502, 503, 504}

// others are values that part of an answer could have had instead. They are made one by one, because one of the first breaks
// most expectations, and there are thousands of them for a long list.
func others(p spot, v any, k known, env map[string]any) iter.Seq[any] {
	switch name := p.last(); {
	case (name == "status" || name == "statusCode") && !isText(v): // a row of an import has a status in words
		return slices.Values(each.Of(statuses, func(s int) any { return as(v, float64(s)) }))
	case name == "statuses" && len(p) == 1:
		list, _ := v.([]any)
		return slices.Values(otherStatuses(list))
	case name == "ms":
		return slices.Values(numbers(v, cmp.Or(k.slowest, slowest), k))
	case tallied[name] && (name != "count" || len(p) == 1):
		n, _ := expression.Number(v)
		return slices.Values(numbers(v, mostTimes*n+mostMore, k))
	case name == "it" && len(p) == 1:
		return wholes(v, k, env)
	case name == "fresh" && len(p) == 1:
		answers, _ := env["answers"].([]any)
		return slices.Values(numbers(v, float64(len(answers)), k))
	}
	if p[0] == "headers" && len(p) == 2 && !tellsHeader(p.last()) {
		return slices.Values[[]any](nil)
	}
	out := k.others(p.last(), v, 3)
	if len(p) == 1 && (p[0] == "headers" || p[0] == "data" && succeeded(env)) { // neither is ever missing, or a list instead of an object
		return unless(out, func(o any) bool {
			return reflect.TypeOf(o) != reflect.TypeOf(v) || p[0] == "headers" && size(o) == 0
		})
	}
	if p[0] == "headers" && len(p) == 2 && everyHas[p.last()] {
		return unless(out, func(o any) bool { return o == "" || o == nil || o == "0" })
	}
	if p[0] == "headers" && p.last() == "Content-Type" && strings.HasPrefix(expression.Show(v), "application/json") {
		return slices.Values([]any{"application/problem+json", "application/json" + nonsense})
	}
	if issued[p.last()] {
		return unless(out, func(o any) bool { return o == "" || o == nil })
	}
	if tally[p.last()] && len(p) == 1 {
		out = inTurn(out, slices.Values(tallies(v)))
	}
	if len(p) == 1 && (p.last() == "body" || tally[p.last()]) {
		out = unless(out, func(o any) bool { m, ok := o.(map[string]any); return ok && len(m) == 0 })
	}
	if len(p) == 1 && perRequest[p.last()] {
		out = unless(out, func(o any) bool { return size(o) != size(v) })
	}
	if s, _ := v.(string); !k.Search && (len(p) > 1 || !always[p.last()]) && k.words.of(p.last(), s) == nil {
		out = inTurn(out, slices.Values([]any{nil}))
	}
	return out
}

// otherStatuses are other lists of statuses: of many, a few at either end are others; in the middle, single ones with one
// other status.
func otherStatuses(list []any) (out []any) {
	for k, s := range statuses {
		all := slices.Clone(list)
		for i := range all {
			all[i] = as(all[i], float64(s))
			end := i < few || i >= len(all)-few
			if end || k < 2 {
				out = append(out, put(list, spot{i}, all[i]))
			}
			if end {
				out = append(out, slices.Clone(all))
			}
		}
	}
	return out
}

// inTurn has all values of one sequence after those of another.
func inTurn(seqs ...iter.Seq[any]) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, seq := range seqs {
			for v := range seq {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// unless leaves values out.
func unless(seq iter.Seq[any], out func(any) bool) iter.Seq[any] {
	return func(yield func(any) bool) {
		for v := range seq {
			if !out(v) && !yield(v) {
				return
			}
		}
	}
}

func isText(v any) bool { _, is := v.(string); return is }

// succeeded reports whether the answer is a success; that it then has data is checked against the documents in any
// case.
func succeeded(env map[string]any) bool {
	status, err := expression.Number(env["status"])
	return err == nil && status == 200
}

// slowest is how long an answer may take, in ms: that it took less than 15 s says nothing, as a command without a
// report is answered after 8 s and nearly every server that answers at all is faster. A step that waits longer itself
// has its own limit.
const slowest = 14_999

// tallied are numbers that say how many of something there are.
var tallied = SetOf(`count total bufferedRecords droppedRecords useCount replays`)

// mostTimes and mostMore bound how many more there might have been: that there are at most ten where one is expected says
// nothing.
const mostTimes, mostMore = 4, 4

// everyHas are headers without which no answer is accepted, or which the protocol gives every answer.
var everyHas = SetOf(`X-Request-Id X-Place-Kind Date Content-Length`)

// issued are parts of a key: a step that got none is BLOCKED.
var issued = SetOf(`keyId apiKey`)

// perRequest are results with one element per request, whatever the answers.
var perRequest = SetOf(`answers statuses`)

func size(v any) int {
	if m, ok := v.(map[string]any); ok {
		return len(m)
	}
	l, _ := v.([]any)
	return len(l)
}

// tally are results that count words: at least one.
var tally = SetOf(`results reasons`)

// tallies are results with one more word, and with only one.
func tallies(v any) (out []any) {
	words, _ := v.(map[string]any)
	for _, w := range sortedKeys(words) {
		return []any{put(words, spot{nonsense}, words[w]), map[string]any{w: words[w]}}
	}
	return nil
}

// nonsense is a text that no expectation speaks of.
const nonsense = "~?"

// different are different values of the same kind, or of any kind for nil. Deeper than depth, single values still change,
// in the first element of a list; nothing is absent there.
func different(v any, k known, depth int) iter.Seq[any] {
	switch x := v.(type) {
	case []any:
		return lists(x, k, depth)
	case map[string]any:
		return mappings(x, k, depth)
	}
	return func(yield func(any) bool) { slices.Values(single(v, k))(yield) } // not before it is asked for
}

// single is different for what is neither a list nor an object.
func single(v any, k known) (out []any) {
	switch x := v.(type) {
	case nil:
		out = append([]any{nonsense, "", 1.0, 0.0, true, false, []any{}, []any{nonsense}, map[string]any{}}, k.Values...)
		return append(out, each.Of(k.Values, func(c any) any { return k.element(c) })...)
	case bool:
		return []any{!x}
	case string:
		return texts(x, k)
	}
	if _, err := expression.Number(v); err == nil {
		return numbers(v, 0, k)
	}
	if t := reflect.TypeOf(v); t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		return []any{reflect.Zero(t).Interface()}
	}
	return nil
}

// farther is how far beyond a number named by a constant the alternatives go.
const farther = 1000

// numbers are numbers other than v: small ones, its neighbours, and the neighbours of what the expression compares it
// with. Non-negative values stay non-negative. most 0 = no bound.
func numbers(v any, most float64, k known) (out []any) {
	n, err := expression.Number(v)
	if err != nil {
		n = 0
	}
	near := []float64{0, 1, 2, n - 1, n + 1, 2*n + 1, n + 1000, n / 2}
	reach := max(farther*max(n, -n), 1e6)
	for _, c := range k.Values {
		if f, err := expression.Number(c); err == nil && f <= reach && f >= -reach {
			near = append(near, f-1, f, f+1)
		}
	}
	for _, f := range near {
		if f == n || n >= 0 && f < 0 || most > 0 && f > most {
			continue
		}
		out = append(out, as(v, f))
	}
	return out
}

// as converts a number to the type of another.
func as(like any, f float64) any {
	switch like.(type) {
	case int:
		return int(f)
	case int64:
		return int64(f)
	}
	return f
}

// mostChanged bounds how many elements of a list are changed at once.
const mostChanged = 200

func lists(l []any, k known, depth int) iter.Seq[any] {
	if len(l) == 0 {
		return func(yield func(any) bool) { slices.Values(filled(k))(yield) }
	}
	whole := func(yield func(any) bool) {
		out := []any{[]any{}, l[:len(l)-1], append(slices.Clone(l), l[0])}
		out = append(out, k.longer(len(l), l[0])...)
		out = append(out, each.If(k.Values, func(c any) bool { _, list := c.([]any); return list })...)
		slices.Values(out)(yield)
	}
	first := putEach(l, spot{0}, k.elements(l[0], depth-1))
	if depth <= 0 {
		return inTurn(whole, first)
	}
	last := putEach(l, spot{len(l) - 1}, k.elements(l[len(l)-1], depth-1))
	return inTurn(whole, first, last, func(yield func(any) bool) {
		ways := make([][]any, min(len(l), mostChanged))
		for i := range ways {
			ways[i] = slices.Collect(k.elements(l[i], depth-1))
		}
		for way := range len(ways[0]) { // every element in the same way
			all := slices.Clone(l)
			for i, w := range ways {
				if len(w) > 0 {
					all[i] = w[way%len(w)]
				}
			}
			if !yield(all) {
				return
			}
		}
	})
}

// filled are lists in place of an empty one.
func filled(k known) []any {
	out := []any{[]any{}}
	for _, c := range append([]any{nonsense, 1.0}, k.Values...) {
		out = append(out, []any{c}, []any{k.element(c)})
	}
	out = append(out, each.Of(k.fitting(), func(e any) any { return []any{e} })...)
	return append(out, k.longer(0, k.element(nonsense))...)
}

// few is how many elements a list may well have that has n now: up to farther would be too much work.
const few = 20

// longer are lists of as many elements as a small number that the expression compares something with, and of one more.
func (k known) longer(n int, element any) (out []any) {
	for _, c := range k.Values {
		if f, err := expression.Number(c); err == nil && f > float64(n) && f <= few {
			out = append(out, slices.Repeat([]any{element}, int(f)), slices.Repeat([]any{element}, int(f)+1))
		}
	}
	return out
}

// elements are different values for an element of a list; an object in it always has its fields.
func (k known) elements(v any, depth int) iter.Seq[any] {
	return unless(different(v, k, depth), func(o any) bool {
		m, object := o.(map[string]any)
		_, was := v.(map[string]any)
		return was && object && len(m) == 0
	})
}

func mappings(m map[string]any, k known, depth int) iter.Seq[any] {
	return func(yield func(any) bool) {
		var whole []any
		if depth >= 0 {
			whole = append(whole, map[string]any{})
		}
		whole = append(whole, each.If(k.Values, func(c any) bool { _, object := c.(map[string]any); return object })...)
		seqs := []iter.Seq[any]{slices.Values(whole)}
		for _, name := range sortedKeys(m) {
			values := k.others(name, m[name], depth-1)
			s, _ := m[name].(string)
			_, yesNo := m[name].(bool)
			if depth > 0 && !k.Search && !yesNo && k.words.of(name, s) == nil { // those are never absent
				values = inTurn(values, slices.Values([]any{nil}))
			}
			seqs = append(seqs, putEach(m, spot{name}, values))
		}
		inTurn(seqs...)(yield)
	}
}

// known is what is known about the values that an expression expects.
type known struct {
	expression.Mentions
	words   Words   // of fields that have a closed list
	slowest float64 // as in View
}
