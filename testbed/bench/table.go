package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// table is what was measured over one kind of link with one number of callers.
type table struct {
	link            string
	callers, boards int
	rows            []*row
}

// row is a subject with its turns.
type row struct {
	Name  string
	Turns []result
}

func (t *table) add(name string, r result) {
	i := slices.IndexFunc(t.rows, func(w *row) bool { return w.Name == name })
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, &row{Name: name})
	}
	t.rows[i].Turns = append(t.rows[i].Turns, r)
}

// median of a value over the turns.
func median[T cmp.Ordered](rs []result, of func(result) T) T {
	v := make([]T, len(rs))
	for i, r := range rs {
		v[i] = of(r)
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// floorOf is what a subject is compared with: turn by turn, for a busy minute hits neighbours.
var floorOf = map[string]string{"relay": "http", "durable": "relay", "command": "durable"}

// floor names what a row is compared with: the old build when there is one.
func floor(r *row) string {
	if name, ok := strings.CutPrefix(r.Name, "new "); ok {
		return "old " + name
	}
	return floorOf[r.Name]
}

// ratio is the median of a row's throughput over its floor's in the same round; 0 = no floor was measured.
func (t *table) ratio(w *row) float64 {
	i := slices.IndexFunc(t.rows, func(f *row) bool { return f.Name == floor(w) })
	if i < 0 {
		return 0
	}
	under := t.rows[i].Turns
	ratios := make([]float64, 0, len(w.Turns))
	for n, r := range w.Turns {
		ratios = append(ratios, r.PerSecond/under[n].PerSecond)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

func (t *table) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s links, %d callers, %d boards\n", t.link, t.callers, t.boards)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "subject\tper second\tslowest..fastest turn\tof its floor\tp50\tp99\tCPU per call\tallocations\tbytes\tcommits per call\t")
	for _, r := range t.rows {
		rate := func(r result) float64 { return r.PerSecond }
		slow := slices.MinFunc(r.Turns, func(a, b result) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
		fast := slices.MaxFunc(r.Turns, func(a, b result) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
		ratio := "-"
		if v := t.ratio(r); v > 0 {
			ratio = fmt.Sprintf("%.2f of %s", v, floor(r))
		}
		fmt.Fprintf(w, "%s\t%.0f\t%.0f..%.0f\t%s\t%s\t%s\t%s\t%.0f\t%.0f\t%.2f\t\n", r.Name, median(r.Turns, rate), slow.PerSecond, fast.PerSecond, ratio,
			ms(median(r.Turns, func(r result) time.Duration { return r.P50 })), ms(median(r.Turns, func(r result) time.Duration { return r.P99 })),
			median(r.Turns, func(r result) time.Duration { return r.CPU }).Round(time.Microsecond),
			median(r.Turns, func(r result) float64 { return r.Allocations }), median(r.Turns, func(r result) float64 { return r.Bytes }),
			median(r.Turns, func(r result) float64 { return r.Commits }))
	}
	_ = w.Flush()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

func environment(p plan) string {
	return fmt.Sprintf("%s %s/%s, %d CPUs, GOMAXPROCS %d; medians of %d turns of %s each, subjects taking turns; callers, server, broker and boards share the process",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.GOMAXPROCS(0), p.rounds, p.round)
}
