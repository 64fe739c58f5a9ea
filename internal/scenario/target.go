package scenario

import (
	"context"
	"io"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/loadtest"
)

// Target is where a run goes. A deployment without a control listener works for
// files whose steps need none.
type Target struct {
	HTTP         string   `json:"http"`    // base URL of the public API
	Control      []string `json:"control"` // base URLs of the control listeners
	ControlToken string   `json:"-"`
	Tokens       []string `json:"-"` // one for each of Control, where they differ
	Places       []Place  `json:"places"`
}

// Place is one place and a key with both scopes.
type Place struct {
	PlaceID    string `json:"placeId"`
	Name       string `json:"name"`
	Kind       string `json:"kind"` // test or live
	APIKey     string `json:"-"`
	EntryPhone string `json:"entryPhone,omitempty"` // "" = none
}

// Loader runs a load plan; loadtest.Run is the default.
type Loader func(context.Context, loadtest.Target, loadtest.Plan, loadtest.Options) (loadtest.Result, error)

// Options of a run; the zero value works.
type Options struct {
	Seed      int64               // 0: 1
	Progress  io.Writer           // live lines, nil: silent
	Verbose   bool                // a line for passed steps too
	Vars      map[string]string   // override the files' vars
	Loader    Loader              // nil: loadtest.Run
	AllowHost bool                // load against a target that is not loopback
	Wait      time.Duration       // for a target that is not ready yet, default 5s
	Sink      func(history.Event) // sees the engine's own events as they come, nil: nobody
	Config    any                 // what the run directory keeps as configuration
}

// Result is what a run found out.
type Result struct {
	Seed       int64               `json:"seed"`
	Started    time.Time           `json:"started"`
	Seconds    float64             `json:"seconds"`
	Target     Target              `json:"target"`
	Status     history.Status      `json:"status"`
	Reason     string              `json:"reason,omitempty"` // why it is BLOCKED or INVALID
	Unreached  bool                `json:"unreached,omitempty"`
	Files      []FileResult        `json:"files"`
	Ledger     []history.Row       `json:"ledger"`
	Verdicts   []history.Verdict   `json:"-"` // of the checkers, the ledger holds them too
	Assertions []history.Assertion `json:"-"`
	Events     []history.Event     `json:"-"` // the merged history
	Config     any                 `json:"config,omitempty"`
}

// FileResult is one scenario file's.
type FileResult struct {
	Path        string         `json:"path"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Clauses     []string       `json:"clauses,omitempty"`
	Status      history.Status `json:"status"`
	Reason      string         `json:"reason,omitempty"`
	Started     time.Time      `json:"started"`
	Seconds     float64        `json:"seconds"`
	Steps       []*StepResult  `json:"steps"`
	Source      []byte         `json:"-"`
}

// StepResult is one step's, or one row's of a table.
type StepResult struct {
	Name     string         `json:"name"`
	Verb     string         `json:"verb,omitempty"`
	Line     int            `json:"line,omitempty"`
	Clauses  []string       `json:"clauses,omitempty"`
	Boundary string         `json:"boundary,omitempty"`
	Status   history.Status `json:"status"`
	Detail   string         `json:"detail,omitempty"` // why not, or the number that counts
	At       time.Time      `json:"at"`               // domain time at the start
	Started  time.Time      `json:"started"`
	Seconds  float64        `json:"seconds"`
	Children []*StepResult  `json:"children,omitempty"`
}

// ExitCode is the command line's: 0, 4 an expectation failed, 5 unreachable, 6 invalid.
func (r Result) ExitCode() int {
	switch {
	case r.Unreached:
		return 5
	case r.Status == history.Fail || r.Status == history.Blocked:
		return 4
	case r.Status == history.Invalid:
		return 6
	}
	return 0
}
