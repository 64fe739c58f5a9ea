package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// playFile plays one file on a clean laboratory.
func (r *run) playFile(ctx context.Context, f *File) (res FileResult) {
	fr := &fileRun{run: r, file: f, labels: map[string]time.Time{}, backgrounds: map[string]*background{}, found: map[string]bool{}}
	res = FileResult{Path: f.Path, Play: f.play, Plays: f.plays, Name: visible(f.Doc.Name), Description: visible(f.Doc.Description), Clauses: f.Doc.Clauses,
		Started: clock.WallNow(), Source: f.Source}
	res.Name = cmp.Or(res.Name, f.Base())
	began := clock.Mono()
	defer func() {
		res.Seconds = (clock.Mono() - began).Seconds()
		res.Reason = r.mask.text(res.Reason)
		if r.opt.display == nil || r.opt.Verbose { // else the summary shows it, once
			r.out.line("%s %s  %.1fs%s", r.out.colors.Status(res.Status), f.Base(), res.Seconds, prefixed("  ", res.Reason))
		}
	}()
	ctx, over := context.WithCancel(ctx) // for what steps left behind
	defer over()
	if r.opt.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.opt.Timeout, fmt.Errorf("the file did not end within %s (--timeout)", r.opt.Timeout))
		defer cancel()
	}
	if err := errors.Join(r.dir.look(ctx), r.dir.settings(ctx, f)); err != nil {
		res.Status, res.Reason = judge.Blocked, err.Error()
		return res
	}
	if r.keysOnly() && f.Doc.Needs.Boards > 0 {
		if _, err := r.dir.pick(ctx, "any", false); err != nil { // which boards there are
			res.Status, res.Reason = judge.Blocked, err.Error()
			return res
		}
	}
	if status, why := r.unfit(ctx, f); why != "" {
		res.Status, res.Reason = status, why
		return res
	}
	r.out.line("RUN     %s: %s", f.Base(), res.Name)
	r.emit(history.Event{Kind: history.Label, Text: report.FileLabel + f.Base()})
	sc := &scope{file: fr, vars: map[string]any{}}
	err := fr.begin(ctx, sc)
	if err != nil {
		if res.Status, res.Reason = judge.Blocked, err.Error(); ctx.Err() != nil {
			res.Reason = context.Cause(ctx).Error() + inProgress(res.Reason)
		}
		return res
	}
	var given []int64
	if r.lab != nil {
		if given, err = r.lab.abandoned(ctx); err != nil {
			res.Status, res.Reason = judge.Blocked, err.Error()
			return res
		}
	}
	prepared := fr.play(ctx, sc, &res)
	if res.Status == judge.Fail {
		if why := r.orphaned(ctx); why != "" {
			blocked(res.Steps)
			res.Status, res.Reason = judge.Blocked, why+"; until then: "+res.Reason
		}
	}
	fr.hands.hangUp()
	if r.lab != nil {
		fr.gaveUp(ctx, given, &res)
	}
	proofs := evidence.Proofs(res.Steps[prepared:], f.Base())
	r.assertions = append(r.assertions, each.Of(proofs, func(p evidence.Proof) judge.Assertion { return p.Assertion })...)
	res.Faults = fr.inForce(proofs)
	res.Armed = each.Of(fr.cleared, func(a *arming) report.Span { return report.Span{Fault: a.fault, From: a.from, To: a.to, Hits: a.hits} })
	return res
}

// play plays set-up and steps, and decides the file's verdict. prepared is how many of the results are the set-up's,
// which is evidence for nothing.
func (f *fileRun) play(ctx context.Context, sc *scope, res *FileResult) (prepared int) {
	doc, whole := &f.file.Doc, false
	f.setup.Store(true)
	setup, ok := f.sequence(ctx, sc, doc.Setup, 0)
	f.setup.Store(false)
	res.Prepared = clock.WallNow()
	blocked(setup)
	res.Steps, prepared = setup, len(setup)
	if !ok {
		res.Status, res.Reason = judge.Blocked, "set-up: "+f.firstBad(setup)
		if few := f.few.Load(); few != nil {
			skip(setup)
			res.Status, res.Reason = judge.Skipped, *few
		}
	} else {
		var steps []*StepResult
		steps, whole = f.sequence(ctx, sc, doc.Steps, 0)
		res.Steps = append(res.Steps, steps...)
	}
	left := f.end(whole)
	if !ok { // the set-up had started them
		blocked(left)
		prepared = len(setup) + len(left)
	}
	res.Steps = append(res.Steps, left...)
	played := len(res.Steps)
	res.Steps = append(res.Steps, f.unhit(ctx)...)
	res.Steps = append(res.Steps, f.watch.Idle()...)
	if res.Status == "" {
		if res.Status = statusOf(res.Steps); res.Status != judge.Pass {
			res.Reason = f.firstBad(res.Steps)
		}
		if res.Status == judge.Skipped && f.run.keysOnly() {
			res.Reason = needsControl
		}
	}
	if res.Status == judge.Pass && !evidence.Checked(res.Steps[len(setup):]) {
		res.Status, res.Reason = judge.Invalid, "nothing was checked: no step that ran could have failed because of the target's behaviour"
	}
	if ctx.Err() == nil || res.Status == judge.Pass {
		return prepared
	}
	at := res.Reason
	if last := f.lastBad(res.Steps[:played]); ok && last != "" {
		at = last
	}
	f.interrupted(ctx, res, at)
	return prepared
}

// interrupted decides the verdict of a file that was cut short: only what a step found before says something about the
// target. at is what was going on.
func (f *fileRun) interrupted(ctx context.Context, res *FileResult, at string) {
	status, why := judge.Blocked, context.Cause(ctx).Error()
	if errors.Is(context.Cause(ctx), context.Canceled) {
		status, why = judge.Invalid, "interrupted"
	}
	if res.Status == judge.Fail && f.broken.Load() {
		first := slices.IndexFunc(res.Steps, func(s *StepResult) bool { return s.Status == judge.Fail })
		res.Reason = f.firstBad(res.Steps[first:first+1]) + "; then " + why
		return
	}
	res.Status, res.Reason = status, why+inProgress(at)
}

// lastBad is the last thing that went wrong, "" if nothing has.
func (f *fileRun) lastBad(steps []*StepResult) string {
	for _, s := range slices.Backward(steps) {
		if bad(s.Status) {
			return f.firstBad([]*StepResult{s})
		}
	}
	return ""
}

// cuts are what a step says if the run ended under it.
var cuts = []struct {
	by   error
	said string
}{{context.Canceled, "interrupted"}, {context.DeadlineExceeded, "out of time"}}

// cutWords says in plain words at the end of a step's error that the run ended under it.
func cutWords(text string) string {
	for _, c := range cuts {
		if before, ok := strings.CutSuffix(text, c.by.Error()); ok {
			return before + c.said
		}
	}
	return text
}

// inProgress says what an interruption interrupted; that it was interrupted is said already.
func inProgress(at string) string {
	at = cutWords(at)
	for _, c := range cuts {
		if at = strings.TrimSuffix(at, ": "+c.said); at == c.said {
			at = ""
		}
	}
	if at == "" {
		return ""
	}
	return "; in progress: " + at
}

// firstBad is the first thing that went wrong, and its line in the file.
func (f *fileRun) firstBad(steps []*StepResult) string {
	for _, s := range steps {
		if bad(s.Status) {
			return fmt.Sprintf("%s:%d: %s", f.file.Path, lineOf(s), firstBad([]*StepResult{s}))
		}
	}
	return ""
}

// lineOf is the line of the innermost step that went wrong.
func lineOf(s *StepResult) int {
	for _, c := range s.Children {
		if bad(c.Status) && c.Line > 0 {
			return lineOf(c)
		}
	}
	return s.Line
}

// blocked: a failure before the steps, or in a try that wasn't the last one, says nothing about a guarantee.
func blocked(steps []*StepResult) {
	for _, s := range steps {
		if s.Status == judge.Fail {
			s.Status = judge.Blocked
		}
		if s.Rest.Status == judge.Fail {
			s.Rest.Status = judge.Blocked
		}
		for i := range s.Charges {
			if s.Charges[i].Status == judge.Fail {
				s.Charges[i].Status = judge.Blocked
			}
		}
		blocked(s.Children)
	}
}

// chargeNever charges expectations with clauses of their own with what became of their never: that they were false was
// right.
func chargeNever(s *StepResult, err error) {
	own := StepResult{}
	setStatus(&own, err)
	for i := range s.Charges {
		s.Charges[i].Status, s.Charges[i].Detail = own.Status, own.Detail
	}
	s.Rest = report.Charge{}
}

// cutShort is the error of a step whose time wasn't over when the file was interrupted: what it hadn't seen by then
// says nothing about the target.
func cutShort(res *StepResult, last error, spent, limit time.Duration) error {
	blocked([]*StepResult{res})
	at := fmt.Sprintf("cut short after %s of %s", spent.Round(time.Millisecond), limit)
	if last == nil {
		return errors.New(at)
	}
	return fmt.Errorf("%s: %s", at, last.Error())
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n")
	return prefix + text
}

// begin brings the laboratory to rest and fills in the vars.
func (f *fileRun) begin(ctx context.Context, sc *scope) error {
	if f.run.lab != nil {
		if err := f.run.reset(ctx, true); ctx.Err() != nil {
			return fmt.Errorf("bringing the target to rest: %w", err)
		} else if err != nil {
			return fmt.Errorf("the target is not ready: %w", err)
		}
	}
	vars := f.file.Doc.Vars
	for _, name := range asWritten(vars) {
		if o, ok := f.run.opt.Vars[name]; ok { // whose default may not even have a value
			sc.set(name, override(o))
			continue
		}
		for _, e := range vars[name].exprs() {
			for n := range e.Names {
				_, own := vars[n]
				if _, set := sc.get(n); own && !set {
					return fmt.Errorf("var %s: %s has no value yet: write it above", name, n)
				}
			}
		}
		v, err := vars[name].eval(sc)
		if err != nil {
			return fmt.Errorf("var %s: %w", name, err)
		}
		sc.set(name, v)
	}
	return nil
}

// asWritten lists names in the order of the file, so that a value may use those above it.
func asWritten(values map[string]Any) []string {
	return slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		p, q := values[a].pos, values[b].pos
		return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
	})
}

// override reads a value from the command line. Digits that a number would not be written with, such as those of a phone,
// are text.
func override(text string) any {
	if n, err := expression.Number(text); err == nil {
		digits := strings.Trim(text, "+-0123456789") == ""
		switch whole := int64(n); {
		case digits && fmt.Sprint(whole) != text:
			return text
		case n == float64(whole):
			return whole
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

// end waits for the steps that still run in the background, however long they take, and collects their results. A
// step that nothing waited for makes the file INVALID, unless the file ended early.
func (f *fileRun) end(whole bool) (out []*StepResult) {
	for {
		f.mu.Lock()
		left := f.backgrounds
		f.backgrounds = map[string]*background{}
		f.mu.Unlock()
		if len(left) == 0 {
			return out
		}
		for _, n := range slices.Sorted(maps.Keys(left)) {
			b := left[n]
			<-b.done // which may begin others
			if whole && b.result.Status == judge.Pass {
				b.result.Status, b.result.Detail = judge.Invalid, "no step waited for the background step "+n+", so the file may have gone on before it ended"
			}
			out = append(out, b.result)
		}
	}
}
