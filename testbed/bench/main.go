// Command bench measures door commands beside their floor: the same HTTP server,
// broker, client library and disk with nothing of ours in between. Floor and
// product take turns in one run, so that a busy minute hits both.
//
//	go run ./testbed/bench
//	go run ./testbed/bench -callers 64 -links tcp -boards 10000 -rounds 5 -for 5s
//	go run ./testbed/bench -only durable,command
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
	"strconv"
	"strings"
	"time"
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

// plan is what one run measures.
type plan struct {
	links   []string
	callers []int
	boards  int
	rounds  int
	round   time.Duration
	only    []string
	profile string
	json    bool
	compare string
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	p, err := parse(args, progress)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	debug.SetGCPercent(400) // as check and load do
	if p.compare != "" {
		return compare(ctx, p, out, progress)
	}
	if !p.json {
		fmt.Fprintf(out, "%s\n", environment(p))
	}
	for _, link := range p.links {
		for _, callers := range p.callers {
			t, err := measure(ctx, p, link, callers, progress)
			if err != nil {
				return err
			}
			if p.json {
				err = json.NewEncoder(out).Encode(t.rows)
			} else {
				t.print(out)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func parse(args []string, usage io.Writer) (p plan, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(usage)
	links := f.String("links", "memory,tcp", "how boards reach the broker")
	callers := f.String("callers", "64,256", "callers that each wait for an answer before they ask again")
	only := f.String("only", "", "subjects to measure, default all: "+strings.Join(names(), ","))
	f.BoolVar(&p.json, "json", false, "print the turns as JSON, one line for each kind of link and number of callers")
	f.StringVar(&p.compare, "compare", "", "another build of this program: the two take turns, a process for each turn")
	f.StringVar(&p.profile, "profile", "", "write a CPU profile of all turns to this file, and one of allocations beside it (.allocs), for go tool pprof")
	f.IntVar(&p.boards, "boards", 1000, "boards that answer at once")
	f.IntVar(&p.rounds, "rounds", 5, "turns of each subject")
	f.DurationVar(&p.round, "for", 3*time.Second, "length of one turn")
	if err := f.Parse(args); err != nil {
		return p, err
	}
	p.links = strings.Split(*links, ",")
	for _, l := range p.links {
		if l != "memory" && l != "tcp" {
			return p, fmt.Errorf("-links: %q is neither memory nor tcp", l)
		}
	}
	for _, c := range strings.Split(*callers, ",") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 {
			return p, fmt.Errorf("-callers: %q is not a number of callers", c)
		}
		p.callers = append(p.callers, n)
	}
	p.only = names()
	if *only != "" {
		p.only = strings.Split(*only, ",")
	}
	for _, name := range p.only {
		if subjects[name] == nil {
			return p, fmt.Errorf("-only: %q is not a subject; there are %s", name, strings.Join(names(), ", "))
		}
	}
	if p.boards < 1 || p.rounds < 1 || p.round <= 0 {
		return p, fmt.Errorf("-boards, -rounds and -for must be positive")
	}
	return p, nil
}

// measure starts all subjects and lets them take turns.
func measure(ctx context.Context, p plan, link string, callers int, progress io.Writer) (_ *table, err error) {
	t := &table{link: link, callers: callers, boards: p.boards}
	var running []*subject
	defer func() {
		for _, s := range running {
			if e := s.stop(); err == nil {
				err = e
			}
		}
	}()
	for _, name := range p.only {
		fmt.Fprintf(progress, "%s links, %d callers: starting %s ...\n", link, callers, name)
		s, err := subjects[name](ctx, setup{link: link, boards: p.boards, callers: callers})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.name = name
		running = append(running, s)
	}
	for _, s := range running { // connections and statements are made
		if _, err := s.turn(ctx, callers, p.round/3); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if p.profile != "" {
		file, err := os.Create(p.profile)
		if err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return nil, err
		}
		defer func() {
			pprof.StopCPUProfile()
			_ = file.Close()
			if mem, err := os.Create(p.profile + ".allocs"); err == nil {
				_ = pprof.Lookup("allocs").WriteTo(mem, 0)
				_ = mem.Close()
			}
		}()
	}
	for round := range p.rounds {
		for _, s := range running {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, p.rounds, s.name)
			r, err := s.turn(ctx, callers, p.round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			t.add(s.name, r)
		}
	}
	return t, nil
}
