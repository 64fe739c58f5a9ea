package engine

import (
	"context"
	"net/http"
	"time"
)

// aside is what others had set up on a target: armed faults, and perhaps a frozen clock. Files expect neither, so both
// are put aside while the run's files play.
type aside struct {
	frozen bool
	faults map[string][]theirs // by control listener
}

// theirs is a fault as the control API lists it, as far as it can be armed again.
type theirs struct {
	Fault    string         `json:"fault"`
	Boards   []string       `json:"boards"`
	DoorIDs  []string       `json:"doorIds,omitempty"`
	Commands []string       `json:"commands,omitempty"`
	Nth      int            `json:"nth,omitempty"`
	Params   map[string]any `json:"params,omitempty"`
	For      string         `json:"for,omitempty"`
	Until    *time.Time     `json:"until,omitempty"`
	Hits     int            `json:"hits,omitempty"` // not asked for: left out when it is armed again
}

// spent reports whether a fault has done all that it was armed for.
func (t *theirs) spent() bool { return t.Nth > 0 && t.Hits > 0 }

// look remembers what others have set up.
func (r *run) look(ctx context.Context, c clockView) error {
	if !r.target.Shared() {
		return nil
	}
	r.aside = aside{frozen: c.State == "frozen", faults: map[string][]theirs{}}
	for _, base := range r.lab.fleet {
		var list []theirs
		if err := r.lab.ask(ctx, base, http.MethodGet, "/faults", nil, &list); err != nil {
			return err
		}
		if len(list) > 0 {
			r.aside.faults[base] = list
		}
	}
	return nil
}

// restore rearms the faults that others had armed and that have something left to do, for the rest of their time, and freezes the clock if it was frozen.
func (r *run) restore(ctx context.Context, res *Result) {
	again, err := 0, error(nil)
	for base, list := range r.aside.faults {
		for _, f := range list {
			if f.spent() {
				continue
			}
			f.Hits = 0
			if f.Until != nil {
				left := f.Until.Sub(r.now())
				if left <= 0 {
					continue
				}
				f.For, f.Until = left.String(), nil
			}
			if e := r.lab.ask(ctx, base, http.MethodPost, "/faults", f, nil); e != nil {
				err = e
				continue
			}
			again++
		}
	}
	if again > 0 {
		res.Note("faults that others had armed (%d) were removed for the run and are armed again, with new ids", again)
	}
	if r.aside.frozen {
		if _, e := r.lab.move(ctx, "freeze"); e != nil {
			err = e
		}
	}
	if err != nil && res.Trouble == "" {
		res.Trouble = "what others had set up could not be put back: " + err.Error()
	}
}
