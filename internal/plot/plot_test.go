package plot

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

func TestNice(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]float64{0: 1, .3: .3, 1: 2, 1.1: 2, 3: 4, 7: 8, 9: 10, 11: 12, 220: 240, 1900: 2000, 5500: 6000, 9500: 10000} {
		if got := nice(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("nice(%v): got %v, want %v", v, got, want)
		}
	}
}

// TestTicks: an axis has at most seven labels, all different, and covers its range.
func TestTicks(t *testing.T) {
	t.Parallel()
	for _, to := range []float64{.004, .3, 1, 2.5, 14, 88, 662, 7300, 40000, 50000, 130e3, 9e6, 63e9} {
		seen := map[string]bool{}
		for _, x := range Seconds(to) {
			if seen[x.Text] || x.X > to*1.001 {
				t.Errorf("axis to %v: label %q is there twice, or at %v beyond the end", to, x.Text, x.X)
			}
			seen[x.Text] = true
		}
		if len(seen) < 2 || len(seen) > 7 {
			t.Errorf("axis to %v: got %d labels, want 2 to 7", to, len(seen))
		}
	}
}

// TestSpread: each value is in exactly one bar, and the note has the relevant numbers.
func TestSpread(t *testing.T) {
	t.Parallel()
	var values []float64
	for i := range 1000 {
		values = append(values, float64(i+1))
	}
	c := Spread("lag", "Lag", values, 300_000)
	sum := 0.0
	for _, p := range c.Lines[0].Points {
		sum += p.Y / 2 // each bar consists of two points
	}
	if sum != 1000 {
		t.Errorf("got %v values in the bars, want 1000", sum)
	}
	if want := "slowest of 1,000: 1 s (limit 300 s); half within 500 ms, 90% within 900 ms, 99% within 990 ms"; c.Note != want {
		t.Errorf("got note %q, want %q", c.Note, want)
	}
	var ticks []string
	for _, x := range Spread("lag", "Lag", []float64{50, 700_000}, 0).X {
		ticks = append(ticks, x.Text)
	}
	if want := []string{"10 ms", "100 ms", "1 s", "10 s", "100 s", "1,000 s"}; !slices.Equal(ticks, want) {
		t.Errorf("got ticks %q, want %q", ticks, want)
	}
	if !(Spread("lag", "Lag", nil, 0)).Empty() {
		t.Error("a distribution of nothing isn't empty")
	}
}

// TestHTML: everything is drawn inside the plot, and outside input is escaped.
func TestHTML(t *testing.T) {
	t.Parallel()
	c := Chart{Title: "<b>", To: 10, Lines: []Line{{Name: "a&b", Color: 1, Points: []Point{{0, 5}, {20, 10}}}},
		Spans: []Span{{From: -5, To: 3, Color: 2, Title: "<script>"}}, Marks: []Mark{{X: 9, Text: "+36 h"}}, X: Seconds(10)}
	got := must.Get(c.HTML())(t)
	for _, want := range []string{"&lt;b&gt;", "a&amp;b", "&lt;script&gt;", `d="M0 58.3L1000 16.7"`, `x="0" y="10" width="299"`, `left:90%`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the figure lacks %q:\n%s", want, got)
		}
	}
	if empty, err := (Chart{Title: "x"}).HTML(); empty != "" || err != nil {
		t.Errorf("a plot of nothing: got %q, %v, want nothing", empty, err)
	}
}

// TestLabels: labels that would overlap are left out; the first is always shown.
func TestLabels(t *testing.T) {
	t.Parallel()
	rates := Chart{To: 200, X: []Tick{{100, "100/s"}, {150, "150/s"}, {175, "175/s"}, {200, "200/s"}}}
	near := Chart{To: 100, X: []Tick{{50, "1,700/s"}, {50.5, "1,717/s"}, {100, "3,400/s"}}}
	for _, tc := range []struct {
		of   Chart
		room float64
		want string
	}{
		{rates, 320, "100/s 175/s"}, {rates, 1000, "100/s 150/s 175/s 200/s"}, {near, 1000, "1,700/s 3,400/s"},
		{Chart{To: 10, X: Seconds(10)}, 320, "0 2 s 4 s 6 s 8 s 10 s"},
		{Spread("x", "X", []float64{.1, 1e9}, 0), 320, "0.1 ms 100 ms 100 s 100,000 s"},
	} {
		var got []string
		for i := 0; i < len(tc.of.X); i += tc.of.every(tc.room) {
			got = append(got, tc.of.X[i].Text)
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("on %g px: got %s, want %s", tc.room, text, tc.want)
		}
	}
}

// TestFlags: the texts of marks stand beside each other where there is room, and don't cover the names of rows.
func TestFlags(t *testing.T) {
	t.Parallel()
	c := Chart{To: 20, Marks: []Mark{{X: 0, Text: "warm-up"}, {X: 14, Text: "refuse"}, {X: 15, Text: "calm"}, {X: 15.1, Text: "offline"}}}
	texts := func(c Chart) (out []string) {
		for _, f := range c.flags() {
			out = append(out, f.Text)
		}
		return out
	}
	if got, want := texts(c), []string{"warm-up", "refuse", "calm", ""}; !slices.Equal(got, want) {
		t.Errorf("the marks say %q, want %q", got, want)
	}
	c.Rows = []string{"offline"}
	if got, want := texts(c), []string{"", "refuse", "calm", ""}; !slices.Equal(got, want) {
		t.Errorf("in a chart of rows, the marks say %q, want %q", got, want)
	}
}
