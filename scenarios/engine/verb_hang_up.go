package engine

import (
	"context"
	"errors"
	"fmt"
)

// HangUp sends a command, or presses a link's button, and hangs up before the answer.
type HangUp struct {
	After Dur `json:"after" jsonschema:"required,description=How long the caller waits for the answer before hanging up (wall time)"`
	Unheard
}

func (h *HangUp) title() string { return "after " + h.After.raw }

// run sends the request and gives up. It proves nothing by itself: what became of the command shows afterwards.
func (h *HangUp) run(x *frame) (fields, error) {
	after := need(h.After.dur(x.scope))
	q := h.request(x)
	if q.token == nil && q.apiKey != "" { // an exchange isn't what should be cut off
		need(x.run.api.token(q.apiKey).Bearer(x.ctx))
	}
	ctx, hangUp := context.WithTimeout(x.ctx, after)
	defer hangUp()
	a, err := x.run.do(ctx, q)
	if wrong, ok := errors.AsType[*breach](err); ok {
		return nil, wrong
	}
	if err == nil {
		return nil, fmt.Errorf("the answer came before the caller hung up: %s", a.short())
	}
	if ctx.Err() == nil || x.ctx.Err() != nil { // the request failed in another way, or the run ends
		return nil, err
	}
	return fields{}, nil
}
