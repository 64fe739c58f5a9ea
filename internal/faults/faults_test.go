package faults_test

import (
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/near"
)

// surface is what the control API promises.
const surface = "offline halfopen refuse silent silent-after slow duplicate late reorder garbage wrong-id stale oneway-up oneway-down lossy flap reboot reboot-wiped no-clock skew noop"

func TestNames(t *testing.T) {
	t.Parallel()
	want := strings.Fields(surface)
	sort.Strings(want)
	if got := faults.Names(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for in, want := range map[string]string{
		"ofline": "offline", "half-open": "halfopen", "slient": "silent", "oneway_up": "oneway-up",
		"Refuse": "refuse", "wrongid": "wrong-id", "zzzzzzzzzzzz": "", "": "",
	} {
		if got := near.Name(in, faults.Names()); got != want {
			t.Errorf("%q is near %q, want %q", in, got, want)
		}
	}
}

// TestDescribed: every fault has everything that the page and the schema show.
func TestDescribed(t *testing.T) {
	t.Parallel()
	for _, f := range faults.All {
		if f.Does == "" || f.Outcome == "" || f.Journal == "" || f.Acts == "" {
			t.Errorf("%s: what it does, the outcome, the journal or what it acts on is missing", f.Name)
		}
		if _, err := f.Values(nil); err != nil {
			t.Errorf("%s: its defaults are refused: %v", f.Name, err)
		}
		for _, p := range f.Params {
			if p.Means == "" || len(p.Names) == 0 && (p.Unit == "" || p.Min >= p.Max) {
				t.Errorf("%s: parameter %s has no meaning, unit or range", f.Name, p.Name)
			}
		}
	}
}

// TestDefaultsAlone: the page says which defaults hold only without parameters.
func TestDefaultsAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault, param string
		given        map[string]any
		want         float64
	}{
		{"skew", "seconds", nil, 300},
		{"skew", "seconds", map[string]any{"ppm": 100000}, 0},
		{"skew", "seconds", map[string]any{"seconds": 7, "ppm": 1}, 7},
		{"lossy", "percent", nil, 10},
		{"lossy", "percent", map[string]any{"delayMs": 400}, 0},
		{"flap", "upSec", map[string]any{"downSec": 1}, 20},
	} {
		f := faults.All[slices.IndexFunc(faults.All, func(f faults.Fault) bool { return f.Name == c.fault })]
		v, err := f.Values(c.given)
		if err != nil || v.Num[c.param] != c.want {
			t.Errorf("%s %v: got %s %v (%v), want %v", c.fault, c.given, c.param, v.Num[c.param], err, c.want)
		}
		p := f.Params[slices.IndexFunc(f.Params, func(p faults.Param) bool { return p.Name == c.param })]
		if p.Alone != strings.HasSuffix(p.Text(), "if no parameter is given, otherwise 0") {
			t.Errorf("%s: %s", c.fault, p.Text())
		}
	}
}
