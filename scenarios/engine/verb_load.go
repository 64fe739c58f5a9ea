package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/loadtest"
)

func (l *LoadPlan) title() string { return strings.TrimSpace(l.Plan.Name) }

// BindShort takes the name of a built-in plan.
func (l *LoadPlan) BindShort(_ *strictyaml.Binder, text string, pos Pos) {
	l.BuiltIn, l.pos = text, pos
}

// builtIn puts the built-in plan in the place of the one that would have been written.
func (c *checker) builtIn(l *LoadPlan, given func(key string) bool) {
	p, err := loadtest.BuiltIn(l.BuiltIn)
	if err != nil {
		c.b.Problem(l.pos, "load: %s", err)
		return
	}
	for field := range reflect.TypeFor[loadtest.Plan]().Fields() {
		if key := strictyaml.KeyName(field); key != "rate" && key != "duration" && given(key) {
			c.b.Problem(l.pos, "load: %s can't be combined with plan: a built-in plan takes only another rate and duration", key)
		}
	}
	if l.Plan, err = p.At(l.Rate, l.Duration); err != nil {
		c.b.Problem(l.pos, "load: %s", err)
	}
}

// run drives door commands at the plan's rate; its attempts are in the history
// like the engine's own.
func (l *LoadPlan) run(x *frame) (fields, error) {
	t := x.run.target
	t.Ahead = 0 // a control listener tells more exactly, and without one the file would not be played
	plan := l.Plan
	plan.Name = cmp.Or(plan.Name, x.file.file.Base())
	if plan.Duration > 0 {
		x.may(time.Duration(plan.Duration))
	}
	sure(x.run.dir.look((&trace{}).on(x.ctx))) // this file, too, may have taken boards over
	spare := x.run.dir.spared()
	if l.Of.set() {
		t.Places, spare = x.run.dir.only(t.Places, x.boards(l.Of), spare)
	}
	res := need(x.run.opt.Loader(x.ctx, t, plan, loadtest.Options{History: x.run.loaded, Clock: domainTime{x.run}, Seed: x.run.seed, AllowHost: x.run.opt.AllowHost, Spare: spare}))
	out := loadFields(res)
	x.res.Detail = fmt.Sprintf("%d sent at %.0f/s, outcomes %s", res.Sent, res.SentRate, brief(out["outcomes"], 160))
	for _, made := range res.Shown() { // seen only if the step doesn't pass
		traceKeep(x.ctx, traced{made: &made})
	}
	switch res.Verdict {
	case loadtest.Blocked:
		return out, errors.New(strings.Join(res.Reasons, "; "))
	case loadtest.Invalid:
		return out, &invalid{text: strings.Join(res.Reasons, "; ")}
	}
	if err := l.charge(x, res); err != nil || x.owed != nil {
		return out, err
	}
	if n := len(res.Thresholds); n > 0 && !slices.ContainsFunc(res.Thresholds, func(t loadtest.Threshold) bool { return !t.Idle }) {
		return out, &invalid{text: fmt.Sprintf("none of the %d thresholds could have been broken by the %d requests sent", n, res.Sent)}
	}
	if least := x.count(l.MinRate, 0); res.SentRate < float64(least) {
		return out, &invalid{text: fmt.Sprintf("only %.1f commands/s were sent; the run needs %d", res.SentRate, least)}
	}
	return out, nil
}

func loadFields(res loadtest.Result) fields {
	outcomes := map[string]any{}
	for _, o := range []vocab.Outcome{vocab.Reported, vocab.Offline, vocab.Refused, vocab.NoResponse} { // none is 0, not absent
		outcomes[string(o)] = int64(0)
	}
	for _, o := range res.Outcomes {
		outcomes[string(o.Name)] = o.Count
	}
	return fields{"verdict": res.Verdict, "sent": res.Sent, "sentRate": res.SentRate, "repeats": res.Repeats, "replayed": res.Replayed,
		"outcomes": outcomes, "codes": anyOfAll(res.Codes), "statuses": anyOfAll(res.Statuses), "lag": res.Lag.P99, "thresholds": len(res.Thresholds)}
}

// domainTime is what a run takes for domain time, as a clock for load.
type domainTime struct{ run *run }

// Now implements loadtest.Clock.
func (t domainTime) Now() time.Time { return t.run.now() }

// Look implements loadtest.Looker.
func (t domainTime) Look(ctx context.Context) { t.run.catchUp(ctx) }
