package evidence

import (
	"iter"
	"maps"
	"slices"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// spot is a path into the names that an expression sees: strings and ints.
type spot []any

func (p spot) last() string {
	for _, v := range slices.Backward(p) {
		if s, ok := v.(string); ok {
			return s
		}
	}
	return ""
}

// spotsIn are the parts of an answer that an expression names.
func spotsIn(e *expression.Expr, own map[string]any) (out []spot) {
	rooted := map[string]bool{}
	for _, text := range e.Paths {
		if p := spot(expression.PathOf(text)); len(p) > 0 && has(own, p[0]) {
			rooted[p[0].(string)] = true
			out = append(out, p.part(own))
		}
	}
	for _, n := range sortedKeys(e.Names) { // inside all(...) and the like
		if !rooted[n] && has(own, n) {
			out = append(out, spot{n})
		}
	}
	return out
}

// part is the spot itself where it was named as a part of the whole result: it.status is status.
func (p spot) part(own map[string]any) spot {
	if p[0] == "it" && len(p) > 1 && has(own, p[1]) {
		return p[1:]
	}
	return p
}

func has(own map[string]any, name any) bool {
	s, ok := name.(string)
	_, there := own[s]
	return ok && there
}

// read follows a spot; nil if it leads nowhere.
func read(v any, p spot) any {
	for _, step := range p {
		switch in := v.(type) {
		case map[string]any:
			name, _ := step.(string)
			v = in[name]
		case []any:
			if i, ok := step.(int); !ok || i < 0 || i >= len(in) {
				return nil
			} else {
				v = in[i]
			}
		default:
			return nil
		}
	}
	return v
}

// written is env with another value at a spot; everything around it is copied. The whole result and its parts agree.
func written(env map[string]any, p spot, v any) map[string]any {
	out, _ := put(env, p, v).(map[string]any)
	whole, _ := env["it"].(map[string]any)
	if whole == nil || len(p) == 0 {
		return out
	}
	if name, _ := p[0].(string); name == "it" {
		changed, _ := out["it"].(map[string]any)
		maps.Copy(out, changed)
	} else if _, part := whole[name]; part {
		out["it"] = put(whole, spot{name}, out[name])
	}
	return out
}

func put(in any, p spot, v any) any {
	if len(p) == 0 {
		return v
	}
	switch name := p[0].(type) {
	case string:
		m, _ := in.(map[string]any)
		if m = maps.Clone(m); m == nil {
			m = map[string]any{}
		}
		m[name] = put(m[name], p[1:], v)
		notAhead(m, name)
		return m
	case int:
		l, _ := in.([]any)
		if l = slices.Clone(l); name >= 0 && name < len(l) {
			l[name] = put(l[name], p[1:], v)
		}
		return l
	}
	return in
}

// putEach is put with one value after the other.
func putEach(in any, p spot, values iter.Seq[any]) iter.Seq[any] {
	return func(yield func(any) bool) {
		for v := range values {
			if !yield(put(in, p, v)) {
				return
			}
		}
	}
}

// wholes are a step's result with one part changed: it always has all its parts. What repeats the answer changes by
// itself only for an expression that names it.
func wholes(v any, k known, env map[string]any) iter.Seq[any] {
	var all []iter.Seq[any]
	parts, _ := v.(map[string]any)
	for _, name := range sortedKeys(parts) {
		if repeats[name] && !slices.Contains(k.Fields, name) {
			continue
		}
		all = append(all, putEach(parts, spot{name}, others(spot{name}, parts[name], k, env)))
	}
	return inTurn(all...)
}

// repeats are results that repeat the answers of a request.
var repeats = SetOf(`answers statuses fresh`)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
