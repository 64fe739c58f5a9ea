package evidence

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// Met is an expectation that was evaluated with an answer at hand.
type Met struct {
	Expr  *expression.Expr
	Env   map[string]any // everything that it sees
	Own   map[string]any // the parts of the step's answer, or of the element of a list, in it
	Words Words          // of the answer's fields
	Still bool           // it is known to refer to no answer
	Want  bool           // the result that the file waits for

	// Decided reports fields of the answer that the file itself decided, such as which boards are read. nil: none.
	Decided func(field string) bool
}

// couldDiffer reports whether the expectation would come out differently with another answer: the parts of the answer
// that it speaks of are changed, one after the other and together. If it speaks only of what earlier answers gave,
// those are changed; past knows where names came from.
func (m Met) couldDiffer(past *Past) bool {
	e, env, own := m.Expr, m.Env, m.Own
	spots := spotsIn(e, own)
	if len(spots) == 0 && !m.Still { // it refers to earlier answers
		if differs, ok := m.withOtherPast(past); ok {
			return differs
		}
		own = earlier(e, env)
		spots = spotsIn(e, own)
	}
	if len(spots) == 0 {
		return !m.Still
	}
	if fitsAllStatuses(spots, env, func(env map[string]any) bool { return m.is(m.Want, env) }) {
		return false
	}
	both := names(spots, "status") && names(spots, "error")
	other := func(changed map[string]any) bool {
		return (!both || agree(changed)) && m.is(!m.Want, consistent(changed, env))
	}
	k := known{e.Mentions, m.Words}
	k.Values = append(slices.Clone(k.Values), beside(e, env, own)...)
	options := make([][]any, len(spots))
	for i, p := range spots {
		options[i] = others(p, read(env, p), k, env)
		for _, v := range options[i] {
			if other(written(env, p, v)) {
				return true
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2)) // the same run twice
	for range 200 {
		changed := env
		for i, p := range spots {
			if n := len(options[i]); n > 0 && r.IntN(8) > 0 {
				changed = written(changed, p, options[i][r.IntN(n)])
			}
		}
		if other(changed) {
			return true
		}
	}
	return false
}

// is reports whether the expectation has this result.
func (m Met) is(want bool, env map[string]any) bool {
	v, err := m.Expr.Run(env)
	b, ok := v.(bool)
	return err == nil && ok && b == want
}

// decided reports whether the file itself decided everything in the answer that the expectation speaks of.
func (m Met) decided() bool {
	spots := spotsIn(m.Expr, m.Own)
	return m.Decided != nil && len(spots) > 0 && !slices.ContainsFunc(spots, func(p spot) bool {
		return !m.Decided(p.last()) && !(slices.Contains(listed, p.last()) && m.readsOnlyDecided())
	})
}

// readsOnlyDecided reports whether the expectation reads only such fields of a list's elements.
func (m Met) readsOnlyDecided() bool {
	fields := slices.DeleteFunc(slices.Clone(m.Expr.Mentions.Fields), func(f string) bool { return !ElementFields[f] })
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f string) bool { return !m.Decided(f) })
}

// earlier are the values that an expression names, wherever they come from.
func earlier(e *expression.Expr, env map[string]any) map[string]any {
	out := map[string]any{}
	for n := range e.Names {
		if v, ok := env[n]; ok && v != nil && reflect.TypeOf(v).Kind() != reflect.Func {
			out[n] = v
		}
	}
	return out
}

func names(spots []spot, name string) bool {
	return slices.ContainsFunc(spots, func(p spot) bool { return len(p) == 1 && p[0] == name })
}

// beside are the values that the expression compares an answer with: from earlier answers, a table's columns, people.
func beside(e *expression.Expr, env, own map[string]any) (out []any) {
	for _, text := range append(sortedKeys(e.Names), e.Paths...) { // inside predicates, only names are known
		if p := spot(expression.PathOf(text)); len(p) > 0 && !has(own, p[0]) {
			v := read(env, p)
			if out = append(out, plain(v, 2)...); size(v) > 0 { // the whole list or object, too
				out = append(out, v)
			}
		}
	}
	return out
}

// plain are the texts and numbers in a value, a few per list.
func plain(v any, depth int) (out []any) {
	switch v := v.(type) {
	case string, float64, int, int64:
		return []any{v}
	case []any:
		for _, e := range v[:min(len(v), 4)] {
			if depth > 0 {
				out = append(out, plain(e, depth-1)...)
			}
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if depth > 0 {
				out = append(out, plain(v[k], depth-1)...)
			}
		}
	}
	return out
}
