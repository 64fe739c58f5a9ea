package main

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/faults"
)

// TestFaultRow: the list says on which boards a fault is, what it was armed with, and when it ends.
func TestFaultRow(t *testing.T) {
	t.Parallel()
	until := faults.Moment{Time: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)}
	for _, x := range []struct {
		row            faults.Armed
		on, with, ends string
	}{
		{faults.Armed{Boards: []string{"brd_1"}, Until: &until}, "brd_1", "-", "2026-12-01T09:00:00Z"},
		{faults.Armed{Boards: []string{"brd_1", "brd_2", "brd_3"}, Params: map[string]any{"code": "jammed"}}, "brd_1,brd_2,brd_3", "code=jammed", "-"},
		{faults.Armed{Boards: make([]string, 1201), Params: map[string]any{"p99Ms": 900.0, "p50Ms": 300.0}, Commands: []string{"open", "hold"}, Nth: 2}, " and 1,200 more", "p50Ms=300 p99Ms=900 open,hold nth=2", "-"},
		{faults.Armed{DoorIDs: []string{"dor_1"}}, "-", "dor_1", "-"},
	} {
		row := faultRow{x.row}
		if on, with, ends := row.on(), row.with(), row.ends(); on != x.on || with != x.with || ends != x.ends {
			t.Errorf("%+v: got %q, %q, %q, want %q, %q, %q", x.row, on, with, ends, x.on, x.with, x.ends)
		}
	}
}
