package scenario

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
)

// fileRun is one file being played.
type fileRun struct {
	run  *run
	file *File

	mu          sync.Mutex
	labels      map[string]time.Time
	faults      map[string][]armed
	backgrounds map[string]*background
}

// armed is a fault in force at one listener.
type armed struct{ base, id string }

// background is a step under way.
type background struct {
	done   chan struct{}
	cancel context.CancelFunc
	result *StepResult
}

// frame is what a verb works with.
type frame struct {
	run   *run
	file  *fileRun
	scope *scope
	ctx   context.Context
	plain bool // the step has no expectations of its own
	step  *Step
	res   *StepResult
	quick bool // not the last try
}

// fields is a verb's result.
type fields = map[string]any

// verb is implemented by everything in Verbs.
type verb interface {
	run(x *frame) (fields, error)
}

// failure is an expectation that did not hold: FAIL. Other errors are BLOCKED.
type failure struct{ text string }

func (f *failure) Error() string { return f.text }

func failed(format string, args ...any) error { return &failure{fmt.Sprintf(format, args...)} }

// invalid is a run that does not count.
type invalid struct{ text string }

func (i *invalid) Error() string { return i.text }

var errNoControl = errors.New("needs a control listener")

// playFile plays one file on a clean laboratory.
func (r *run) playFile(ctx context.Context, f *File) (res FileResult) {
	fr := &fileRun{run: r, file: f, labels: map[string]time.Time{}, faults: map[string][]armed{}, backgrounds: map[string]*background{}}
	res = FileResult{Path: f.Path, Name: f.Doc.Name, Description: f.Doc.Description, Clauses: f.Doc.Clauses, Started: clock.WallNow(), Source: f.Source}
	if res.Name == "" {
		res.Name = f.Base()
	}
	began := clock.Mono()
	defer func() {
		res.Seconds = (clock.Mono() - began).Seconds()
		r.out.line("%-7s %s  %.1fs%s", res.Status, f.Base(), res.Seconds, prefixed("  ", res.Reason))
	}()
	if why := r.lacks(f); why != "" {
		res.Status, res.Reason = history.Skipped, why
		return res
	}
	r.out.line("RUN     %s: %s", f.Base(), res.Name)
	r.emit(history.Event{Kind: history.Label, Text: "file " + f.Base()})
	sc := &scope{file: fr, vars: map[string]any{}}
	err := fr.begin(ctx, sc)
	if err != nil {
		res.Status, res.Reason = history.Blocked, err.Error()
		return res
	}
	setup, ok := fr.sequence(ctx, sc, f.Doc.Setup, 0)
	res.Steps = setup
	if !ok {
		res.Status, res.Reason = history.Blocked, "set-up: "+firstBad(setup)
	} else {
		steps, _ := fr.sequence(ctx, sc, f.Doc.Steps, 0)
		res.Steps = append(res.Steps, steps...)
	}
	res.Steps = append(res.Steps, fr.end()...)
	if res.Status == "" {
		res.Status = statusOf(res.Steps)
		if res.Status != history.Pass {
			res.Reason = firstBad(res.Steps)
		}
	}
	for _, s := range res.Steps {
		r.evidence(s, f.Base())
	}
	return res
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n")
	return prefix + text
}

// begin settles the laboratory and fills the vars in.
func (f *fileRun) begin(ctx context.Context, sc *scope) error {
	if f.run.lab != nil {
		if err := f.run.settle(ctx, true); err != nil {
			return fmt.Errorf("the target is not ready: %w", err)
		}
	}
	for _, name := range keysOf(f.file.Doc.Vars) {
		v, err := f.file.Doc.Vars[name].eval(sc)
		if err != nil {
			return fmt.Errorf("var %s: %w", name, err)
		}
		if o, ok := f.run.opt.Vars[name]; ok {
			v = override(o)
		}
		sc.set(name, v)
	}
	return nil
}

// override reads a value from the command line.
func override(text string) any {
	if n, err := number(text); err == nil {
		if n == float64(int64(n)) {
			return int64(n)
		}
		return n
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}

// end cancels what is still under way in the background and collects it.
func (f *fileRun) end() (out []*StepResult) {
	f.mu.Lock()
	left := f.backgrounds
	f.backgrounds = map[string]*background{}
	f.mu.Unlock()
	names := keysOf(left)
	sort.Strings(names)
	for _, n := range names {
		b := left[n]
		<-b.done
		b.cancel()
		out = append(out, b.result)
	}
	return out
}

// sequence runs steps one after the other until one fails.
func (f *fileRun) sequence(ctx context.Context, sc *scope, steps []Step, depth int) (out []*StepResult, ok bool) {
	ok = true
	for i := range steps {
		s := &steps[i]
		if ctx.Err() != nil {
			out = append(out, &StepResult{Name: s.title(), Status: history.Blocked, Detail: ctx.Err().Error()})
			return out, false
		}
		res := f.step(ctx, sc, s, depth)
		out = append(out, res)
		if bad(res.Status) && !s.Continue {
			return out, false
		}
	}
	return out, ok
}

func bad(s history.Status) bool { return s != history.Pass && s != history.Skipped }

// step runs a step: alone, once a row, or in the background.
func (f *fileRun) step(ctx context.Context, sc *scope, s *Step, depth int) *StepResult {
	if s.Background == "" {
		return f.now(ctx, sc, s, depth)
	}
	bctx, cancel := context.WithCancel(ctx)
	b := &background{done: make(chan struct{}), cancel: cancel}
	f.mu.Lock()
	f.backgrounds[s.Background] = b
	f.mu.Unlock()
	go func() {
		defer close(b.done)
		b.result = f.now(bctx, sc, s, depth)
	}()
	return &StepResult{Name: s.title(), Verb: s.verbName(), Line: s.pos.Line, Status: history.Pass, Detail: "in the background", At: f.run.now(), Started: clock.WallNow()}
}

func (f *fileRun) now(ctx context.Context, sc *scope, s *Step, depth int) *StepResult {
	res := f.newResult(sc, s)
	defer f.run.out.step(depth, res)
	began := clock.Mono()
	defer func() { res.Seconds = (clock.Mono() - began).Seconds() }()
	if s.If != nil {
		if ok, why := s.If.holds(sc); !ok {
			res.Status, res.Detail = history.Skipped, why
			return res
		}
	}
	if s.Cases == nil {
		f.tries(ctx, sc, s, res, depth)
		return res
	}
	rows, err := s.Cases.eval(sc)
	list, ok := rows.([]any)
	if err != nil || !ok {
		res.Status, res.Detail = history.Blocked, fmt.Sprintf("cases: no list: %s %v", brief(rows, 80), err)
		return res
	}
	for i, row := range list {
		vars, ok := row.(map[string]any)
		if !ok {
			vars = map[string]any{}
		}
		inner := map[string]any{"row": row}
		for k, v := range vars {
			inner[k] = v
		}
		rowScope := sc.child(inner)
		sub := f.newResult(rowScope, s)
		sub.Name = rowName(s.title(), vars, row, i)
		start := clock.Mono()
		f.tries(ctx, rowScope, s, sub, depth)
		sub.Seconds = (clock.Mono() - start).Seconds()
		res.Children = append(res.Children, sub)
		f.run.out.step(depth+1, sub)
	}
	res.Status = statusOf(res.Children)
	if res.Status != history.Pass {
		res.Detail = firstBad(res.Children)
	}
	return res
}

func (f *fileRun) newResult(sc *scope, s *Step) *StepResult {
	boundary, err := s.Boundary.str(sc)
	if err != nil { // a column of the table of the step itself
		boundary = s.Boundary.raw
	}
	return &StepResult{Name: s.title(), Verb: s.verbName(), Line: s.pos.Line, Clauses: s.Clauses, Boundary: boundary, At: f.run.now(), Started: clock.WallNow()}
}

// rowName tells rows apart by their plain columns.
func rowName(title string, vars map[string]any, row any, i int) string {
	var cols []string
	for _, k := range keysOf(vars) {
		switch vars[k].(type) {
		case map[string]any, []any:
		default:
			cols = append(cols, k+"="+show(vars[k]))
		}
	}
	if len(vars) == 0 {
		cols = append(cols, brief(row, 40))
	}
	if len(cols) == 0 {
		cols = append(cols, fmt.Sprint(i+1))
	}
	return title + " [" + strings.Join(cols, " ") + "]"
}

// statusOf is the worst of several; all skipped is skipped.
func statusOf(steps []*StepResult) history.Status {
	out := history.Status("")
	for _, s := range steps {
		out = heavier(out, s.Status)
	}
	if out == "" {
		return history.Pass
	}
	return out
}

// firstBad is the first thing that went wrong.
func firstBad(steps []*StepResult) string {
	for _, s := range steps {
		if bad(s.Status) {
			if len(s.Children) > 0 {
				if t := firstBad(s.Children); t != "" {
					return t
				}
			}
			return s.Name + ": " + s.Detail
		}
	}
	return ""
}

// evidence gives the ledger a step's clauses: a table's rows one by one.
func (r *run) evidence(s *StepResult, file string) {
	leaves := false
	for _, c := range s.Children {
		r.evidence(c, file)
		leaves = leaves || len(c.Clauses) > 0
	}
	if !leaves && s.Detail != "in the background" {
		r.assert(s, file)
	}
}
