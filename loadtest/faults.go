package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/faults"
)

// ErrNoFaults: a plan has faults, and the target no control listener that could arm them.
var ErrNoFaults = errors.New("the plan has faults, and arming them needs the target's control listener: --control")

// PlannedFault is a fault that is in force for a part of the load.
type PlannedFault struct {
	At       Duration       `yaml:"at,omitempty" json:"at,omitempty" jsonschema:"description=how long after the first request it is armed; default at once"`
	For      Duration       `yaml:"for,omitempty" json:"for,omitempty" jsonschema:"description=how long it lasts; by default to the end of the load"`
	Fault    string         `yaml:"fault" json:"fault" jsonschema:"description=its name; see docs/faults.md"`
	Share    Share          `yaml:"share" json:"share" jsonschema:"description=the share of the live boards that it is armed on"`
	Params   map[string]any `yaml:"params,omitempty" json:"params,omitempty" jsonschema:"description=the fault's own parameters"`
	Commands []string       `yaml:"commands,omitempty" json:"commands,omitempty" jsonschema:"description=only these commands: open, hold or close"`
}

// FaultUse is what a planned fault did.
type FaultUse struct {
	PlannedFault
	Hits  int64  `json:"hits"`            // how often it acted
	Error string `json:"error,omitempty"` // why it wasn't armed, or why its hits aren't known
}

// said is a fault in a report.
func (f FaultUse) said() string {
	until := "to the end"
	if f.For > 0 {
		until = "for " + span(f.For)
	}
	out := fmt.Sprintf("fault %s on %s of the boards, from %s %s: %s", f.Fault, f.Share, span(f.At), until, amount.Many(int(f.Hits), "hit"))
	if f.Error != "" {
		out += " (" + f.Error + ")"
	}
	return out
}

// faults looks for mistakes in the faults of a plan.
func (c *check) faults(p Plan) {
	c.want(len(p.Faults) == 0 || p.Pacer != "search", "$.faults", "a search has no timeline; use another pacer")
	for i, f := range p.Faults {
		at := fmt.Sprintf("$.faults[%d].", i)
		c.want(f.At >= 0, at+"at", "must not be negative")
		c.want(f.For > 0 || f.For == 0 && !c.given(fmt.Sprintf("faults[%d].for", i)), at+"for", "must be longer than 0")
		asked := faults.Asked{Fault: f.Fault, Commands: f.Commands, Share: new(float64(f.Share)), Params: f.Params} // the load itself ends it
		for _, bad := range asked.Problems() {
			c.want(false, at+bad.Field, "%s", bad)
		}
	}
}

// disturb arms the plan's faults when they are due. The returned function removes what is left of them and says what
// each did.
func (r *runner) disturb(run context.Context) (end func() []FaultUse) {
	ctx, over := context.WithCancel(run)
	uses := make([]FaultUse, len(r.plan.Faults))
	var all sync.WaitGroup
	for i, f := range r.plan.Faults {
		all.Go(func() { uses[i] = r.use(ctx, run, f) })
	}
	return func() []FaultUse {
		over()
		all.Wait()
		return uses
	}
}

// arms is how long arming or removing a fault may take. Boards have up to five seconds to notice one. Once the run is
// interrupted, it has only a moment left, because a command should end soon then.
const (
	arms   = 10 * time.Second
	moment = 2 * time.Second
)

// finishing is a context for a request that the end of the load doesn't end: who gives it up can't know what it did.
func finishing(run context.Context) (context.Context, context.CancelFunc) {
	own, cancel := context.WithTimeout(context.WithoutCancel(run), arms)
	stop := context.AfterFunc(run, func() { clock.WallAfter(moment, cancel) })
	return own, func() { stop(); cancel() }
}

// use is the life of one fault, until ctx ends with the load. run ends only if that is interrupted.
func (r *runner) use(ctx, run context.Context, f PlannedFault) FaultUse {
	use := FaultUse{PlannedFault: f}
	if client.Pause(ctx, time.Duration(f.At)) != nil {
		use.Error = "the load was over before it was due"
		return use
	}
	type armed struct {
		at client.Client
		id string
	}
	var list []armed
	var failed error
	arming, cancel := finishing(run)
	defer cancel()
	for _, c := range r.control { // of several processes, those that simulate boards
		var got struct{ FaultID string }
		body := map[string]any{"fault": f.Fault, "share": float64(f.Share), "params": f.Params, "commands": f.Commands}
		if err := c.Do(arming, http.MethodPost, control.Prefix+"/faults", body, &got); err != nil {
			failed = err
			continue
		}
		list = append(list, armed{c, got.FaultID})
	}
	switch {
	case len(list) == 0:
		if use.Error = fmt.Sprint("it couldn't be armed: ", failed); run.Err() != nil {
			use.Error += "; it may be armed all the same"
		}
		return use
	case ctx.Err() != nil:
		use.Error = "the load was over before it was armed"
	}
	if f.For > 0 {
		_ = client.Pause(ctx, time.Duration(f.For)) // or until the load is over
	} else {
		<-ctx.Done()
	}
	last, cancel := finishing(run)
	defer cancel()
	for _, a := range list {
		var got struct{ Hits int64 }
		path := control.Prefix + "/faults/" + a.id
		err := a.at.Do(last, http.MethodDelete, path, nil, &got)
		if e := (*client.Error)(nil); errors.As(err, &e) && e.Status == http.StatusNotFound { // it acts at once and is gone
			err = a.at.Do(last, http.MethodGet, path, nil, &got)
		}
		if err != nil {
			use.Error = fmt.Sprint("how often it acted isn't known: ", err)
		}
		use.Hits += got.Hits
	}
	return use
}

// judgeFaults makes a run INVALID whose faults didn't act: it says nothing about them. One that stopped before a fault was due
// doesn't need it: its broken limit stands.
func (r *Result) judgeFaults(c *collector) {
	for _, f := range r.Faults {
		switch {
		case c.aborted != nil && time.Duration(f.At) > c.lastSent:
		case f.Error != "":
			r.doubt(fmt.Sprintf("the fault %s at %s: %s", f.Fault, span(f.At), f.Error))
		case f.Hits == 0:
			r.doubt(fmt.Sprintf("the fault %s at %s never acted", f.Fault, span(f.At)))
		}
	}
}
