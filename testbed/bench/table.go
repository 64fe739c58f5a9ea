package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/each"
)

// table is what was measured over one kind of link with one number of callers.
type table struct {
	link, client    string
	callers, boards int
	rows            []*row
}

// row is a subject with its turns.
type row struct {
	Name    string
	PerPart float64 // KiB of memory that the process gained for each of its boards; 0 = not measured
	Turns   []result
}

func (t *table) row(name string) *row {
	i := slices.IndexFunc(t.rows, func(w *row) bool { return w.Name == name })
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, &row{Name: name})
	}
	return t.rows[i]
}

func (t *table) add(name string, r result) {
	w := t.row(name)
	w.Turns = append(w.Turns, r)
}

// median of a value over the turns.
func median[T cmp.Ordered](rs []result, of func(result) T) T {
	v := each.Of(rs, of)
	slices.Sort(v)
	return v[len(v)/2]
}

// floorOf is what a subject is compared with, turn by turn, because a busy minute affects neighbouring turns alike.
var floorOf = map[string]string{"relay": "http", "durable": "relay", "command": "durable", "stored": "command", "replay": "http", "list": "http"}

// floor names what a row is compared with: the old build if there is one.
func floor(r *row) string {
	if name, ok := strings.CutPrefix(r.Name, "new "); ok {
		return "old " + name
	}
	return floorOf[r.Name]
}

// ratios are a row's throughput over its floor's in the same rounds, in order; nil = no floor was measured.
func (t *table) ratios(w *row) []float64 {
	i := slices.IndexFunc(t.rows, func(f *row) bool { return f.Name == floor(w) })
	if i < 0 {
		return nil
	}
	under := t.rows[i].Turns
	ratios := make([]float64, 0, len(w.Turns))
	for n, r := range w.Turns {
		ratios = append(ratios, r.PerSecond/under[n].PerSecond)
	}
	slices.Sort(ratios)
	return ratios
}

// columns of the table; all but the first are right-aligned.
var columns = []string{"subject", "per second", "slowest..fastest turn", "of its floor", "p50", "p99", "CPU per call", "allocations", "bytes", "commits per call", "KiB per board"}

// cells are a row's cells as printed.
func (t *table) cells(r *row) []string {
	rate := func(r result) float64 { return r.PerSecond }
	slow := slices.MinFunc(r.Turns, func(a, b result) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
	fast := slices.MaxFunc(r.Turns, func(a, b result) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
	of, part, commits := "", "", ""
	if v := t.ratios(r); len(v) > 0 {
		of = fmt.Sprintf("%.2f (%.2f..%.2f) of %s", v[len(v)/2], v[0], v[len(v)-1], floor(r))
	}
	if r.PerPart > 0 {
		part = fmt.Sprintf("%.0f", r.PerPart)
	}
	if v := median(r.Turns, func(r result) float64 { return r.Commits }); v > 0 {
		commits = fmt.Sprintf("%.2f", v)
	}
	return []string{r.Name, number(median(r.Turns, rate)), number(slow.PerSecond) + ".." + number(fast.PerSecond), of,
		ms(median(r.Turns, func(r result) time.Duration { return r.P50 })), ms(median(r.Turns, func(r result) time.Duration { return r.P99 })),
		median(r.Turns, func(r result) time.Duration { return r.CPU }).Round(time.Microsecond).String(),
		fmt.Sprintf("%.0f", median(r.Turns, func(r result) float64 { return r.Allocations })),
		fmt.Sprintf("%.0f", median(r.Turns, func(r result) float64 { return r.Bytes })), commits, part}
}

// print writes the table as Markdown that is also readable as plain text.
func (t *table) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s links, %s, %d callers, %d boards:\n\n", t.link, t.client, t.callers, t.boards)
	lines := [][]string{columns}
	for _, r := range t.rows {
		lines = append(lines, t.cells(r))
	}
	wide := make([]int, len(columns))
	for _, l := range lines {
		for i, c := range l {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	for n, l := range lines {
		for i, c := range l {
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(c))
			if i == 0 {
				c += pad
			} else {
				c = pad + c
			}
			fmt.Fprintf(out, "| %s ", c)
		}
		fmt.Fprintln(out, "|")
		if n == 0 {
			for i := range columns {
				dashes := strings.Repeat("-", wide[i]+2)
				if i > 0 {
					dashes = dashes[1:] + ":"
				}
				fmt.Fprint(out, "|"+dashes)
			}
			fmt.Fprintln(out, "|")
		}
	}
}

// number is a rate; slow subjects keep their digits.
func number(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

func environment(p plan) string {
	return fmt.Sprintf("%s %s/%s, %d CPUs, GOMAXPROCS %d; medians of %d turns of %s each, subjects taking turns; callers, server, broker and boards share the process.",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.GOMAXPROCS(0), p.rounds, p.round)
}
