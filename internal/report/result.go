package report

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// Target is where a run goes. A deployment without a control listener is enough for files whose steps need none.
type Target struct {
	HTTP    string   `json:"http"`    // base URL of the public API
	Control []string `json:"control"` // base URLs of the control listeners, for a load the server's first
	Tokens  []string `json:"-"`       // one for each of Control; a single one is everyone's
	Places  []Place  `json:"places"`
	// TLS is what is trusted for https; nil = the machine's authorities.
	TLS *tls.Config `json:"-"`
	// Marks are, for each of Control, where in its recording the run begins;
	// nil for a target that is the run's own.
	Marks []history.Position `json:"-"`
	// Ahead is how far the target's clock is known to be ahead of this machine's; only a control listener tells exactly.
	Ahead time.Duration `json:"-"`
}

// Token is that of the i-th control listener, "" if there is none.
func (t Target) Token(i int) string {
	if len(t.Tokens) == 0 {
		return ""
	}
	return t.Tokens[min(i, len(t.Tokens)-1)]
}

// Shared reports whether others may use the target before or during the run.
func (t Target) Shared() bool { return len(t.Marks) > 0 }

// Place is one place and a key with both scopes.
type Place struct {
	PlaceID    string `json:"placeId"`
	Name       string `json:"name"`
	Kind       string `json:"kind"` // test or live
	APIKey     string `json:"-"`
	EntryPhone string `json:"entryPhone,omitempty"` // "" = none
	Doors      int    `json:"-"`                    // in the World of a load's Part: their number; 0 everywhere = unknown
}

// Result is what a run found.
type Result struct {
	Schema     int               `json:"schema"`            // SchemaVersion of what wrote it
	Version    string            `json:"version,omitempty"` // of the program that wrote it
	Seed       int64             `json:"seed"`
	Started    time.Time         `json:"started"`
	Seconds    float64           `json:"seconds"`
	Target     Target            `json:"target"`
	Worlds     int               `json:"worlds,omitempty"` // each file had one of its own; 0 = all files shared Target
	Status     judge.Status      `json:"status"`
	Reason     string            `json:"reason,omitempty"`    // the first reason why it isn't PASS
	Trouble    string            `json:"trouble,omitempty"`   // what could not be seen of the target: at least BLOCKED
	Notes      []string          `json:"notes,omitempty"`     // what a reader has to know about the run besides its verdicts
	Foreign    judge.Foreign     `json:"foreign,omitzero"`    // what others did on the target meanwhile
	Clocks     history.Clocks    `json:"clocks,omitempty"`    // of the target's processes, against the run's own
	Unordered  int               `json:"unordered,omitempty"` // pairs of events closer together than their clocks are known
	Unreached  bool              `json:"unreached,omitempty"` // the target didn't answer, or stopped to: then Trouble says how
	Unit       string            `json:"unit,omitempty"`      // what one of its files is called: "" = scenario; age has parts
	Files      []FileResult      `json:"files"`
	Ledger     []judge.Row       `json:"ledger"`
	Verdicts   []judge.Verdict   `json:"-"` // of the checkers, the ledger holds them too
	Assertions []judge.Assertion `json:"-"`
	Events     []history.Event   `json:"-"`                // the merged history
	History    history.Summary   `json:"history,omitzero"` // of Events as the run directory keeps them
	Digest     string            `json:"digest,omitempty"` // of everything else in verdicts.json, see Digest
	Config     any               `json:"config,omitempty"`
	Require    []string          `json:"require,omitempty"`     // clauses that must be proven, see judge.Basis
	Whole      bool              `json:"whole,omitempty"`       // the whole built-in suite, which has to show more, see demands
	Random     bool              `json:"-"`                     // made up at random: claims only say to what a failure is charged
	Scores     []Score           `json:"conformance,omitempty"` // of a run with API keys only
	Faults     []FaultUse        `json:"faults,omitempty"`      // of all files
	Shard      *Shard            `json:"shard,omitempty"`       // of a run that played only a part of a selection
	Shards     []Shard           `json:"shards,omitempty"`      // of a merged result
	whole      Failure           // what keeps the run as a whole from PASS, besides its files and guarantees; see spoil
	byWorld    [][]judge.Verdict // Verdicts before they were combined
	alone      map[int]evidence  // what each of several files in one world has by itself, by its place in Files
	drawn      []drawn           // of a merged result: the shards' courses, world by world
	where      map[string]string // for a result judged world by world: the file in which a clause was first broken
	played     bool              // there was a history
	told       bool              // and it contains more than requests, see judge.Told
}

// FileResult is the result of one scenario file.
type FileResult struct {
	Path        string       `json:"path"`
	Play        int          `json:"play,omitempty"`  // which of its plays this is, from 1 ...
	Plays       int          `json:"plays,omitempty"` // ... if the run repeats it; 0 = it doesn't
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Clauses     []string     `json:"clauses,omitempty"`
	Status      judge.Status `json:"status"`
	Reason      string       `json:"reason,omitempty"`
	Broken      []Broken     `json:"broken,omitempty"` // guarantees that checkers found broken, which makes it FAIL ...
	Played      *Played      `json:"played,omitempty"` // ... and what its steps had made of it; nil = nothing was found broken
	Started     time.Time    `json:"started"`
	Prepared    time.Time    `json:"-"` // when its set-up was over
	Seconds     float64      `json:"seconds"`
	Steps       []*Step      `json:"steps"`
	Faults      []FaultUse   `json:"faults,omitempty"` // armed by its steps
	Armed       []Span       `json:"armed,omitempty"`  // each of these faults while it was in force
	Source      []byte       `json:"-"`
}

// play says which of several plays of a file it is, "" for the only one.
func (f FileResult) play() string {
	if f.Plays == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", f.Play, f.Plays)
}

// label is the file's short name, with its play.
func (f FileResult) label() string { return stem(f.Path) + bracketed(f.play()) }

// Span is when a fault was in force, in wall time.
type Span struct {
	Fault string    `json:"fault"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Hits  int       `json:"hits"`
}

// InBackground is the detail of the place that a step in the background has until it is waited for.
const InBackground = "in the background"

// Step is the result of one step, or of one row of a table.
type Step struct {
	Name     string       `json:"name"`
	Verb     string       `json:"verb,omitempty"`
	Line     int          `json:"line,omitempty"`
	Clauses  []string     `json:"clauses,omitempty"`
	Boundary string       `json:"boundary,omitempty"`
	Status   judge.Status `json:"status"`
	Detail   string       `json:"detail,omitempty"` // why it didn't pass, or the deciding number
	At       time.Time    `json:"at"`               // domain time at the start
	Started  time.Time    `json:"started"`
	Seconds  float64      `json:"seconds"`
	Children []*Step      `json:"children,omitempty"`
	Charges  []Charge     `json:"charges,omitempty"` // expectations with clauses of their own
	Asserts  bool         `json:"asserts,omitempty"` // it can fail because of what the target does
	Tries    int          `json:"tries,omitempty"`   // how often it was tried
	// For a step that didn't pass: its last requests, and the lists that it counted.
	Exchanges []Exchange `json:"exchanges,omitempty"`
	Evidence  []Evidence `json:"evidence,omitempty"`
	Expects   bool       `json:"-"` // it met expectations of its own
	Rest      Charge     `json:"-"` // about its own clauses, if an expectation failed beside charges; else Status says it
	// Unfit are clauses that it claims beside others, by why what happened is no evidence for them.
	Unfit map[string]string `json:"-"`
	Where *Where            `json:"-"` // nil: what it claims may have come up anywhere
	// Plain: it only says that a command, a press, a call or a presentation succeeds, and looks at no detail of it.
	Plain bool `json:"-"`
	// Moot are clauses of which its answer shows nothing, whoever claims them, by why.
	Moot map[string]string `json:"-"`
}

// Charge is what one expectation of a step found about its own clauses.
type Charge struct {
	Clauses []string     `json:"clauses"`
	Name    string       `json:"name"`
	Status  judge.Status `json:"status"`
	Detail  string       `json:"detail,omitempty"`
}

// Own reports whether a step with children went wrong in a way that none of them shows.
func (s *Step) Own() bool {
	worst := judge.Status("")
	for _, c := range s.Children {
		worst = judge.Heavier(worst, c.Status)
	}
	return len(s.Children) > 0 && s.Status.Outweighs(judge.Heavier(worst, judge.Pass))
}

// ExitCode is the command line's: 0, 4 an expectation failed, 5 unreachable from the start or since a moment of the run, 6
// invalid or nothing was played.
func (r Result) ExitCode() int {
	switch {
	case r.Status == judge.Fail: // also if the target died afterwards
		return 4
	case r.Unreached:
		return 5
	case r.Status == judge.Blocked:
		return 4
	case r.Status == judge.Invalid, r.Status == judge.Skipped:
		return 6
	}
	return 0
}

// Note adds a note, once.
func (res *Result) Note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(res.Notes, text) {
		res.Notes = append(res.Notes, text)
	}
}

// NotRun begins the reason of a file that the run didn't get to.
const NotRun = "not run: "

// nothingPlayed is why a run without scenarios isn't PASS.
const nothingPlayed = "the run has no scenarios, so nothing was tested"

// settle derives ledger and status from the checkers' verdicts.
func (res *Result) settle(verdicts []judge.Verdict) {
	res.Verdicts = verdicts
	res.Ledger = judge.Ledger(res.Verdicts, res.Assertions, judge.Basis{
		Silent: res.watched() && !res.told, Require: res.required(), Cases: res.complete()})
	res.Faults = res.faultUses()
	res.whole = Failure{}
	if never := res.Reason; res.Unreached && res.Trouble == "" {
		res.Status, res.Reason = judge.Blocked, ""
		res.spoil(judge.Blocked, never)
	} else {
		res.Status, res.Reason = judge.Skipped, ""
	}
	if res.Trouble != "" {
		res.spoil(judge.Blocked, res.Trouble)
	}
	res.claims()
	res.score()
	for _, f := range res.Files {
		res.Status = judge.Heavier(res.Status, f.Status)
	}
	res.ledgerSays(judge.Fail) // a broken promise is told before a scenario, and that before a missing proof
	res.filesSay()
	res.ledgerSays(judge.Invalid)
	if res.told && res.Status == judge.Pass && !slices.ContainsFunc(res.Ledger, func(r judge.Row) bool { return r.Status != judge.Skipped || r.Judged+r.Real > 0 }) {
		res.spoil(judge.Invalid, "no guarantee was exercised: no situation that a guarantee is about arose; docs/evidence.md lists them")
	}
	if idle := res.unhit(); len(idle) > 0 {
		res.spoil(judge.Invalid, "never acted during the whole suite: "+strings.Join(idle, ", ")+"; add a scenario in which each of these faults acts")
	}
	ran := func(f FileResult) bool { return !strings.HasPrefix(f.Reason, NotRun) }
	if res.Status == judge.Skipped && len(res.Files) > 0 && !slices.ContainsFunc(res.Files, ran) {
		res.Reason = cmp.Or(res.Reason, "no file was run, so nothing was tested")
	} else if res.Status == judge.Skipped && len(res.Files) > 0 {
		res.Reason = cmp.Or(res.Reason, "every file was skipped, so nothing was tested; the report says what each of them needs")
	} else if res.Status == judge.Skipped {
		res.Reason = cmp.Or(res.Reason, nothingPlayed)
	}
}

// watched reports whether the run could learn what server and boards did, not only how requests were answered.
func (res *Result) watched() bool { return len(res.Target.Control) > 0 || res.Worlds > 0 }

// spoil takes in a reason of the run as a whole, which no file and no guarantee shows.
func (res *Result) spoil(status judge.Status, why string) {
	res.Status, res.Reason = judge.Heavier(res.Status, status), cmp.Or(res.Reason, why)
	res.whole.Status = judge.Heavier(res.whole.Status, status)
	res.whole.Why = strings.TrimPrefix(res.whole.Why+"\n"+why, "\n")
}

// ledgerSays takes in the guarantees of a status, and the first of them as the reason if there is none yet.
func (res *Result) ledgerSays(status judge.Status) {
	for _, r := range res.Ledger {
		if r.Status == status {
			res.Status, res.Reason = judge.Heavier(res.Status, status), cmp.Or(res.Reason, r.Clause+": "+r.Number)
		}
	}
}

// filesSay makes the first scenario with the run's status the reason if there is none yet.
func (res *Result) filesSay() {
	if !res.Status.Outweighs(judge.Pass) {
		return
	}
	for _, f := range res.Files {
		if f.Status == res.Status {
			why := FirstLine(f.Reason)
			if !strings.HasPrefix(why, f.Path) && !strings.HasPrefix(why, filepath.Base(f.Path)) { // or it has the line of the file, too
				why = strings.TrimSuffix(f.label()+": "+why, ": ")
			}
			res.Reason = cmp.Or(res.Reason, why)
		}
	}
}
