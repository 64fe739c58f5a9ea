package scenario

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
)

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
		res.Reason = r.mask.text(res.Reason)
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
		blocked(setup)
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

// blocked: what fails before the steps says nothing of a guarantee.
func blocked(setup []*StepResult) {
	for _, s := range setup {
		if s.Status == history.Fail {
			s.Status = history.Blocked
		}
		blocked(s.Children)
	}
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
