package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// Every subject can be measured, small; the figures are nobody's business here.
func TestEverySubject(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-boards", "30", "-callers", "3", "-links", "memory,tcp", "-rounds", "1", "-for", "30ms"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range append(names(), "memory links, 3 callers, 30 boards", "tcp links, 3 callers, 30 boards") {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table doesn't have %q:\n%s", want, out.String())
		}
	}
}

func TestRefusesWhatItCantMeasure(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{"-links=serial": "-links", "-callers=none": "-callers", "-only=door": "-only", "-boards=0": "-boards"} {
		if err := run(t.Context(), []string{arg}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that names %s", arg, err, want)
		}
	}
}

// A ratio is of turns that were neighbours, not of medians that were minutes apart.
func TestRatioOfNeighbours(t *testing.T) {
	t.Parallel()
	var tab table
	for _, v := range []struct{ floor, command float64 }{{1000, 500}, {100, 60}, {10, 2}} { // the machine gets busier and busier
		tab.add("durable", result{PerSecond: v.floor, P50: time.Millisecond})
		tab.add("command", result{PerSecond: v.command, P50: time.Millisecond})
	}
	if got := tab.ratio(tab.rows[1]); got != 0.5 {
		t.Errorf("ratio %v, want 0.5: the median of 0.5, 0.6 and 0.2", got)
	}
	if got := tab.ratio(tab.rows[0]); got != 0 {
		t.Errorf("ratio %v of a floor that wasn't measured, want 0", got)
	}
}
