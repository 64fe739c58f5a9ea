package expression

import "testing"

// A word counts wherever it appears as a whole word.
func TestWordsIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, word string
		want       int
	}{
		{"", "foo", 0},
		{"foo", "foo", 1},
		{"foo foo", "foo", 2},
		{`name: foo, key: "foo"`, "foo", 2},
		{"food foot afoo foo_1 _foo foo2", "foo", 0},
		{"two words, two words more, two wordsmiths", "two words", 2},
		{"a/b/ a/b/", "a/b/", 2},
	} {
		if got := WordsIn(c.text, c.word); got != c.want {
			t.Errorf("%q in %q: %d times, want %d", c.word, c.text, got, c.want)
		}
	}
}
