package openapi

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/server/fail"
)

// TestHalfPairs: an escaped surrogate without its other half isn't a character. If it were accepted, all such
// references would be equal.
func TestHalfPairs(t *testing.T) {
	t.Parallel()
	for in, ok := range map[string]bool{
		`"\ud83d\ude00"`: true, `"\uD83D\uDE00 \u0041"`: true, `"\\ud800"`: true, `"\\\\ud800"`: true, `"\n\"\uac00"`: true, `"\ufffd"`: true,
		`"\ud800"`: false, `"\udfff"`: false, `"a\uDBFFb"`: false, `"\ude00\ud83d"`: false, `"\ud83d\ud83d\ude00"`: false,
		`"\ud83d\\ude00"`: false, `"\\\ud800"`: false, `"\ud83d\n"`: false,
	} {
		for _, body := range []string{`{"name":` + in + `}`, `{` + in + `:1}`, `{"a":[{"b":` + in + `}]}`} {
			_, err := decode([]byte(body), "application/json", false)
			if (err == nil) != ok || err != nil && (fail.CodeOf(err) != fail.InvalidBody || !strings.Contains(err.Error(), "surrogate")) {
				t.Errorf("%s: got %v, want it taken: %t", body, err, ok)
			}
		}
	}
}
