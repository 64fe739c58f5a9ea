package engine

import (
	"context"
	"io"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/loadtest"
)

// What a run works on and what it finds; internal/report writes it.
type (
	Target     = report.Target
	Place      = report.Place
	Result     = report.Result
	FileResult = report.FileResult
	StepResult = report.Step
)

// PlacesOf are the places that a control API lists, or a testbed's ready line.
func PlacesOf(list []client.Place) []Place {
	out := make([]Place, len(list))
	for i, p := range list {
		out[i] = Place{PlaceID: p.PlaceID, Name: p.Name, Kind: p.Kind, EntryPhone: p.EntryPhone}
		if p.APIKey != nil {
			out[i].APIKey = *p.APIKey
		}
	}
	return out
}

// Loader runs a load plan; loadtest.Run is the default.
type Loader func(context.Context, loadtest.Target, loadtest.Plan, loadtest.Options) (loadtest.Result, error)

// Options of a run; the zero value works.
type Options struct {
	Seed      int64               // 0: 1
	Progress  io.Writer           // live lines, nil: silent
	Verbose   bool                // a line for passed steps too
	Terminal  bool                // Progress is one: the state is drawn there over and over
	Width     func() int          // columns of that terminal, nil: 80
	Colors    report.Colors       // of live lines
	Vars      map[string]string   // override the files' vars
	Loader    Loader              // nil: loadtest.Run
	AllowHost bool                // load against a target that is not loopback
	Wait      time.Duration       // for a target that is not ready yet, default 5s
	Sink      func(history.Event) // receives the engine's own events as they happen; nil: none
	Config    any                 // what the run directory keeps as configuration
	Require   []string            // clauses that must be proven, see judge.Basis
	Shard     *report.Shard       // the files are a part of a selection, see report.Merge
	Whole     bool                // the files are the whole built-in suite, see report.Result
	Random    bool                // the files are made up at random, see report.Result
	FailFast  bool                // play no more files after one that is neither PASS nor SKIPPED
	Timeout   time.Duration       // of a file, in wall time; 0: none
	Parallel  int                 // worlds at a time in RunApart; 0: 6
	Metrics   *Metrics            // what is counted while it runs; nil: nobody looks

	revive  time.Duration // how long a target may take to restart, reviveTime unless a test says otherwise
	display *display      // shared with the run of which this is a part; nil: its own
}
