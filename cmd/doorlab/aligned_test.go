package main

import (
	"slices"
	"testing"
)

// TestAligned: cells line up on a terminal, where a Korean letter takes two places.
func TestAligned(t *testing.T) {
	t.Parallel()
	got := aligned([][]string{{"PLACE", "KIND", "KEY"}, {"강남점", "live", "-"}, {"O'Brien", "test", "Größe"}, {"", "", ""}})
	want := []string{"PLACE    KIND  KEY", "강남점   live  -", "O'Brien  test  Größe", "               "}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}
