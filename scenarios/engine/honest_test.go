package engine

import (
	"reflect"
	"slices"
	"testing"
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
	e, err := compileExpr("data.days != before")
	if err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string]any{
		"list": []any{map[string]any{"open": true}}, "object": map[string]any{"open": true},
	} {
		k := known{values: e.beside(map[string]any{"before": before}, map[string]any{"data": 1})}
		like := map[string]any{"list": any([]any{1.0}), "object": any(map[string]any{"n": 1.0})}[name]
		if !slices.ContainsFunc(different(like, k, 1), func(v any) bool { return reflect.DeepEqual(v, before) }) {
			t.Errorf("%s: %v can't be what it is compared with", name, like)
		}
	}
}
