package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// fileRun is one file being played.
type fileRun struct {
	run  *run
	file *File

	mu          sync.Mutex
	labels      map[string]time.Time
	began       []time.Time // when each step did, in domain time
	faults      []*arming   // still armed
	cleared     []*arming
	missed      []*StepResult // faults that did less than they were armed for
	badDisk     *StepResult   // of the step that broke the server's disk, nil = it works
	backgrounds map[string]*background
	found       map[string]bool // names that are the results of background steps
	watch       evidence.Watch
	setup       atomic.Bool // is played; what it looks at says nothing of a guarantee
	broken      atomic.Bool // a step failed, and not because the file was interrupted
	past        evidence.Past
	hands       hands
	few         atomic.Pointer[string] // why the set-up of a file of the built-in suite found too few boards
}

// arming is a fault that a step armed, at one or several listeners.
type arming struct {
	name, title string
	fault       string
	line, least int // line of the step; hits that it must reach
	at          []armed
	from, to    time.Time // wall; to is zero while it is armed
	hits        int
	mu          sync.Mutex // held while it is disarmed
}

// armed is a fault in force at one listener.
type armed struct{ base, id string }

// background is a step in progress.
type background struct {
	done   chan struct{}
	cancel context.CancelFunc // also of steps that it has started in the background
	result *StepResult
}

// frame is what a verb has to work with.
type frame struct {
	run    *run
	file   *fileRun
	scope  *scope
	ctx    context.Context
	step   *Step
	res    *StepResult
	hollow bool     // all was checked on an empty list
	either bool     // a list of statuses from templates fits a success and a refusal
	lives  bool     // it asked whether the server listens
	sent   *request // by a call
	last   fields   // what the expectations were checked against
	act    *activity
	period time.Duration // how long a permit was asked for
	owed   error         // a threshold with clauses of its own is broken
	unsure error         // why nothing else of that load counts

	takeBack func() // forgets what the steps of a group found in a try that doesn't count
}

// fields is a verb's result.
type fields = map[string]any

// verb is implemented by everything in Verbs.
type verb interface {
	run(x *frame) (fields, error)
}

// failure is an expectation that did not hold: FAIL. Other errors are BLOCKED.
type failure struct {
	text     string
	definite bool // an expectation was evaluated, and it was false
	ofAll    bool // so was the condition for each element, which never doesn't wait for
}

func (f *failure) Error() string { return f.text }

func failed(format string, args ...any) error { return &failure{text: fmt.Sprintf(format, args...)} }

// vain is an expectation that proves nothing: BLOCKED, but tried again within eventually.
type vain struct{ text string }

func (v *vain) Error() string { return v.text }

// invalid is a run that does not count.
type invalid struct {
	text  string
	again bool // another try may succeed
}

func (i *invalid) Error() string { return i.text }

// skipped is a step that has nothing to look at because another one was skipped.
type skipped struct{ text string }

func (s *skipped) Error() string { return s.text }

var errNoControl = errors.New("needs a control listener")

// sequence runs steps in order until one fails.
func (f *fileRun) sequence(ctx context.Context, sc *scope, steps []Step, depth int) (out []*StepResult, ok bool) {
	ok = true
	for i := range steps {
		s := &steps[i]
		if ctx.Err() != nil {
			out = append(out, &StepResult{Name: s.title(), Status: judge.Blocked, Detail: cutWords(ctx.Err().Error())})
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

func bad(s judge.Status) bool { return s != judge.Pass && s != judge.Skipped }

// step runs a step: alone, once per row, or in the background.
func (f *fileRun) step(ctx context.Context, sc *scope, s *Step, depth int) *StepResult {
	if s.Background == "" {
		return f.now(ctx, sc, s, depth)
	}
	bctx, cancel := context.WithCancel(ctx)
	b := &background{done: make(chan struct{}), cancel: cancel}
	f.mu.Lock()
	taken := f.backgrounds[s.Background] != nil
	found := f.found[s.Background]
	if !taken {
		f.backgrounds[s.Background] = b
	}
	f.mu.Unlock()
	if taken { // a table's row, or a group that is tried again
		cancel()
		res := f.newResult(sc, s)
		res.Status, res.Detail = judge.Blocked, "a background called "+s.Background+" is in progress; wait for it first"
		return res
	}
	if found { // in an earlier turn; before that, the name may stand for something else
		sc.root().forget(s.Background)
	}
	go func() {
		defer close(b.done)
		b.result = f.now(bctx, sc, s, depth)
	}()
	return &StepResult{Name: s.title(), Verb: s.verbName(), Line: s.pos.Line, Status: judge.Pass, Detail: report.InBackground, At: f.run.now(), Started: clock.WallNow()}
}

func (f *fileRun) now(ctx context.Context, sc *scope, s *Step, depth int) *StepResult {
	began := clock.Mono() // before Started: what happens in the step must not lie after its end
	res := f.newResult(sc, s)
	defer func() {
		res.Seconds = (clock.Mono() - began).Seconds()
		f.run.mask.clean(res)
		f.run.out.step(depth, res)
		if depth == 0 {
			f.run.opt.Metrics.steps.WithLabelValues(string(res.Status)).Inc()
		}
	}()
	if f.run.shut(s) {
		res.Status, res.Detail = judge.Skipped, needsControl
		return res
	}
	if s.If != nil {
		switch ok, err := s.If.decides(sc); {
		case err != nil:
			res.Status, res.Detail = judge.Blocked, "if: "+err.Error()
			if s.Cases != nil {
				res.Detail += " (a condition is decided once, before the rows of cases; inside a group, once for each row)"
			}
			return res
		case !ok:
			res.Status, res.Detail, res.Clauses = judge.Skipped, "expected "+s.If.Src+s.If.found(sc), s.claims()
			return res
		}
	}
	if s.Cases == nil {
		f.tries(ctx, sc, s, res, depth)
		return res
	}
	f.table(ctx, sc, s, res, depth)
	return res
}

// table plays a step once for each row of its cases.
func (f *fileRun) table(ctx context.Context, sc *scope, s *Step, res *StepResult, depth int) {
	rows, err := s.Cases.eval(sc)
	list, ok := listOf(rows)
	switch {
	case err != nil:
		res.Status, res.Detail = judge.Blocked, "cases: "+err.Error()
		return
	case !ok:
		res.Status, res.Detail = judge.Blocked, "cases is not a list, but "+brief(rows, 80)
		return
	}
	if in, only := s.Cases.onlyList(list); only {
		res.Status, res.Detail = judge.Blocked, fmt.Sprintf("cases has a single row, which is a list of %d: leave out the brackets to get a row for each", in)
		return
	}
	least, err := s.least(sc)
	if err != nil || len(list) < least {
		res.Status, res.Detail = judge.Blocked, fmt.Sprintf("cases: %d rows, but at least %d are needed (atLeast)%s", len(list), least, because(err))
		return
	}
	if len(list) == 0 { // allowed, but no evidence
		res.Status, res.Detail = judge.Skipped, "cases: no rows"
		f.watch.Passed(s, s.pos.Line, res, s.claims(), "its table had no rows")
		return
	}
	for i, row := range list {
		vars, ok := row.(map[string]any)
		if !ok {
			vars = map[string]any{}
		}
		inner := map[string]any{"row": row}
		maps.Copy(inner, vars)
		rowScope := sc.child(inner)
		rowScope.stands = s.Cases.constant(nil)
		start := clock.Mono()
		sub := f.newResult(rowScope, s)
		sub.Name = rowName(s.title(), vars, row, i)
		f.tries(ctx, rowScope, s, sub, depth)
		sub.Seconds = (clock.Mono() - start).Seconds()
		f.run.mask.clean(sub)
		res.Children = append(res.Children, sub)
		f.run.out.step(depth+1, sub)
	}
	res.Status = statusOf(res.Children)
	if res.Status != judge.Pass {
		res.Detail = firstBad(res.Children)
	}
}

func (f *fileRun) newResult(sc *scope, s *Step) *StepResult {
	boundary, err := s.Boundary.str(sc)
	if err != nil { // a column of the table of the step itself
		boundary = s.Boundary.raw
	}
	res := &StepResult{Name: s.title(), Verb: s.verbName(), Line: s.pos.Line, Clauses: s.Clauses, Boundary: boundary, Asserts: s.asserts, At: f.run.now(), Started: clock.WallNow()}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began = append(f.began, res.At)
	return res
}

// claims are the clauses of a step and of the steps in it.
func (s *Step) claims() []string {
	out := slices.Clone([]string(s.Clauses))
	for _, in := range s.nested() {
		out = append(out, in.claims()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// least is the minimum number of rows of a table.
func (s *Step) least(sc *scope) (int, error) {
	if s.AtLeast == nil {
		return 1, nil
	}
	n, err := s.AtLeast.num(sc)
	return int(n), err
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// rowName names a row by its plain columns, which also stand where the title has them as templates.
func rowName(title string, vars map[string]any, row any, i int) string {
	var cols []string
	for _, k := range keysOf(vars) {
		switch vars[k].(type) {
		case map[string]any, []any:
		default:
			value := expression.Show(vars[k])
			cols = append(cols, k+"="+value)
			title = strings.NewReplacer("${"+k+"}", value, "${row."+k+"}", value).Replace(title)
		}
	}
	if len(vars) == 0 {
		cols = append(cols, brief(row, 40))
		title = strings.ReplaceAll(title, "${row}", brief(row, 40))
	}
	if len(cols) == 0 {
		cols = append(cols, fmt.Sprint(i+1))
	}
	return title + " [" + strings.Join(cols, " ") + "]"
}

// statusOf is the worst status; if all are skipped, skipped.
func statusOf(steps []*StepResult) judge.Status {
	out := judge.Status("")
	for _, s := range steps {
		out = judge.Heavier(out, s.Status)
	}
	if out == "" {
		return judge.Pass
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
