package control

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
)

// TimeFormat is how times are written.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// OrNull is null for "", and TimeOrNull for no time.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// TimeOrNull writes a time.
func TimeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return OrNull(t.UTC().Format(TimeFormat))
}

type clockView struct {
	Now   string `json:"now"`
	Mode  string `json:"mode"`
	State string `json:"state"`
	// WallNs is the clock in Unix ns that stamps this process's events (clock.WallNow); whoever merges histories uses it to
	// measure how far clocks are apart. Only with ?stamp=true.
	WallNs int64 `json:"wallNs,omitempty"`
	// Abandoned is how many messages between server and boards were given up during jumps.
	Abandoned int64 `json:"abandoned,omitempty"`
}

// ClockRoutes mounts /clock, /clock/advance, /clock/freeze and /clock/run.
// moved is called after every jump; nil = not called.
func ClockRoutes(r chi.Router, clk clock.Clock, moved func(now time.Time)) {
	v, virtual := clk.(*clock.Virtual)
	show := func(w http.ResponseWriter, r *http.Request) {
		c := clockView{Now: clk.Now().UTC().Format(TimeFormat), Mode: "real", State: clock.Ready}
		stamp, ok := yes(w, r, "stamp")
		if !ok {
			return
		}
		if stamp {
			c.WallNs = clock.WallNow().UnixNano()
		}
		if virtual {
			c.Mode, c.State, c.Abandoned = "virtual", v.State(), v.Abandoned()
		}
		Data(w, c)
	}
	only := func(f http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !virtual {
				Fail(w, http.StatusConflict, "rule_violated", "the clock is real; start with --clock virtual to move it", nil)
				return
			}
			f(w, r)
		}
	}
	r.Get("/clock", show)
	r.Post("/clock/freeze", only(func(w http.ResponseWriter, r *http.Request) { v.Freeze(); show(w, r) }))
	r.Post("/clock/run", only(func(w http.ResponseWriter, r *http.Request) { v.Run(); show(w, r) }))
	var jumping sync.Mutex // until the answer has the time at which the jump ended
	r.Post("/clock/advance", only(func(w http.ResponseWriter, r *http.Request) {
		var a advance
		if !Body(w, r, &a) {
			return
		}
		if !jumping.TryLock() {
			busy(w)
			return
		}
		defer jumping.Unlock()
		to, by, ok := a.target(w, v)
		if !ok {
			return
		}
		switch err := v.Advance(to); {
		case errors.Is(err, clock.ErrPast) && by: // a running clock got there by itself
			show(w, r)
		case errors.Is(err, clock.ErrPast):
			FailField(w, "to", "is in the past, but time only moves forward")
		case errors.Is(err, clock.ErrBusy):
			busy(w)
		default:
			if moved != nil {
				moved(to)
			}
			show(w, r)
		}
	}))
}

// MaxJump bounds one advance.
const MaxJump = 10 * 365 * 24 * time.Hour

func busy(w http.ResponseWriter) {
	Fail(w, http.StatusConflict, "rule_violated", "the clock is already advancing; try again when that advance is over", nil)
}

// advance is the body of /clock/advance.
type advance struct {
	By *string `json:"by"`
	To *string `json:"to"`
}

// target is where an advance goes; by tells whether that was said as a duration, or as the millisecond that it is now.
func (a advance) target(w http.ResponseWriter, v *clock.Virtual) (to time.Time, by, ok bool) {
	if (a.By == nil) == (a.To == nil) {
		FailText(w, "by", `exactly one of by and to is needed, as in {"by":"36h"} or {"to":"2026-12-01T00:00:00Z"}`)
		return to, false, false
	}
	now := v.Now()
	field := "to"
	if a.By != nil {
		field, by = "by", true
		d, err := amount.ParseDuration(*a.By)
		switch {
		case err == nil && d < 0:
			FailField(w, "by", "must not be negative, because time only moves forward")
			return to, by, false
		case amount.TooLong(*a.By):
			d = MaxJump + 1
		case err != nil:
			FailField(w, "by", `must be a duration like "90s", "10m", "36h" or "2d"`)
			return to, by, false
		}
		to = now.Add(d)
	} else {
		t, err := time.Parse(time.RFC3339, *a.To)
		if err != nil {
			Fail(w, http.StatusBadRequest, "invalid_timestamp", "to must be an RFC 3339 time with a zone, such as 2026-12-01T09:00:00Z", map[string]any{"field": "to"})
			return to, by, false
		}
		to = t
		if !to.Before(now.Truncate(time.Millisecond)) && to.Before(now) { // the time as it was shown, without the fraction
			to, by = now, true
		}
	}
	if to.Sub(now) > MaxJump {
		FailField(w, field, "is too far: at most ten years at once")
		return to, by, false
	}
	return to.UTC(), by, true
}
