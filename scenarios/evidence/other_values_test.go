package evidence

import (
	"reflect"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// TestOtherValues: the status of an imported row is a word, not a number, and a list or an object could have been the
// one that it is compared with.
func TestOtherValues(t *testing.T) {
	t.Parallel()
	for _, v := range others(spot{"data", "status"}, "created", known{}, nil) {
		if _, text := v.(string); !text && v != nil {
			t.Errorf("instead of a word, there could have been %v", v)
		}
	}
	e := must.Get(expression.Compile("data.days != before"))(t)
	for name, before := range map[string]any{
		"list": []any{map[string]any{"open": true}}, "object": map[string]any{"open": true},
	} {
		k := known{}
		k.Values = beside(e, map[string]any{"before": before}, map[string]any{"data": 1})
		like := map[string]any{"list": any([]any{1.0}), "object": any(map[string]any{"n": 1.0})}[name]
		if !slices.ContainsFunc(different(like, k, 1), func(v any) bool { return reflect.DeepEqual(v, before) }) {
			t.Errorf("%s: %v can't be what it is compared with", name, like)
		}
	}
}

// TestHeadersOfEveryAnswer: a header that every answer has could only have had another value.
func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	env := map[string]any{"headers": map[string]any{"X-Request-Id": "r-1", "X-Place-Kind": "live", "Content-Type": "application/json", "Allow": "GET"}}
	for name, absent := range map[string]bool{"X-Request-Id": false, "X-Place-Kind": false, "Content-Type": false, "Allow": true} {
		p := spot{"headers", name}
		got := others(p, read(env, p), known{words: WordsOf("opened", "denied")}, env)
		if len(got) == 0 || slices.Contains(got, any(nil)) != absent || slices.Contains(got, any("")) != absent {
			t.Errorf("%s could have been %q, want something, and nothing at all: %t", name, got, absent)
		}
	}
}

// TestTimesInAnswers: a bound that is centuries away is idle, because every time an answer might contain satisfies
// it.
func TestTimesInAnswers(t *testing.T) {
	t.Parallel()
	const now = "2026-03-02T10:00:00.000Z"
	got := texts(now, known{Mentions: expression.Mentions{Values: []any{"1971-01-01T00:00:00Z", "2026-04-01T00:00:00Z", "a word"}}})
	want := []any{"2023-06-06T10:00:00.000Z", "2028-11-26T10:00:00.000Z", "2026-04-01T00:00:00Z"}
	if !slices.Equal(got, want) {
		t.Errorf("other times than %s: got %v, want %v", now, got, want)
	}
}
