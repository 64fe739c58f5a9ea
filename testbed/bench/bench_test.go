package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// Every subject can be measured with small settings; the values don't matter here.
func TestEverySubject(t *testing.T) {
	t.Parallel()
	for client, link := range map[string]string{"paho": "tcp", "light": "memory"} {
		var out bytes.Buffer
		must.OK(t, run(t.Context(), []string{"-boards", "30", "-callers", "3", "-links", link, "-client", client, "-rounds", "1", "-for", "30ms", "-rows", "20", "-records", "300", "-permits", "50", "-only", strings.Join(append(names(), onDemand...), ",")}, &out, io.Discard))
		for _, want := range append(append(names(), onDemand...), "beside browse", link+" links, "+client+", 3 callers, 30 boards") {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the table doesn't have %q:\n%s", want, out.String())
			}
		}
	}
}

func TestRefusesWhatItCantMeasure(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{"-links=serial": "-links", "-client=fast": "-client", "-callers=none": "-callers", "-only=door": "-only", "-boards=0": "-boards", "-rounds=0": "-rounds"} {
		if err := run(t.Context(), []string{arg}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that names %s", arg, err, want)
		}
	}
}

// A ratio compares neighbouring turns, not medians taken minutes apart.
func TestRatioOfNeighbours(t *testing.T) {
	t.Parallel()
	var tab table
	for _, v := range []struct{ floor, command float64 }{{1000, 500}, {100, 60}, {10, 2}} { // the machine gets busier and busier
		tab.add("durable", result{PerSecond: v.floor, P50: time.Millisecond})
		tab.add("command", result{PerSecond: v.command, P50: time.Millisecond})
	}
	if got := tab.ratios(tab.rows[1]); !slices.Equal(got, []float64{0.2, 0.5, 0.6}) {
		t.Errorf("ratios %v, want 0.2, 0.5 and 0.6: of neighbours", got)
	}
	if got := tab.cells(tab.rows[1])[3]; got != "0.50 (0.20..0.60) of durable" {
		t.Errorf("the cell says %q, want 0.50 (0.20..0.60) of durable", got)
	}
	if got := tab.ratios(tab.rows[0]); got != nil {
		t.Errorf("ratios %v of a floor that wasn't measured, want none", got)
	}
}

// TestTurnOfABusyMachine: a turn that is over before its callers start has figures all the same, and one at a rate has the calls that
// its time has room for, not one for each caller.
func TestTurnOfABusyMachine(t *testing.T) {
	t.Parallel()
	for rate, want := range map[int]int64{0: 8, 200: 2} {
		var calls atomic.Int64
		s := &subject{rate: rate, call: func(context.Context, int, int) error { calls.Add(1); return nil }}
		d := time.Nanosecond // every caller is late
		if rate > 0 {
			d = 10 * time.Millisecond
		}
		r, err := s.turn(t.Context(), 8, d)
		if err != nil || calls.Load() != want || r.PerSecond <= 0 || math.IsInf(r.PerSecond, 0) || r.Commits != 0 {
			t.Errorf("rate %d: %d calls, %+v, %v; want %d calls and their figures", rate, calls.Load(), r, err, want)
		}
	}
}

// -into replaces what is between the marks, and nothing if there are none.
func TestInto(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	for text, want := range map[string]string{
		"a\n" + intoBegin + "\nold\n" + intoEnd + "\nb\n": "a\n" + intoBegin + "\nnew\n" + intoEnd + "\nb\n",
		"no marks":          "",
		intoEnd + intoBegin: "",
	} {
		must.OK(t, os.WriteFile(page, []byte(text), 0o600))
		err := writeInto(page, "new\n")
		got, _ := os.ReadFile(page)
		switch {
		case want == "" && (err == nil || string(got) != text):
			t.Errorf("%q became %q, %v, want an error and the page as it was", text, got, err)
		case want != "" && (err != nil || string(got) != want):
			t.Errorf("%q became %q, %v, want %q", text, got, err, want)
		}
	}
}

// A large fleet is measured only where it fits into memory.
func TestSettings(t *testing.T) {
	t.Parallel()
	p := must.Get(parse([]string{"-boards", "1000,10000", "-callers", "64"}, io.Discard))(t)
	var got []string
	for _, s := range p.settings() {
		got = append(got, fmt.Sprint(s.link, " ", s.boards, " ", len(s.only)))
	}
	if want := []string{"memory 1000 10", "memory 10000 3", "tcp 1000 10"}; !slices.Equal(got, want) {
		t.Errorf("measured are %q, want %q", got, want)
	}
}

// TestMain runs this program itself when a comparison starts it: with -json as the first argument.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-json" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestPages runs the commands in performance.md with the smallest settings: their flags stay, except for fleet sizes,
// turns and files. A comparison takes turns with this program itself.
func TestPages(t *testing.T) {
	t.Parallel()
	raw := must.Get(os.ReadFile("../../docs/performance.md"))(t)
	played := 0
	for line := range strings.Lines(string(raw)) {
		args, ok := benchArgs(line)
		if !ok {
			continue
		}
		dir := t.TempDir()
		p, err := parse(args, io.Discard)
		if err != nil || p.into == "" && len(p.settings()) == 0 {
			t.Errorf("%s: %v, want something to measure", strings.TrimSpace(line), err)
			continue
		}
		played++
		if p.into != "" {
			p.into = filepath.Join(dir, "page.md")
			must.OK(t, os.WriteFile(p.into, raw, 0o600))
			args = append(args, "-into", p.into)
		}
		if p.profile != "" {
			args = append(args, "-profile", filepath.Join(dir, "cpu.prof"))
		}
		if p.only == nil { // all subjects: see TestEverySubject
			args = append(args, "-only", "command")
		}
		args = append(args, "-boards", "30", "-callers", "3", "-links", p.links[0], "-rounds", "1", "-for", "30ms", "-rows", "20", "-records", "300", "-permits", "50")
		var out bytes.Buffer
		if err := run(t.Context(), args, &out, io.Discard); err != nil || !strings.Contains(out.String(), "command") {
			t.Errorf("%s: %v, want a table\n%s", strings.TrimSpace(line), err, out.String())
		}
	}
	if played < 8 {
		t.Errorf("%d commands found in performance.md, want at least 8", played)
	}
}

// benchArgs returns the arguments that a line of the page passes to this program, directly or through the Makefile.
func benchArgs(line string) (args []string, ok bool) {
	line, _, _ = strings.Cut(line, " #")
	line = strings.TrimSpace(line)
	rest, byHand := strings.CutPrefix(line, "go run ./testbed/bench")
	if byHand {
		return strings.Fields(rest), true
	}
	_, set, _ := strings.Cut(line, "BENCH=")
	args = strings.Fields(strings.Trim(set, `"`))
	switch {
	case strings.HasPrefix(line, "make bench-compare OLD="):
		return append([]string{"-compare", os.Args[0], "-only", "command", "-boards", "1000"}, args...), true // like the Makefile
	case line == "make bench" || strings.HasPrefix(line, "make bench BENCH="):
		return args, true
	}
	return nil, false
}
