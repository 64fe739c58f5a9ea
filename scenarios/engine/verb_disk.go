package engine

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Disk lets the server's disk fail, or repairs it; hits are how many writes have failed or waited.
type Disk struct {
	State Text `json:"state,omitempty" jsonschema:"enum=ok,enum=full,enum=stalled,description=full: every write fails; stalled: writes wait until the disk is ok again"`
	Slow  *Dur `json:"slow,omitempty" jsonschema:"description=Every write takes this much longer (wall time), at most 60s"`
}

var diskStates = []string{"ok", "full", "stalled"}

// maxSlow is the longest delay that the server accepts.
const maxSlow = time.Minute

func (d *Disk) BindShort(b *strictyaml.Binder, text string, pos Pos) {
	d.State.BindText(b, text, pos)
	if _, err := duration(text); err == nil {
		b.Problem(pos, "%q is not a valid state of a disk, write disk: {slow: %s}", text, text)
	} else if _, literal := d.State.Literal(); literal && !slices.Contains(diskStates, text) {
		b.Problem(pos, "%q is not a valid state of a disk%s", text, near.Hints(text, diskStates))
	}
}

func (c *checker) disk(v *Disk, pos Pos) {
	if v.State.set() == (v.Slow != nil) {
		c.b.Problem(pos, "disk takes one of ok, full, stalled and slow")
	}
	if d, ok := v.Slow.literal(); ok && (d < time.Millisecond || d > maxSlow) {
		c.b.Problem(v.Slow.pos, "slow must be between 1ms and 60s")
	}
}

func (d *Disk) title() string {
	if d.Slow != nil {
		return "slow: " + d.Slow.raw
	}
	return d.State.raw
}

func (d *Disk) run(x *frame) (fields, error) {
	lab, state := x.lab(), need(d.State.str(x.scope))
	if state == "ok" {
		hits, err := x.file.repair(x.ctx)
		x.res.Detail = amount.Many(hits, "write") + " failed or waited"
		return fields{"hits": hits}, err
	}
	body := map[string]any{"state": state}
	if d.Slow != nil {
		body = map[string]any{"state": "slow", "delayMs": need(d.Slow.dur(x.scope)).Milliseconds()}
	}
	sure(x.file.endedDisk(x.ctx))
	x.file.mu.Lock()
	x.file.badDisk = &StepResult{Name: x.step.title(), Verb: "disk", Line: x.step.pos.Line, Detail: d.title()}
	x.file.mu.Unlock()
	var got struct{ Hits int }
	err := lab.ask(x.ctx, lab.main, http.MethodPost, "/disk", body, &got)
	return fields{"hits": got.Hits}, err
}

// endedDisk repairs a bad disk that a restart of the server has already ended, so that the hits of the next one start at zero.
func (f *fileRun) endedDisk(ctx context.Context) error {
	f.mu.Lock()
	bad := f.badDisk
	f.mu.Unlock()
	var is struct{ State string }
	if bad == nil {
		return nil
	}
	err := f.run.lab.ask(ctx, f.run.lab.main, http.MethodGet, "/disk", nil, &is)
	if err == nil && is.State == "ok" {
		_, err = f.repair(ctx)
	}
	return err
}

// repair repairs the disk that a step has broken, and returns how many writes had failed or waited. If it was none, the file
// is INVALID, as with a fault that never acted.
func (f *fileRun) repair(ctx context.Context) (hits int, err error) {
	var got struct{ Hits int }
	if err := f.run.lab.ask(ctx, f.run.lab.main, http.MethodDelete, "/disk", nil, &got); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if bad := f.badDisk; bad != nil && got.Hits == 0 {
		bad.Status, bad.At, bad.Started = judge.Invalid, f.run.now(), clock.WallNow()
		bad.Detail = fmt.Sprintf("nothing was written while the disk was %s: let something write, such as a command or a permit", bad.Detail)
		f.missed = append(f.missed, bad)
	}
	f.badDisk = nil
	return got.Hits, nil
}
