package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

func (c *Clock) title() string {
	switch {
	case c.Advance != nil:
		return "advance " + c.Advance.raw
	case c.To.set():
		return "to " + c.To.raw
	}
	return c.Do
}

func (c *Clock) run(x *frame) (fields, error) {
	lab := x.lab()
	var view clockView
	switch {
	case c.Advance != nil:
		view = need(lab.advance(x.ctx, time.Time{}, need(c.Advance.dur(x.scope))))
	case c.To.set():
		view = need(lab.advance(x.ctx, x.at(c.To), 0))
	case c.Do == "":
		return nil, errors.New("clock needs one of freeze, run, advance and to")
	default:
		view = need(lab.move(x.ctx, c.Do))
	}
	x.run.saw(view)
	x.run.emit(history.Event{Kind: history.Label, Text: "clock " + c.title()})
	x.res.Detail = rfc3339(view.Now)
	return fields{"now": rfc3339(view.Now), "mode": view.Mode, "state": view.State}, nil
}

// run names this moment of domain time, as the server's clock shows it.
func (m *Mark) run(x *frame) (fields, error) {
	name := need(m.Name.str(x.scope))
	now := x.run.now()
	if x.run.lab != nil {
		at, c, err := x.run.lab.moment(x.ctx)
		sure(err)
		x.run.saw(c)
		now = at
	}
	now = now.Truncate(time.Millisecond)
	x.file.mu.Lock()
	x.file.labels[name] = now
	x.file.mu.Unlock()
	x.run.emit(history.Event{Kind: history.Label, Text: "mark " + name})
	x.res.Detail = rfc3339(now)
	return fields{"now": rfc3339(now)}, nil
}

func (d *Dur) run(x *frame) (fields, error) {
	t := need(d.dur(x.scope))
	x.may(t)
	return nil, client.Pause(x.ctx, t)
}

// run waits for a background step and takes its result over.
func (w *Wait) run(x *frame) (fields, error) {
	x.file.mu.Lock()
	b := x.file.backgrounds[w.For]
	delete(x.file.backgrounds, w.For)
	x.file.mu.Unlock()
	if b == nil {
		return nil, errors.New("no background step is called " + w.For)
	}
	select {
	case <-b.done:
	case <-x.ctx.Done(): // the next file begins without it
		b.cancel()
		<-b.done
		return nil, x.ctx.Err()
	}
	x.res.Children = append(x.res.Children, b.result)
	x.res.Detail = b.result.Detail
	switch b.result.Status {
	case judge.Fail:
		return nil, failed("%s: %s", b.result.Name, b.result.Detail)
	case judge.Invalid:
		return nil, &invalid{text: b.result.Name + ": " + b.result.Detail}
	case judge.Blocked:
		return nil, errors.New(b.result.Name + ": " + b.result.Detail)
	case judge.Skipped: // there is no result
		return nil, &skipped{b.result.Name + ": " + b.result.Detail}
	}
	out, _ := x.scope.get(w.For)
	m, _ := out.(map[string]any)
	return m, nil
}

func (*Steps) run(*frame) (fields, error) { panic("scenario: nested steps are run by nest") }

// nest runs steps in a step: in order for group, at once for parallel.
func (s *Steps) nest(x *frame, depth int) error {
	x.res.Children = nil
	if x.step.Within != nil || x.step.Eventually || x.step.Never != nil {
		depth += tried
		if x.takeBack != nil {
			x.takeBack()
		} else {
			var inner []any
			eachStep(func(s *Step) { inner = append(inner, s) }, *s)
			x.takeBack = x.file.watch.Before(inner)
		}
	}
	if s == x.step.Parallel {
		x.res.Children = make([]*StepResult, len(*s))
		var wg sync.WaitGroup
		for i := range *s {
			wg.Go(func() { x.res.Children[i] = x.file.step(x.ctx, x.scope, &(*s)[i], depth+1) })
		}
		wg.Wait()
	} else {
		x.res.Children, _ = x.file.sequence(x.ctx, x.scope, *s, depth+1)
	}
	why := firstBad(x.res.Children)
	switch statusOf(x.res.Children) {
	case judge.Fail:
		return failed("%s", why)
	case judge.Invalid:
		return &invalid{why, true}
	case judge.Blocked: // a step may have been too early; with within, all of them are tried again
		return &vain{why}
	}
	return nil
}

func (v *VarSet) run(x *frame) (fields, error) {
	for _, name := range asWritten(*v) {
		e := need((*v)[name].eval(x.scope))
		x.computed(VarSet{name: (*v)[name]})
		x.scope.root().assign(name, e)
	}
	return nil, nil
}

func (l *Log) run(x *frame) (fields, error) {
	text, err := l.Text.str(x.scope)
	x.res.Detail = text
	x.run.out.line("  LOG     %s", x.run.mask.text(text))
	return fields{"text": text}, err
}
