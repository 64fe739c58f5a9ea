// Command bench measures door commands beside their floor: the same HTTP server,
// broker, client library and disk with nothing of ours in between. Floor and
// product take turns in one run, so that a busy minute hits both.
//
//	go run ./testbed/bench
//	go run ./testbed/bench -short
//	go run ./testbed/bench -callers 64 -links memory -boards 10000 -only durable,command -for 5s
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	_ "github.com/doorlab/doorlab/internal/slack" // as cmd/doorlab
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	p, err := parse(args, progress)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	var text strings.Builder // what -into writes
	if p.into != "" {
		out = io.MultiWriter(out, &text)
	}
	if !p.json {
		fmt.Fprintln(out, environment(p))
	}
	if p.compare != "" {
		err = compare(ctx, p, out, progress)
	} else {
		err = all(ctx, p, out, progress)
	}
	if err != nil || p.into == "" {
		return err
	}
	return writeInto(p.into, text.String())
}

// all measures one setting after another.
func all(ctx context.Context, p plan, out, progress io.Writer) error {
	for _, s := range p.settings() {
		t, err := measure(ctx, p, s, progress)
		if err != nil {
			return err
		}
		if !p.json {
			t.print(out)
		} else if err := json.NewEncoder(out).Encode(t.rows); err != nil {
			return err
		}
	}
	return nil
}

// The marks around a page's tables.
const (
	intoBegin = "<!-- bench: make bench BENCH=\"-into docs/performance.md\" -->"
	intoEnd   = "<!-- end -->"
)

// writeInto writes the tables between the marks of a page.
func writeInto(path, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), intoBegin+"\n")
	_, after, also := strings.Cut(rest, intoEnd)
	if !ok || !also {
		return fmt.Errorf("-into: %s doesn't have the lines %s and %s", path, intoBegin, intoEnd)
	}
	return os.WriteFile(path, []byte(before+intoBegin+"\n"+text+intoEnd+after), 0o644)
}

// measure starts all subjects and lets them take turns.
func measure(ctx context.Context, p plan, at setup, progress io.Writer) (_ *table, err error) {
	t := &table{link: at.link, client: at.client, callers: at.callers, boards: at.boards}
	var running []*subject
	defer func() {
		for _, s := range running {
			if e := s.stop(); err == nil {
				err = e
			}
		}
	}()
	for _, name := range at.only {
		fmt.Fprintf(progress, "%s links, %d callers, %d boards: starting %s ...\n", at.link, at.callers, at.boards, name)
		s, err := t.start(ctx, name, p.rate, at)
		if err != nil {
			return nil, err
		}
		running = append(running, s)
	}
	debug.SetGCPercent(400)     // speed as check and load have it
	for _, s := range running { // connections and statements are made
		if _, err := s.turn(ctx, at.callers, p.round/3); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if p.profile != "" {
		done, err := profile(p.profile)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	for round := range p.rounds {
		for _, s := range running {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, p.rounds, s.name)
			if err := t.play(ctx, s, at.callers, p.round); err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return t, nil
}

// start starts a subject and notes the memory that it takes.
func (t *table) start(ctx context.Context, name string, rate int, at setup) (*subject, error) {
	debug.SetGCPercent(100) // memory as up has it
	before := resident()
	s, err := subjects[name](ctx, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.name = name
	if s.rate == 0 && !s.alone {
		s.rate = rate
	}
	if w := t.row(name); name != "http" {
		w.PerPart = (resident() - before) / float64(at.boards) / 1024
	}
	return s, nil
}

// play is one turn of a subject, with what it has beside it.
func (t *table) play(ctx context.Context, s *subject, callers int, d time.Duration) error {
	if s.beside == nil {
		r, err := s.turn(ctx, callers, d)
		if err == nil {
			t.add(s.name, r)
		}
		return err
	}
	r, beside, err := s.both(ctx, callers, d)
	if err == nil {
		t.add(s.name, r)
		t.add("beside "+s.name, beside)
	}
	return err
}

// profile records the CPU until it is done, and what had been allocated before it and afterwards.
func profile(path string) (done func(), err error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	allocated(path + ".before")
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
		allocated(path + ".allocs")
	}, nil
}

// allocated writes what has been allocated so far.
func allocated(path string) {
	if mem, err := os.Create(path); err == nil {
		_ = pprof.Lookup("allocs").WriteTo(mem, 0)
		_ = mem.Close()
	}
}
