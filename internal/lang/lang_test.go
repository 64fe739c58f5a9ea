package lang

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"":                              English,
		"ko":                            Korean,
		"KO-kr":                         Korean,
		"de, ko;q=0.8, en;q=0.7":        Korean,
		"en-GB,en;q=0.9,ko;q=0.8":       English,
		"ko;q=0.5,en;q=0.5":             Korean,
		"en;q=0.1,ko;q=0":               English,
		"ko;q=nonsense":                 English,
		"korean":                        English,
		"ja-JP,ja;q=0.9 , ko-KR ;q=0.3": Korean,
	} {
		if got := Of(accept); got != want {
			t.Errorf("Of(%q): got %s, want %s", accept, got, want)
		}
	}
}
