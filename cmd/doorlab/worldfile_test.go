package main

import (
	"errors"
	"strings"
	"testing"
)

// TestMistakesOfAWorld: each mistake has a line of its own, and a file full of them doesn't flood the terminal.
func TestMistakesOfAWorld(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "x", 2: "x\nx", mostMistakes: strings.Repeat("\nx", mostMistakes)[1:],
		mostMistakes + 1: strings.Repeat("x\n", mostMistakes) + "and 1 more mistake", mostMistakes + 1234: strings.Repeat("x\n", mostMistakes) + "and 1,234 more mistakes"} {
		if got := mistakesIn(errors.New(strings.Repeat("\nx", n)[1:])); got != want {
			t.Errorf("%d mistakes: got %q, want %q", n, got, want)
		}
	}
}
