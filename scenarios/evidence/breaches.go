package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// Would the step have noticed that the promise is broken? What a clause promises shows in certain parts of an answer. A
// step that speaks of one of them, and would be content with any other value there, hasn't checked the promise:
// "doorIds has at least one element" (PERM-6) holds whatever the doors are.

// Breach is a result that a step might have got instead, had the target broken a promise.
type Breach struct {
	What string // what is different in it
	Out  map[string]any
}

// Said is what a step says of its result.
type Said struct {
	Exprs []*expression.Expr
	Env   map[string]any // every name, and its value

	spots    []spot // parts of the result that it speaks of by another name
	compared []any  // what it compares those with
}

// Breaches are results that break what the clause promises, in the parts that the step speaks of; none if it speaks of
// none of those.
func Breaches(clause string, out map[string]any, said Said) (all []Breach) {
	fields := breaking[clause]
	for _, field := range sortedKeys(fields) {
		if !said.of(field, out, fields[field]) {
			continue
		}
		known := said.beside(out)
		for _, only := range wordsAt(out, field) {
			all = append(all, inPlaceOf(only, field, out, func(v any) []any { return fields[field](v, known) })...)
		}
	}
	return append(all, counted(clause, out, said)...)
}

// inPlaceOf are results in which something else stands in a field wherever it is this text; "" stands for anything.
func inPlaceOf(text, field string, out map[string]any, others func(v any) []any) (all []Breach) {
	for nth := 0; ; nth++ {
		what, most := "", 0
		changed, _ := replaced(out, field, func(v any) any {
			list := others(v)
			if len(list) == 0 || text != "" && v != text {
				return v
			}
			most = max(most, len(list))
			other := list[min(nth, len(list)-1)]
			what = cmp.Or(what, toldAs(field, other))
			return other
		}).(map[string]any)
		if nth >= most {
			return all
		}
		all = append(all, Breach{what, changed})
	}
}

// fewWords is how many different texts in a field are changed one by one: if all were at once, how many doors are locked might
// stay the same.
const fewWords = 8

// wordsAt are the different texts in all fields of this name, just "" if they are many, or no texts.
func wordsAt(out map[string]any, field string) []string {
	all := map[string]bool{}
	replaced(out, field, func(v any) any {
		text, _ := v.(string)
		all[text] = true
		return v
	})
	if delete(all, ""); len(all) == 0 || len(all) > fewWords {
		return []string{""}
	}
	return sortedKeys(all)
}

// longestShown is how long a value may be in a message.
const longestShown = 80

// toldAs says what would have been different.
func toldAs(field string, v any) string {
	m, _ := v.(map[string]any)
	text := expression.Show(v)
	switch {
	case m["results"] != nil:
		return fmt.Sprintf("%v rows had been created and %v had failed", m["created"], m["failed"])
	case field == "actor" || field == "actorLabel":
		return field + " had shown the whole phone"
	case len(text) > longestShown:
		return field + " had been different"
	}
	return field + " had been " + text
}

// of reports whether the step speaks of a field of its result that could be other.
func (s Said) of(field string, out map[string]any, other other) bool {
	spots := slices.Clone(s.spots)
	for _, e := range s.Exprs {
		for _, text := range e.Paths {
			spots = append(spots, spot(expression.PathOf(text)))
		}
		if _, named := e.Names[field]; named || slices.Contains(e.Mentions.Fields, field) && !outside(e, field) {
			return true
		}
	}
	return slices.ContainsFunc(spots, func(p spot) bool {
		i := slices.Index(p, any(field))
		return i >= 0 && len(other(read(out, p[:i+1]), nil)) > 0
	})
}

// outside reports whether a field is read only of something that isn't the step's result: of a person, an earlier answer.
func outside(e *expression.Expr, field string) bool {
	return slices.ContainsFunc(e.Paths, func(text string) bool { return slices.Contains(expression.PathOf(text), any(field)) })
}

// beside are the values from earlier answers and of the file with which the step compares its result.
func (s Said) beside(out map[string]any) (values []any) {
	values = slices.Clone(s.compared)
	for _, e := range s.Exprs {
		values = append(values, beside(e, s.Env, out)...)
	}
	return values
}

// replaced is a copy of a value with every field of this name changed.
func replaced(v any, field string, f func(any) any) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for _, k := range sortedKeys(v) {
			if k == field {
				out[k] = f(v[k])
			} else {
				out[k] = replaced(v[k], field, f)
			}
		}
		return out
	case []any:
		return each.Of(v, func(e any) any { return replaced(e, field, f) })
	}
	return v
}
