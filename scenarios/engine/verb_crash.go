package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
)

// Crash kills the server while it works on a command or lets in somebody who pressed a link's button.
type Crash struct {
	At Text `json:"at" jsonschema:"required,enum=after-claim,enum=before-publish,enum=after-publish,enum=before-commit,enum=after-commit,enum=before-answer,description=The step of the command at which the server dies"`
	Unheard
}

// Unheard is a command, or a press, to which nobody gets an answer.
type Unheard struct {
	Command *Command `json:"command,omitempty" jsonschema:"description=The command in progress; nobody gets an answer to it"`
	Link    *Link    `json:"link,omitempty" jsonschema:"description=Instead of a command: the press of a link's button in progress"`
}

// reviveTime bounds how long the restart may take.
const reviveTime = 60 * time.Second

// request is the command, or the press.
func (u *Unheard) request(x *frame) request {
	if u.Link != nil {
		return u.Link.request(x)
	}
	return u.Command.request(x)
}

// run arms the crash, sends the command and waits for the server to restart.
func (c *Crash) run(x *frame) (fields, error) {
	lab, at := x.lab(), need(c.At.str(x.scope))
	q := c.request(x)
	var armed struct{ Lives int64 }
	sure(lab.ask(x.ctx, lab.main, http.MethodPost, "/restart", map[string]any{"kill": true, "at": at}, &armed))
	a, err := x.run.do(x.ctx, q)
	if wrong, ok := errors.AsType[*breach](err); ok {
		return nil, wrong
	}
	if err == nil {
		return nil, notDead(at, a)
	}
	lives, err := lab.revived(x.ctx, armed.Lives)
	x.res.Detail = fmt.Sprintf("life %d", lives)
	return fields{"lives": lives}, err
}

// notDead is the error if the command got an answer. Whatever is carried out goes through every step, so its answer shows
// that the server gave it too early. A command that was refused, or is a replay, goes through none.
func notDead(at string, a *answer) error {
	if a.Status/100 == 4 || a.Status == http.StatusServiceUnavailable || a.Headers["Idempotent-Replayed"] == "true" {
		return fmt.Errorf("the command never reached %s: %s", at, a.short())
	}
	return failed("the command was answered although the server should have died at %s: %s", at, a.short())
}

// revived waits until the server has started more often than n times.
func (l *lab) revived(ctx context.Context, n int64) (int64, error) {
	for began := clock.Mono(); ; {
		var got struct{ Data struct{ Lives int64 } }
		a, err := l.call(ctx, l.main, http.MethodGet, "/restart", nil)
		if err == nil && a.Status == http.StatusOK && json.Unmarshal(a.Raw, &got) == nil && got.Data.Lives > n {
			return got.Data.Lives, nil
		}
		if clock.Mono()-began > l.revive {
			return n, errors.New("the server didn't restart: the command never reached that step, or the restart failed")
		}
		if err := client.Pause(ctx, 50*time.Millisecond); err != nil {
			return n, err
		}
	}
}
