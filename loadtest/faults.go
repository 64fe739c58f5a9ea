package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	Fault    string         `yaml:"fault,omitempty" json:"fault,omitempty" jsonschema:"description=its name; see docs/faults.md"`
	Share    Share          `yaml:"share,omitempty" json:"share,omitempty" jsonschema:"description=the share of the live boards that it is armed on"`
	Disk     string         `yaml:"disk,omitempty" json:"disk,omitempty" jsonschema:"description=in place of fault: how the server's disk is bad: full, stalled, or slow and a delay, like slow 300ms"`
	Params   map[string]any `yaml:"params,omitempty" json:"params,omitempty" jsonschema:"description=the fault's own parameters"`
	Commands []string       `yaml:"commands,omitempty" json:"commands,omitempty" jsonschema:"description=only these commands: open, hold or close"`
}

// FaultUse is what a planned fault did.
type FaultUse struct {
	PlannedFault
	Hits  int64  `json:"hits"`            // how often it acted
	Error string `json:"error,omitempty"` // why it wasn't armed, or why its hits aren't known
}

// Name is the fault, or the disk and how it is bad.
func (f PlannedFault) Name() string {
	if f.Disk != "" {
		return "disk " + f.Disk
	}
	return f.Fault
}

func (f FaultUse) said() string {
	until := "to the end"
	if f.For > 0 {
		until = "for " + span(f.For)
	}
	out := fmt.Sprintf("fault %s on %s of the boards, from %s %s: %s", f.Fault, f.Share, span(f.At), until, amount.Many(int(f.Hits), "hit"))
	if f.Disk != "" {
		out = fmt.Sprintf("%s from %s %s: %s failed or waited", f.Name(), span(f.At), until, amount.Many(int(f.Hits), "write"))
	}
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
		if end := p.lasts(); end > 0 {
			c.want(time.Duration(f.At) < end, at+"at", "%s is not before the end of the load, which lasts %s: the fault would never act", f.At, end)
		}
		c.want(f.For > 0 || f.For == 0 && !c.given(fmt.Sprintf("faults[%d].for", i)), at+"for", "must be longer than 0")
		if f.Disk != "" || c.given(fmt.Sprintf("faults[%d].disk", i)) {
			c.disk(f, at)
			continue
		}
		if slices.Contains([]string{"disk", "full", "stalled"}, f.Fault) {
			c.want(false, at+"fault", "%q is not a valid fault; for the server's disk, write disk: full, disk: stalled or disk: slow 300ms in place of fault", f.Fault)
			continue
		}
		asked := faults.Asked{Fault: f.Fault, Commands: f.Commands, Share: new(float64(f.Share)), Params: f.Params} // the load itself ends it
		for _, bad := range asked.Problems() {
			c.want(false, at+bad.Field, "%s", bad)
		}
	}
	c.disks(p)
}

// lasts is how long the plan sends, 0 if it doesn't say.
func (p Plan) lasts() (d time.Duration) {
	for _, s := range p.Stages {
		d += time.Duration(s.Duration)
	}
	return max(d, time.Duration(p.Duration))
}

// disturb arms the plan's faults when they are due. The returned function removes what is left of them and says what
// each did; nothing, if another shard's generator arms them for all.
func (r *runner) disturb(run context.Context, uses func(door string) bool) (end func() []FaultUse) {
	if len(r.control) == 0 {
		return func() []FaultUse { return nil }
	}
	ctx, over := context.WithCancel(run)
	did := make([]FaultUse, len(r.plan.Faults))
	var all sync.WaitGroup
	for i, f := range r.plan.Faults {
		all.Go(func() { did[i] = r.use(ctx, run, f, uses) })
	}
	return func() []FaultUse {
		over()
		all.Wait()
		return did
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

// use is the life of one fault, until ctx ends with the load. run ends only if that is interrupted. uses tells the doors that the
// load has used.
func (r *runner) use(ctx, run context.Context, f PlannedFault, uses func(door string) bool) FaultUse {
	use := FaultUse{PlannedFault: f}
	if client.Pause(ctx, time.Duration(f.At)) != nil {
		use.Error = "the load was over before it was due"
		return use
	}
	if f.Disk != "" {
		return r.useDisk(ctx, run, use)
	}
	arming, cancel := finishing(run)
	defer cancel()
	list, err := r.arm(arming, f)
	switch {
	case err != nil:
		use.Error = err.Error()
	case ctx.Err() != nil:
		use.Error = "the load was over before it was armed"
	}
	if len(list) == 0 {
		return use
	}
	f.lasts(ctx)
	if use.Error == "" && !slices.ContainsFunc(list, func(a armed) bool { return r.reaches(a, uses) }) {
		use.Error = "the load used no door of its boards"
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

// lasts waits until the fault is over, or the load.
func (f PlannedFault) lasts(ctx context.Context) {
	if f.For > 0 {
		_ = client.Pause(ctx, time.Duration(f.For))
	} else {
		<-ctx.Done()
	}
}

// judgeFaults makes a run INVALID whose faults didn't act: it says nothing about them. One that stopped before a fault was due
// doesn't need it: its broken limit stands.
func (r *Result) judgeFaults(c *collector) {
	for _, f := range r.Faults {
		switch {
		case c.aborted != nil && time.Duration(f.At) > c.lastSent:
		case f.Error != "":
			r.doubt(fmt.Sprintf("the fault %s at %s: %s", f.Name(), span(f.At), f.Error))
		case f.Hits == 0:
			r.doubt(fmt.Sprintf("the fault %s at %s never acted", f.Name(), span(f.At)))
		}
	}
}

// mergeFaults adds up what each fault did in the parts.
func mergeFaults(parts []Result) (out []FaultUse) {
	for _, p := range parts {
		for k, f := range p.Faults {
			if k >= len(out) {
				out = append(out, f)
				continue
			}
			out[k].Hits, out[k].Error = out[k].Hits+f.Hits, cmp.Or(out[k].Error, f.Error)
		}
	}
	return out
}
