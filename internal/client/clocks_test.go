package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
)

func TestBetween(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after     reading
		offset, err, move int64
	}{
		"steady":             {reading{offset: 1000, err: 10}, reading{offset: 1000, err: 10}, 1000, 10, 0},
		"the wider one":      {reading{offset: 1000, err: 10}, reading{offset: 1000, err: 40}, 1000, 40, 0},
		"a drift is added":   {reading{offset: 1000, err: 10}, reading{offset: 1200, err: 10}, 1100, 110, 200},
		"behind, and slower": {reading{offset: -500, err: 20}, reading{offset: -700, err: 20}, -600, 120, -200},
	} {
		got := between("s", c.before, c.after)
		if !got.Measured || got.OffsetNs != c.offset || got.ErrNs != c.err || got.DriftNs != c.move {
			t.Errorf("%s: measured %v, %d ± %d, drift %d; want %d ± %d, drift %d", name, got.Measured, got.OffsetNs, got.ErrNs, got.DriftNs, c.offset, c.err, c.move)
		}
	}
	for name, after := range map[string]reading{"gone after the run": {why: ErrUnreachable}, "too far": {offset: 3e9, err: 1}} {
		if got := between("s", reading{offset: 0, err: 1}, after); got.Measured || got.Why == "" {
			t.Errorf("%s: measured %v, why %q; want no measurement and a reason", name, got.Measured, got.Why)
		}
	}
}

func TestEnough(t *testing.T) {
	t.Parallel()
	const ms = 1e6
	alike := []int64{40 * ms, 41 * ms, 42 * ms, 40 * ms, 44 * ms, 41 * ms, 45 * ms, 40 * ms}
	mixed := []int64{40 * ms, 80 * ms, 42 * ms, 90 * ms, 64 * ms, 71 * ms, 45 * ms, 60 * ms}
	for name, c := range map[string]struct {
		best  int64
		spent time.Duration
		took  []int64
		want  bool
	}{
		"fine":                         {ms, 0, mixed, true},
		"nearly fine, at first":        {2 * ms, patience, mixed, false},
		"nearly fine":                  {2 * ms, patience + 1, mixed, true},
		"a busy machine":               {40 * ms, patience + 1, mixed, false},
		"a busy machine, for too long": {40 * ms, endurance + 1, mixed, true},
		"a long way, or a busy moment": {40 * ms, patience, alike, false},
		"a long way":                   {40 * ms, patience + 1, alike, true},
	} {
		if got := enough(c.best, c.spent, c.took); got != c.want {
			t.Errorf("%s: enough is %v, want %v", name, got, c.want)
		}
	}
}

// The measured offset includes the planted one within its error, even if the first measurements are slow.
func TestMeasureClocks(t *testing.T) {
	t.Parallel()
	const ahead = 50e6
	var asked atomic.Int64
	listener := func(body func() string) Client {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/lab/v1/clock" || r.Header.Get("Authorization") != "Bearer t" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, body())
		}))
		t.Cleanup(s.Close)
		return Client{Base: s.URL, Token: "t"}
	}
	good := listener(func() string {
		asked.Add(1)
		return fmt.Sprintf(`{"success":true,"data":{"mode":"real","wallNs":%d,"now":%q}}`, clock.WallNow().UnixNano()+ahead,
			clock.WallNow().Add(ahead).UTC().Format(control.TimeFormat))
	})
	set := listener(func() string { // its machine's clock was set an hour forward
		now := clock.WallNow()
		return fmt.Sprintf(`{"success":true,"data":{"mode":"real","wallNs":%d,"now":%q}}`, now.UnixNano(), now.Add(time.Hour).UTC().Format(control.TimeFormat))
	})
	old := listener(func() string { return `{"success":true,"data":{"mode":"real"}}` })
	gone := Client{Base: "http://127.0.0.1:1", Token: "t"}
	foreign := Client{Base: good.Base, Token: "another"}
	got := MeasureClocks(t.Context(), []Client{good, old, gone, foreign, set}).End(t.Context())
	if c := got[0]; !c.Measured || !c.Real || c.SetNs != 0 || c.OffsetNs-ahead > c.ErrNs || ahead-c.OffsetNs > c.ErrNs || c.ErrNs <= 0 {
		t.Errorf("got %+v, want %d ns within its ±", c, int64(ahead))
	}
	if asked.Load() < 2*samples {
		t.Errorf("%d samples before and after, want at least %d", asked.Load(), 2*samples)
	}
	if c := got[4]; !c.Measured || c.OffsetNs > c.ErrNs || -c.OffsetNs > c.ErrNs || time.Duration(c.SetNs).Round(time.Second) != time.Hour {
		t.Errorf("got %+v, want an offset of 0 within its ±, and set by an hour", c)
	}
	for i, why := range map[int]string{1: "wallNs", 2: "unreachable", 3: "404"} {
		if c := got[i]; c.Measured || !strings.Contains(c.Why, why) || c.Source == "" {
			t.Errorf("clock %d: %+v, want it not measured for %q", i, c, why)
		}
	}
}
