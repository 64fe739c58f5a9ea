package engine

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// always are results that are never absent.
var always = fieldSet(`it status body headers replayed ms count lines records events boards answers answered same statuses fresh sent outcomes results reasons`)

// statuses are those that requests get, and a few that none gets.
var statuses = []int{200, 204, 301, 400, 401, 403, 404, 405, 409, 429, 500, 502, 503, 504}

// others are values that part of an answer could have had instead.
func others(p spot, v any, k known, env map[string]any) []any {
	var out []any
	switch name := p.last(); {
	case (name == "status" || name == "statusCode") && !isText(v): // a row of an import has a status in words
		for _, s := range statuses {
			out = append(out, as(v, float64(s)))
		}
		return out
	case name == "statuses" && len(p) == 1:
		for _, s := range statuses {
			list, _ := v.([]any)
			all := slices.Clone(list)
			for i := range all {
				all[i] = as(all[i], float64(s))
				out = append(out, put(list, spot{i}, all[i]), slices.Clone(all))
			}
		}
		return out
	case name == "ms":
		return numbers(v, slowest, k)
	case name == "count" && len(p) == 1:
		n, _ := number(v)
		return numbers(v, mostTimes*n+mostMore, k)
	case name == "it" && len(p) == 1:
		return wholes(v, k, env)
	case name == "fresh" && len(p) == 1:
		answers, _ := env["answers"].([]any)
		return numbers(v, float64(len(answers)), k)
	}
	if p[0] == "headers" && len(p) == 2 && !tellsHeader(p.last()) {
		return nil
	}
	out = k.others(p.last(), v, 3)
	if len(p) == 1 && (p[0] == "headers" || p[0] == "data" && succeeded(env)) { // neither is ever missing, or a list instead of an object
		return slices.DeleteFunc(out, func(o any) bool {
			return reflect.TypeOf(o) != reflect.TypeOf(v) || p[0] == "headers" && size(o) == 0
		})
	}
	if p[0] == "headers" && len(p) == 2 && everyHas[p.last()] {
		return slices.DeleteFunc(out, func(o any) bool { return o == "" || o == nil })
	}
	if p[0] == "headers" && p.last() == "Content-Type" && strings.HasPrefix(show(v), "application/json") {
		return []any{"application/problem+json", "application/json" + nonsense}
	}
	if issued[p.last()] {
		return slices.DeleteFunc(out, func(o any) bool { return o == "" || o == nil })
	}
	if len(p) == 1 && p.last() == "body" {
		out = slices.DeleteFunc(out, func(o any) bool { m, ok := o.(map[string]any); return ok && len(m) == 0 })
	}
	if len(p) == 1 && each[p.last()] {
		out = slices.DeleteFunc(out, func(o any) bool { return size(o) != size(v) })
	}
	if s, _ := v.(string); !k.text && (len(p) > 1 || !always[p.last()]) && k.words.of(p.last(), s) == nil {
		out = append(out, nil)
	}
	return out
}

func isText(v any) bool { _, is := v.(string); return is }

// succeeded reports whether the answer is a success; that it then has data is checked against the documents in any case.
func succeeded(env map[string]any) bool {
	status, err := number(env["status"])
	return err == nil && status == 200
}

// slowest is how long an answer may take, in ms: that it took less than 15 s says nothing, as a command without a
// report is answered after 8 s and nearly every server that answers at all is faster.
const slowest = 14_999

// mostTimes and mostMore bound how many more elements a list might have had: that there are fewer than a thousand where
// one is expected says nothing.
const mostTimes, mostMore = 10, 20

// everyHas are headers without which no answer is accepted, or which the protocol gives every answer.
var everyHas = fieldSet(`X-Request-Id X-Place-Kind Date Content-Length`)

// issued are parts of a key: a step that got none is BLOCKED.
var issued = fieldSet(`keyId apiKey`)

// each are results with one element per request, whatever the answers.
var each = fieldSet(`answers statuses`)

func size(v any) int {
	if m, ok := v.(map[string]any); ok {
		return len(m)
	}
	l, _ := v.([]any)
	return len(l)
}

// listed are the results of the verbs that read lists. Such a verb has no other result but the list's length and ends.
var listed = []string{"records", "events", "lines", "boards"}

// settled makes what the engine derives from a list agree with the list, or the list with a changed length, and the body
// of an answer with its parts.
func settled(env, was map[string]any) map[string]any {
	env = oneBody(env, was)
	for _, name := range listed {
		list, ok := env[name].([]any)
		before, _ := was[name].([]any)
		count, err := number(env["count"])
		if _, counts := was["count"]; !ok || !counts || err != nil {
			continue
		}
		if n := int(count); len(list) == len(before) && n != len(list) && n >= 0 && n <= maxSettled {
			for more := any(map[string]any{}); len(list) < n; {
				if len(list) > 0 {
					more = list[0]
				}
				list = append(slices.Clip(list), more)
			}
			list = list[:min(n, len(list))]
		}
		out := maps.Clone(env)
		out[name], out["count"] = list, as(was["count"], float64(len(list)))
		ends := map[string]int{"first": 0, "last": len(list) - 1}
		for _, end := range keysOf(ends) {
			if _, there := was[end]; there && len(list) > 0 && !reflect.DeepEqual(env[end], was[end]) { // the end itself was changed
				list, _ = put(list, spot{ends[end]}, env[end]).([]any)
			}
		}
		out[name] = list
		for end, i := range ends {
			if len(list) == 0 {
				delete(out, end)
			} else {
				out[end] = list[i]
			}
		}
		return out
	}
	return env
}

// maxSettled bounds the length that a list is given.
const maxSettled = 2000

// nonsense is a text that no expectation speaks of.
const nonsense = "~?"

// different are different values of the same kind, or of any kind for nil.
func different(v any, k known, depth int) (out []any) {
	switch x := v.(type) {
	case nil:
		out = []any{nonsense, "", 1.0, 0.0, true, false, []any{}, []any{nonsense}, map[string]any{}}
		return append(out, k.values...)
	case bool:
		return []any{!x}
	case string:
		return texts(x, k)
	case []any:
		return lists(x, k, depth)
	case map[string]any:
		return mappings(x, k, depth)
	}
	if _, err := number(v); err == nil {
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
	n, err := number(v)
	if err != nil {
		n = 0
	}
	near := []float64{0, 1, 2, n - 1, n + 1, 2*n + 1, n + 1000, n / 2}
	reach := max(farther*max(n, -n), 1e6)
	for _, c := range k.values {
		if f, err := number(c); err == nil && f <= reach && f >= -reach {
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

func lists(l []any, k known, depth int) []any {
	out := []any{[]any{}}
	if len(l) == 0 {
		for _, c := range append([]any{nonsense, 1.0}, k.values...) {
			out = append(out, []any{c}, []any{k.element(c)})
		}
		return out
	}
	out = append(out, l[:len(l)-1], append(slices.Clone(l), l[0]))
	for _, c := range k.values {
		if _, list := c.([]any); list {
			out = append(out, c)
		}
	}
	if depth == 0 {
		return out
	}
	for _, i := range []int{0, len(l) - 1} {
		for _, v := range k.elements(l[i], depth-1) {
			out = append(out, put(l, spot{i}, v))
		}
	}
	ways := make([][]any, min(len(l), mostChanged))
	for i := range ways {
		ways[i] = k.elements(l[i], depth-1)
	}
	for way := range len(ways[0]) { // every element in the same way
		all := slices.Clone(l)
		for i, w := range ways {
			if len(w) > 0 {
				all[i] = w[way%len(w)]
			}
		}
		out = append(out, all)
	}
	return out
}

// elements are different values for an element of a list; an object in it always has its fields.
func (k known) elements(v any, depth int) []any {
	return slices.DeleteFunc(different(v, k, depth), func(o any) bool {
		m, object := o.(map[string]any)
		_, was := v.(map[string]any)
		return was && object && len(m) == 0
	})
}

func mappings(m map[string]any, k known, depth int) []any {
	out := []any{map[string]any{}}
	for _, c := range k.values {
		if _, object := c.(map[string]any); object {
			out = append(out, c)
		}
	}
	if depth == 0 {
		return out
	}
	for _, name := range keysOf(m) {
		values := k.others(name, m[name], depth-1)
		s, _ := m[name].(string)
		_, yesNo := m[name].(bool)
		if !k.text && !yesNo && k.words.of(name, s) == nil { // those are never absent
			values = append(values, nil)
		}
		for _, v := range values {
			out = append(out, put(m, spot{name}, v))
		}
	}
	return out
}

// known is what an expression reveals about the values it expects: texts and numbers, and names of fields.
type known struct {
	values []any
	fields []string
	text   bool  // it searches texts and never mentions nil, which can't be searched
	words  words // of fields that have a closed list
}

// element is a possible element of an empty list: all its fields have the same value.
func (k known) element(v any) map[string]any {
	out := map[string]any{}
	for _, f := range k.fields {
		out[f] = v
		if !k.words.any(f, v) {
			out[f] = k.words[f][0][0]
		}
	}
	return out
}

func knownOf(n ast.Node) (k known) {
	nils := false
	ast.Walk(&n, collect(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.NilNode:
			nils = true
		case *ast.BinaryNode:
			switch n.Operator {
			case "??":
				nils = true
			case "startsWith", "endsWith", "contains", "matches":
				k.text = true
			}
		case *ast.StringNode:
			k.values = append(k.values, n.Value)
		case *ast.IntegerNode:
			k.values = append(k.values, float64(n.Value))
		case *ast.FloatNode:
			k.values = append(k.values, n.Value)
		case *ast.MemberNode:
			if p, ok := n.Property.(*ast.StringNode); ok {
				k.fields = append(k.fields, p.Value)
			}
		}
	}))
	k.text = k.text && !nils
	return k
}

type collect func(ast.Node)

// Visit implements ast.Visitor.
func (c collect) Visit(n *ast.Node) { c(*n) }
