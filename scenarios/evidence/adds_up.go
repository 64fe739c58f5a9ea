package evidence

import (
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// addedUp makes the words of people at several doors add up to how many people there were: whoever wasn't let in was denied.
// So that the numbers add up says nothing of what was decided. was is what there was before.
func addedUp(env, was map[string]any) map[string]any {
	n, err := expression.Number(env["count"])
	if err != nil || !has(was, "results") || !has(was, "reasons") {
		return env
	}
	out := maps.Clone(env)
	for _, name := range []string{"results", "reasons"} {
		words, ok := env[name].(map[string]any)
		if !ok {
			return env
		}
		words = maps.Clone(words)
		if more, named := words[nonsense]; named && name == "results" { // only two results are possible
			delete(words, nonsense)
			addTo(words, otherResult(words), more)
		}
		out[name] = words
		n = max(n, sumOf(words))
	}
	for _, name := range []string{"results", "reasons"} {
		words, _ := out[name].(map[string]any)
		before, _ := was[name].(map[string]any)
		rest := as(1, n-sumOf(words))
		switch {
		case rest == 0:
		case name == "reasons":
			addTo(words, nonsense, rest)
		case unchanged(words[string(vocab.Denied)], before[string(vocab.Denied)]):
			addTo(words, string(vocab.Denied), rest)
		default:
			addTo(words, string(vocab.Opened), rest)
		}
	}
	out["count"] = as(was["count"], n)
	return inWhole(out, "count", "results", "reasons")
}

// otherResult is one that isn't among the words, or the last of the two.
func otherResult(words map[string]any) string {
	both := []string{string(vocab.Opened), string(vocab.Denied)}
	if i := slices.IndexFunc(both, func(w string) bool { return !has(words, w) }); i >= 0 {
		return both[i]
	}
	return both[1]
}

func addTo(words map[string]any, word string, more any) {
	n, _ := expression.Number(words[word]) // nothing counts as 0
	m, _ := expression.Number(more)
	words[word] = as(1, n+m)
}

func sumOf(words map[string]any) (sum float64) {
	for _, v := range words {
		n, _ := expression.Number(v)
		sum += n
	}
	return sum
}
