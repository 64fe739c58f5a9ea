package evidence

import (
	"maps"
	"math"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
)

// What an element of an empty list could have been is known only from the fields that the expression reads, and from what it
// compares them with.

// element is a possible element of an empty list: all its fields have the same value, except those that are objects.
func (k known) element(v any) map[string]any { return k.elementOf(func(string) any { return v }) }

// mostMixed bounds the fields of an element that are tried both as texts and as numbers.
const mostMixed = 6

// fitting are possible elements of an empty list in which each field has a value like those that it is compared with, or
// the numbers next to them. A field that is compared with none is a text in some and a number in others.
func (k known) fitting() (out []any) {
	loose := slices.Compact(slices.Sorted(slices.Values(each.If(k.Fields, func(f string) bool { return !slices.Contains(k.Outer, f) && len(k.Beside[f]) == 0 }))))
	if len(loose) > mostMixed {
		loose = nil
	}
	most := 1
	for _, like := range k.Beside {
		most = min(max(most, len(like)), mostMixed)
	}
	for way := range 1 << len(loose) {
		for nth := range most {
			for _, next := range []float64{0, 1, -1} {
				out = append(out, k.elementOf(func(f string) any {
					if like := k.Beside[f]; len(like) > 0 {
						if n, number := like[nth%len(like)].(float64); number {
							return n + next
						}
						return like[nth%len(like)]
					}
					if i := slices.Index(loose, f); i >= 0 && way>>i&1 == 1 {
						return math.Pow10(i) // so that numbers differ
					}
					return nonsense
				}))
			}
		}
	}
	return out
}

// nested is how deep objects lie in each other in an element.
const nested = 2

// elementOf is a possible element; one of its fields of which a field is read is an object with the same fields.
func (k known) elementOf(value func(field string) any) map[string]any {
	out := map[string]any{}
	for _, f := range k.Fields {
		if slices.Contains(k.Outer, f) {
			continue
		}
		v := value(f)
		switch {
		case !k.words.any(f, v):
			v = k.words[f][0][0]
		case tooLow(f, v):
			v = 1.0
		}
		out[f] = v
	}
	for range nested {
		inner := maps.Clone(out)
		for _, f := range k.Outer {
			out[f] = inner
		}
	}
	return out
}
