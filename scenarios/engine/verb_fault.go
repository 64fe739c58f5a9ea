package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios/evidence"
)

func (f *Fault) title() string { return strings.TrimSpace(f.Fault.raw + " " + f.Of.raw) }

// run arms a fault at every listener that has one of the boards.
func (f *Fault) run(x *frame) (fields, error) {
	if len(x.lab().fleet) == 0 {
		return nil, errNoControl
	}
	name := need(f.Name.str(x.scope))
	kind := f.kind(x)
	body, per := f.body(x, kind), f.targets(x)
	id := ""
	a := &arming{name: cmp.Or(name, kind), fault: kind, title: x.step.title(), line: x.step.pos.Line, least: x.count(f.Hits, 1), from: clock.WallNow()}
	for _, base := range keysOf(per) {
		maps.Copy(body, per[base])
		var got struct {
			FaultID string `json:"faultId"`
		}
		if err := x.run.lab.ask(x.ctx, base, "POST", "/faults", body, &got); err != nil {
			for _, other := range a.at { // armed everywhere or nowhere: nobody would remove these
				_ = x.run.lab.ask(x.ctx, other.base, http.MethodDelete, "/faults/"+other.id, nil, nil)
			}
			return nil, err
		}
		id = got.FaultID
		a.at = append(a.at, armed{base, id})
	}
	x.file.mu.Lock()
	x.file.faults = append(x.file.faults, a)
	x.file.mu.Unlock()
	return fields{"faultId": id}, nil
}

// targets is what each listener is asked to arm.
func (f *Fault) targets(x *frame) map[string]map[string]any {
	per := map[string]map[string]any{}
	if f.Share != nil {
		share := need(f.Share.num(x.scope))
		for _, base := range x.run.lab.fleet {
			per[base] = map[string]any{"share": share}
		}
		return per
	}
	of := x.boards(f.Of)
	for base, boards := range each.By(of, func(b *boardInfo) string { return cmp.Or(b.owner, x.run.lab.fleet[0]) }) {
		per[base] = map[string]any{"boards": each.Of(boards, func(b *boardInfo) string { return b.id })}
	}
	x.res.Detail = amount.Many(len(of), "board")
	return per
}

// kind is the fault's name.
func (f *Fault) kind(x *frame) string {
	name := need(f.Fault.str(x.scope))
	if _, known := faults.Lookup(name); !known {
		panic(stop{fmt.Errorf("%s: %q is not a valid fault%s", f.Fault.raw, name, faults.Hint(name))})
	}
	return name
}

func (f *Fault) body(x *frame, kind string) map[string]any {
	body := map[string]any{"fault": kind}
	x.doorList(f.Doors, body)
	if len(f.Commands) > 0 {
		body["commands"] = f.Commands
	}
	if f.Nth != nil {
		body["nth"] = x.count(f.Nth, 0)
	}
	if f.For.set() {
		body["for"] = need(f.For.dur(x.scope)).String()
	}
	if len(f.Params) > 0 {
		body["params"] = x.values(f.Params)
	}
	return body
}

// run removes a fault; how often it did something is the result.
func (c *Clear) run(x *frame) (fields, error) {
	x.lab() // without one, no fault is armed
	name := need(c.Name.str(x.scope))
	x.file.mu.Lock()
	list := slices.DeleteFunc(slices.Clone(x.file.faults), func(a *arming) bool { return a.name != name && name != "all" })
	x.file.mu.Unlock()
	if name != "all" && len(list) == 0 {
		return nil, errors.New("no fault called " + name + " is armed")
	}
	total, cleared := 0, 0
	for _, a := range list {
		if err := x.file.disarm(x.ctx, a); err != nil {
			return nil, err
		}
		total += a.hits
		cleared += len(a.at)
	}
	x.res.Detail = amount.Many(total, "hit")
	return fields{"hits": total, "count": cleared}, nil
}

// disarm removes a fault everywhere and collects how often it acted; one that can't be removed is still armed. If it had ended by itself, its last state is read.
func (f *fileRun) disarm(ctx context.Context, a *arming) error {
	a.mu.Lock() // of parallel steps, one does it
	defer a.mu.Unlock()
	f.mu.Lock()
	armed := slices.Contains(f.faults, a)
	f.mu.Unlock()
	if !armed {
		return nil
	}
	a.hits = 0 // of a try that got only so far
	for _, at := range a.at {
		path := "/faults/" + esc(at.id)
		last, err := f.run.lab.patient(ctx, at.base, http.MethodDelete, path, nil)
		if err == nil && last.Status == http.StatusNotFound {
			last, err = f.run.lab.patient(ctx, at.base, http.MethodGet, path, nil)
		}
		var got struct {
			Hits int `json:"hits"`
		}
		if err == nil {
			err = f.run.lab.read(last, http.MethodDelete, path, &got)
		}
		if err != nil {
			return err
		}
		a.hits += got.Hits
	}
	a.to = clock.WallNow()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = slices.DeleteFunc(f.faults, func(b *arming) bool { return a == b })
	f.cleared = append(f.cleared, a)
	if a.hits < a.least {
		f.missed = append(f.missed, &StepResult{Name: a.title, Verb: "fault", Line: a.line, Status: judge.Invalid,
			Detail: fmt.Sprintf("fault %s acted %d times, but the step needs at least %d (hits): give it more boards, commands or time", a.name, a.hits, a.least),
			At:     f.run.now(), Started: a.to})
	}
	return nil
}

// unhit disarms what is still armed at the end of a file, and returns the faults that acted less than required.
func (f *fileRun) unhit(ctx context.Context) []*StepResult {
	for _, a := range slices.Clone(f.faults) {
		if err := f.disarm(ctx, a); err != nil && ctx.Err() == nil {
			f.missed = append(f.missed, &StepResult{Name: a.title, Verb: "fault", Line: a.line, Status: judge.Invalid,
				Detail: "how often fault " + a.name + " acted isn't known: " + err.Error(),
				At:     f.run.now(), Started: clock.WallNow()})
		}
	}
	f.faults = nil
	if f.badDisk != nil {
		if _, err := f.repair(ctx); err != nil && ctx.Err() == nil {
			f.missed = append(f.missed, &StepResult{Name: "disk", Verb: "disk", Status: judge.Invalid,
				Detail: "the disk couldn't be repaired: " + err.Error(), At: f.run.now(), Started: clock.WallNow()})
		}
	}
	return f.missed
}

// inForce sums up the file's faults: how often each acted, and which guarantees got evidence while it could.
func (f *fileRun) inForce(proofs []evidence.Proof) (out []report.FaultUse) {
	for _, a := range f.cleared {
		i := slices.IndexFunc(out, func(u report.FaultUse) bool { return u.Fault == a.fault })
		if i < 0 {
			i = len(out)
			out = append(out, report.FaultUse{Fault: a.fault, Clauses: map[string]int{}})
		}
		out[i].Hits += a.hits
		if a.hits > 0 {
			a.during(proofs, out[i].Clauses)
		}
	}
	return out
}

// during counts the evidence of steps that ran while the fault was armed. What
// happens at once, such as a reboot, has its effect until the file ends.
func (a *arming) during(proofs []evidence.Proof, clauses map[string]int) {
	to := a.to
	if kind, ok := faults.Lookup(a.fault); ok && kind.Acts == faults.AtOnce {
		to = clock.WallNow()
	}
	for _, p := range proofs {
		ended := p.Step.Started.Add(time.Duration(p.Step.Seconds * float64(time.Second)))
		counts := p.Status == judge.Pass || p.Status == judge.Fail
		if counts && ended.After(a.from) && p.Step.Started.Before(to) {
			clauses[p.Clause]++
		}
	}
}
