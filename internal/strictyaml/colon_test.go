package strictyaml

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
)

// TestColonInText: a colon without a space after it belongs to the text, wherever a list stands.
func TestColonInText(t *testing.T) {
	t.Parallel()
	pair := map[string]any{"a": "b"}
	for source, want := range map[string][]any{
		"x: [a:b]":                     {"a:b"},
		"{x: [a:b]}":                   {"a:b"},
		"{x: [a:b, c:d:e, f g:h i]}":   {"a:b", "c:d:e", "f g:h i"},
		"{x: [09:30, a:true, b:1.50]}": {"09:30", "a:true", "b:1.50"},
		"{x: [[a:b], {y: [c:d]}]}":     {[]any{"a:b"}, map[string]any{"y": []any{"c:d"}}},
		"{x: [&n a:b, *n]}":            {"a:b", "a:b"},
		"{x: [http://a:1/b]}":          {"http://a:1/b"},
		`{x: ["a":b, a: b, {a: b}]}`:   {pair, pair, pair}, // these are mappings
		"x:\n  - a: b\n  - a:b":        {pair, "a:b"},
	} {
		var got struct {
			X []any `json:"x"`
		}
		must.OK(t, Decode("s.yaml", []byte(source), &got, nil, nil))
		if d := cmp.Diff(want, got.X); d != "" {
			t.Errorf("%s: -want +got\n%s", source, d)
		}
	}
}

// TestColonPosition: a problem with such a text is where it begins.
func TestColonPosition(t *testing.T) {
	t.Parallel()
	err := Decode("s.yaml", []byte("{name: x, ways: [open, a:b]}"), &sample{}, nil, nil)
	if want := `s.yaml:1:24: "a:b" is not valid for ways`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s...", err, want)
	}
}
