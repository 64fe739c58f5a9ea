package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
)

// introduce gives the fleets the address of their server, where they look up
// which revision each board should have. Only a fleet's listener has this route.
func (a *aim) introduce(ctx context.Context) error {
	for i := 1; i < len(a.control); i++ {
		body := map[string]string{"control": a.control[0], "token": a.tokens[0]}
		err := a.lab(i).Do(ctx, http.MethodPost, control.Prefix+"/server", body, nil)
		var fail *client.Error
		if err != nil && (!errors.As(err, &fail) || fail.Status != http.StatusNotFound) {
			return err
		}
	}
	return nil
}

// record has every listener of the target keep a history from now until a.stop. On an error, none does.
func (a *aim) record(ctx context.Context) error {
	stop, begun := a.stop, 0
	a.stop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
		defer cancel()
		for i := range begun {
			_, _ = a.lab(i).Record(ctx, false) // a target that is gone keeps nothing
		}
		return stop()
	}
	for i := range a.control {
		mark, err := a.lab(i).Record(ctx, true)
		if err != nil {
			return errors.Join(callError(err), a.stop())
		}
		begun++
		a.marks = append(a.marks, mark)
	}
	return nil
}

// endWithin bounds the telling of the target that a run has ended.
const endWithin = 5 * time.Second

// labClock is a clock of the target.
type labClock struct {
	Now   time.Time
	Mode  string
	State string
}

// align freezes the virtual clocks of several processes, brings them to the
// latest of them and lets them run again. The server's starts last, so a board's
// action never seems to precede the request for it. If that fails or is interrupted, they run again, too.
func (a *aim) align(ctx context.Context) (err error) {
	var server labClock
	var latest time.Time
	for i := range a.control {
		c, err := a.clock(ctx, i, http.MethodGet, control.Prefix+"/clock", nil)
		if err != nil {
			return callError(err)
		}
		if i == 0 {
			server = c
		}
		if c.Mode != server.Mode {
			return usagef("%s has a %s clock, %s a %s one; start all of them with the same --clock", a.control[0], server.Mode, a.control[i], c.Mode)
		}
	}
	if server.Mode != "virtual" || len(a.control) == 1 {
		return nil
	}
	defer func() {
		if err != nil && server.State != "frozen" {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
			defer cancel()
			_ = a.run(ctx) // what went wrong has been said
		}
	}()
	for i := range a.control {
		c, err := a.clock(ctx, i, http.MethodPost, control.Prefix+"/clock/freeze", nil)
		if err != nil {
			return callError(err)
		}
		if c.Now.After(latest) {
			latest = c.Now
		}
	}
	latest = latest.Add(time.Millisecond) // clocks are shown truncated to the millisecond
	for i := range a.control {
		if _, err := a.clock(ctx, i, http.MethodPost, control.Prefix+"/clock/advance", map[string]any{"to": latest}); err != nil {
			return callError(err)
		}
	}
	if server.State == "frozen" {
		return nil
	}
	return callError(a.run(ctx))
}

// run lets all clocks run again, the server's last.
func (a *aim) run(ctx context.Context) (err error) {
	for i := range slices.Backward(a.control) {
		_, failed := a.clock(ctx, i, http.MethodPost, control.Prefix+"/clock/run", nil)
		err = cmp.Or(err, failed)
	}
	return err
}

func (a *aim) clock(ctx context.Context, i int, method, path string, body any) (c labClock, err error) {
	err = a.lab(i).Do(ctx, method, path, body, &c)
	return c, err
}
