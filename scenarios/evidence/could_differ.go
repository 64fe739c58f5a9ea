package evidence

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// View is what an expectation saw when it was evaluated.
type View struct {
	Env   map[string]any // every name, and its value
	Own   map[string]any // the parts of the step's answer, or of the element of a list, among them
	Words Words          // of the answer's fields
	Past  *Past          // where the other names come from
	Still bool           // the expectation is known to refer to no answer
	Want  bool           // the result that the file waits for
	Hint  string         // said if it could not come out differently

	Slowest float64 // how long the answer may take, in ms; 0 = as long as that to a request

	// Decided reports fields of the answer that the file itself decided, such as which boards are read. nil: none.
	Decided func(field string) bool

	// Absent are paths that lead to parts that no answer has: what is said of them holds in any case, unless it is that they are absent.
	Absent []string

	// Fixed reports names that have the same value whatever the target answers. nil: none.
	Fixed func(name string) bool

	expr *expression.Expr
}

// couldDiffer reports whether the expectation would come out differently with another answer: the parts of the answer
// that it speaks of are changed, one after the other and together. If it speaks only of what earlier answers gave,
// those are changed.
func (v View) couldDiffer() bool {
	e, env, own := v.expr, v.Env, v.Own
	spots := spotsIn(e, own)
	if len(spots) == 0 && !v.Still { // it refers to earlier answers
		if differs, ok := v.withOtherPast(); ok {
			return differs
		}
		named := earlier(e, env)
		own = new(source).holds(e, named, v.Fixed)
		spots = spotsIn(e, own)
		if len(named) > 0 && len(own) == 0 {
			return false
		}
	}
	if len(spots) == 0 {
		return !v.Still
	}
	if fitsAllStatuses(spots, env, func(env map[string]any) bool { return v.is(v.Want, env) }) {
		return false
	}
	if spots = v.undecided(spots); len(spots) == 0 {
		return false
	}
	both := names(spots, "status") && names(spots, "error")
	other := func(changed map[string]any) bool {
		return (!both || agree(changed)) && v.is(!v.Want, consistent(changed, env))
	}
	k := known{e.Mentions, v.Words, v.Slowest}
	k.Values = append(slices.Clone(k.Values), beside(e, env, own)...)
	options := make([][]any, len(spots))
	for i, p := range spots {
		for o := range others(p, read(env, p), k, env) {
			if other(written(env, p, o)) {
				return true
			}
			options[i] = append(options[i], o)
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
func (v View) is(want bool, env map[string]any) bool {
	got, err := v.expr.Run(env)
	b, ok := got.(bool)
	return err == nil && ok && b == want
}

// decided reports whether the file itself decided everything in the answer that the expectation speaks of.
func (v View) decided() bool {
	spots := spotsIn(v.expr, v.Own)
	return v.Decided != nil && len(spots) > 0 && !slices.ContainsFunc(spots, func(p spot) bool {
		return !v.Decided(p.last()) && !(slices.Contains(listed, p.last()) && v.readsOnlyDecided())
	})
}

// undecided are the spots that the file itself didn't decide, and that an answer may have.
func (v View) undecided(spots []spot) []spot {
	return slices.DeleteFunc(spots, func(p spot) bool { return v.Decided != nil && v.Decided(p.last()) || v.absent(p) })
}

// absent reports whether a spot is one that no answer has, and the expectation would put up with some value there: it doesn't look
// for what a server shouldn't show.
func (v View) absent(p spot) bool {
	if read(v.Env, p) != nil || !slices.ContainsFunc(v.Absent, func(path string) bool { return slices.Equal(spot(expression.PathOf(path)), p) }) {
		return false
	}
	values := append([]any{"shown", 7.0, true}, v.expr.Mentions.Values...)
	return slices.ContainsFunc(values, func(value any) bool { return !v.is(!v.Want, written(v.Env, p, value)) })
}

// readsOnlyDecided reports whether the expectation reads only such fields of a list's elements.
func (v View) readsOnlyDecided() bool {
	fields := slices.DeleteFunc(slices.Clone(v.expr.Mentions.Fields), func(f string) bool { return !ElementFields[f] })
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f string) bool { return !v.Decided(f) })
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
