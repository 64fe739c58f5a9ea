package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/plot"
)

// diskStates are the ways in which a plan may let the server's disk be bad, as the command line writes them.
var diskStates = []string{"full", "stalled", slowDisk}

const slowDisk = "slow"

// maxSlow is the longest delay that the server accepts.
const maxSlow = time.Minute

// slowness is how much longer each write takes on a disk that is "slow 300ms", 0 on any other.
func slowness(disk string) (time.Duration, error) {
	how, delay, _ := strings.Cut(disk, " ")
	if how != slowDisk {
		return 0, nil
	}
	d, err := amount.ParseDuration(delay)
	if err != nil || d < time.Millisecond || d > maxSlow {
		return 0, errors.New("a slow disk needs a delay from 1ms to 1m: slow 300ms")
	}
	return d, nil
}

// disk looks for mistakes in a planned bad disk; path is that of the fault, with a dot.
func (c *check) disk(f PlannedFault, path string) {
	c.want(f.Fault == "", path+"fault", "must be left out: disk takes its place")
	c.want(f.Share == 0, path+"share", "must be left out: the disk is the server's, not the boards'")
	c.want(len(f.Params) == 0, path+"params", "must be left out beside disk")
	c.want(len(f.Commands) == 0, path+"commands", "must be left out beside disk")
	if how, _, _ := strings.Cut(f.Disk, " "); !slices.Contains(diskStates, how) || how != slowDisk && how != f.Disk {
		c.want(false, path+"disk", "%q is not a valid state of a disk%s; write full, stalled or slow 300ms", f.Disk, near.Hint(how, diskStates))
	} else if _, err := slowness(f.Disk); err != nil {
		c.want(false, path+"disk", "%s", err)
	}
}

// disks looks for disks that are bad at the same time: a server has one.
func (c *check) disks(p Plan) {
	for i, f := range p.Faults {
		for _, before := range p.Faults[:i] {
			if f.Disk == "" || before.Disk == "" {
				continue
			}
			apart := before.For > 0 && before.At+before.For <= f.At || f.For > 0 && f.At+f.For <= before.At
			c.want(apart, fmt.Sprintf("$.faults[%d].at", i), "the disk is already %s at that time (from %s)", before.Disk, before.At)
		}
	}
}

// spoil lets the disks of the target's servers be bad and returns the listeners that now have one. The error says where it
// may be bad without anybody knowing, or, if it is bad nowhere, why.
func (r *runner) spoil(ctx context.Context, disk string) (bad []client.Client, err error) {
	delay, err := slowness(disk)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"state": strings.Fields(disk)[0]}
	if delay > 0 {
		body["delayMs"] = delay.Milliseconds()
	}
	for i := range r.control {
		at := r.control[i].Client
		var is struct{ State string }
		switch failed := at.Do(ctx, http.MethodGet, control.Prefix+"/disk", nil, &is); {
		case notThere(failed):
			continue // a fleet's
		case failed != nil:
			return bad, fmt.Errorf("it couldn't be armed at %s: %w", at.Base, failed)
		case is.State != "ok":
			return bad, fmt.Errorf("somebody else has made the disk %s", is.State)
		}
		bad = append(bad, at) // even if the answer is lost, it is repaired
		if failed := at.Do(ctx, http.MethodPost, control.Prefix+"/disk", body, nil); failed != nil {
			return bad, fmt.Errorf("it couldn't be armed at %s: %w; it may be armed all the same", at.Base, failed)
		}
	}
	if len(bad) == 0 {
		return nil, errors.New("no control listener is a server's: pass the server's --control, too")
	}
	return bad, nil
}

// badDisks are the times of the run at which the disk was bad, of a run of so many seconds.
func (r Result) badDisks(seconds float64) (out []plot.Span) {
	for _, f := range r.Faults {
		if f.Disk == "" || f.Hits == 0 {
			continue
		}
		from, to := time.Duration(f.At).Seconds(), seconds
		if f.For > 0 {
			to = min(to, from+time.Duration(f.For).Seconds())
		}
		out = append(out, plot.Span{From: from, To: to, Title: f.said()})
	}
	return out
}

func notThere(err error) bool {
	e := (*client.Error)(nil)
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// useDisk is the life of one bad disk, from when it is due.
func (r *runner) useDisk(ctx, run context.Context, use FaultUse) FaultUse {
	arming, cancel := finishing(run)
	defer cancel()
	bad, err := r.spoil(arming, use.Disk)
	switch {
	case err != nil:
		use.Error = err.Error()
	case ctx.Err() != nil:
		use.Error = "the load was over before it was armed"
	}
	if len(bad) == 0 {
		return use
	}
	if err == nil {
		use.lasts(ctx)
	}
	last, cancel := finishing(run)
	defer cancel()
	for _, at := range bad {
		var got struct{ Hits int64 }
		if err := at.Do(last, http.MethodDelete, control.Prefix+"/disk", nil, &got); err != nil {
			use.Error = fmt.Sprintf("the disk may still be %s: %s", use.Disk, err)
		}
		use.Hits += got.Hits
	}
	return use
}
