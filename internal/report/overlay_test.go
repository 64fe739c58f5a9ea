package report

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/plot"
)

// TestOverlayKeepsWhatHappened: when courses of any length and start are overlaid, the result has as many requests as
// all of them together, at the right times.
func TestOverlayKeepsWhatHappened(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	res := Result{Started: begin, Seconds: 37}
	want := map[bool]float64{} // by whether it was before the 15th second
	for i, s := range []struct{ after, seconds, at float64 }{{0, 10, 5}, {3.3, 37, 20}, {12, 1.5, 13}} {
		at := func(x float64) time.Time { return begin.Add(time.Duration(x * float64(time.Second))) }
		part := Result{Started: at(s.after), Seconds: s.seconds}
		for range 30 + 40*i {
			part.Events = append(part.Events, history.Event{Kind: history.Call, Status: 200, At: 1, WallNs: at(s.at).UnixNano()})
		}
		want[s.at < 15] += float64(30 + 40*i)
		res.drawn = append(res.drawn, draw(part))
	}
	d := overlay(res)
	if len(d.tracks) != 1 || d.tracks[0].ID != "load" || math.Abs(d.seconds-40.3) > 1e-6 {
		t.Fatalf("%d tracks over %g s, want the requests over 40.3 s", len(d.tracks), d.seconds)
	}
	got := map[bool]float64{}
	for _, p := range d.tracks[0].Lines[0].Points {
		got[p.X < 15] += p.Y * d.seconds / bins
	}
	if math.Abs(got[true]-want[true]) > 1e-6 || math.Abs(got[false]-want[false]) > 1e-6 {
		t.Errorf("%g requests before the 15th second and %g after it, want %g and %g", got[true], got[false], want[true], want[false])
	}
}

// TestOverlayOfBoards: the boards of a shard whose world ended early are drawn as long as they were, not as long as the
// shard.
func TestOverlayOfBoards(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	part := Result{Started: begin, Seconds: 40}
	for i, kind := range []string{history.Door, history.Online, history.Call} {
		part.Events = append(part.Events, history.Event{Kind: kind, BoardID: "brd_1", Status: 200, At: int64(i) + 1, WallNs: begin.Add(time.Duration(i) * 5 * time.Second).UnixNano()})
	}
	res := Result{Started: begin, Seconds: 40}
	for range 2 {
		res.drawn = append(res.drawn, draw(part))
	}
	d := overlay(res)
	i := slices.IndexFunc(d.tracks, func(c plot.Chart) bool { return c.ID == "boards" })
	if i < 0 {
		t.Fatalf("no boards among %d tracks", len(d.tracks))
	}
	for _, p := range d.tracks[i].Lines[0].Points {
		want := 0.
		if p.X > 5.2 && p.X < 10 {
			want = 2
		}
		if (p.X < 5 || p.X > 5.2) && (p.X < 10 || p.X > 10.4) && math.Abs(p.Y-want) > 1e-6 {
			t.Errorf("%g boards after %g s, want %g", p.Y, p.X, want)
		}
	}
}
