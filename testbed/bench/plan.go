package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/testbed"
)

// plan is what one run measures.
type plan struct {
	links   []string
	client  string
	callers []int
	boards  []int
	rounds  int
	round   time.Duration
	only    []string // nil = all
	rows    int      // of an import
	records int      // that are stored for those subjects that ask for it
	permits int
	rate    int // calls a second of all callers together; 0 = as many as they can
	profile string
	into    string
	json    bool
	compare string
}

// Limits of fleets: above the first, only subjects that depend on the size are measured; above the second, descriptors
// don't suffice for both ends of TCP links.
const (
	largeFleet = 5000
	mostTCP    = 9000
)

// settings are what is measured, in order.
func (p plan) settings() (out []setup) {
	for _, link := range p.links {
		for _, boards := range p.boards {
			if link == "tcp" && boards > mostTCP {
				continue
			}
			for _, callers := range p.callers {
				s := setup{link: link, client: p.client, boards: boards, callers: callers, rows: p.rows, records: p.records, permits: p.permits, only: p.only}
				if s.only == nil && boards > largeFleet {
					s.only = []string{"durable", "command", "storm"}
				} else if s.only == nil {
					s.only = names()
				}
				out = append(out, s)
			}
		}
	}
	return out
}

func parse(args []string, usage io.Writer) (p plan, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(usage)
	links := f.String("links", "memory,tcp", "how boards reach the broker")
	f.StringVar(&p.client, "client", testbed.Paho, "the boards' MQTT client, of floor and product: paho or light")
	callers := f.String("callers", "64,256", "callers that each wait for an answer before they ask again")
	boards := f.String("boards", "1000,10000", fmt.Sprintf("number of boards, which answer at once; with more than %d only durable, command and storm are measured, with more than %d not over TCP", largeFleet, mostTCP))
	only := f.String("only", "", "subjects to measure, default all: "+strings.Join(names(), ",")+"; on demand "+strings.Join(onDemand, ","))
	short := f.Bool("short", false, "the short form, three minutes: -links tcp -boards 1000 -rounds 3 and no relay, http, import, spread or storm")
	f.BoolVar(&p.json, "json", false, "print the turns as JSON, one line for each table")
	f.StringVar(&p.compare, "compare", "", "another build of this program: the two take turns, one process per turn")
	f.StringVar(&p.profile, "profile", "", "write a CPU profile of all turns to this file, and what had been allocated before and after them next to it (go tool pprof -base FILE.before FILE.allocs)")
	f.StringVar(&p.into, "into", "", "a page with a place for the tables (docs/performance.md); they are also written there")
	f.IntVar(&p.rounds, "rounds", 5, "turns of each subject")
	f.IntVar(&p.rows, "rows", 5000, "rows of an import")
	f.IntVar(&p.records, "records", 1_000_000, "records that are stored before "+strings.Join(onDemand, " and "))
	f.IntVar(&p.permits, "permits", 100_000, "permits that are stored before them")
	f.DurationVar(&p.round, "for", 2*time.Second, "length of one turn")
	f.IntVar(&p.rate, "rate", 0, "calls per second of all callers together, 0 = as many as possible; two builds compare better when both are equally busy, see -compare")
	if err := f.Parse(args); err != nil {
		return p, err
	}
	if *short {
		if err := shorten(f); err != nil {
			return p, err
		}
	}
	p.links = strings.Split(*links, ",")
	for _, l := range p.links {
		if l != "memory" && l != "tcp" {
			return p, fmt.Errorf("-links: %q is neither memory nor tcp", l)
		}
	}
	if p.client != testbed.Paho && p.client != testbed.Light {
		return p, fmt.Errorf("-client: %q is neither paho nor light", p.client)
	}
	if p.callers, err = numbers(*callers); err != nil {
		return p, fmt.Errorf("-callers: %w", err)
	}
	if p.boards, err = numbers(*boards); err != nil {
		return p, fmt.Errorf("-boards: %w", err)
	}
	if *only != "" {
		p.only = strings.Split(*only, ",")
	}
	for _, name := range p.only {
		if subjects[name] == nil {
			return p, fmt.Errorf("-only: %q is not a subject; valid: %s", name, strings.Join(append(names(), onDemand...), ", "))
		}
	}
	if p.rounds < 1 || p.rows < 1 || p.records < 0 || p.permits < 0 || p.rate < 0 || p.round <= 0 {
		return p, fmt.Errorf("-rounds, -rows and -for must be positive, -records, -permits and -rate not negative")
	}
	if len(p.settings()) == 0 {
		return p, fmt.Errorf("-links tcp takes at most %d boards", mostTCP)
	}
	return p, nil
}

// shorten sets what -short stands for, unless it was given.
func shorten(f *flag.FlagSet) error {
	form := map[string]string{"links": "tcp", "boards": "1000", "only": "durable,command,replay,list,permit", "rounds": "3"}
	f.Visit(func(given *flag.Flag) { delete(form, given.Name) })
	for name, value := range form {
		if err := f.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// numbers reads a list of positive numbers.
func numbers(list string) (out []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a positive number", text)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
