package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
)

// History reads the events of a control listener, however many there are; the closing line says how many were sent.
// Errors: *Error, ErrUnreachable, history.ErrTruncated, or of a line that is not an event.
func (c Client) History(ctx context.Context) (events []history.Event, err error) {
	_, err = c.history(ctx, func(e *history.Event) { events = append(events, *e) })
	return events, err
}

// HistoryFrom is History for a run that began when the i-th listener's recording had reached marks[i]: the state at
// that time, and every event since. marks nil = the listeners' whole histories, without a base.
func (c Client) HistoryFrom(ctx context.Context, marks []history.Position, i int) (base, events []history.Event, err error) {
	base, err = c.EachFrom(ctx, marks, i, nil, func(e *history.Event) { events = append(events, *e) })
	return base, events, err
}

// EachFrom is HistoryFrom event by event. keep (nil = all) decides which events count; it is called for every one, in
// order. Errors: as History, and history.ErrReplaced if the recording is no longer the one in which the run began.
func (c Client) EachFrom(ctx context.Context, marks []history.Position, i int, keep func(*history.Event) bool, each func(*history.Event)) (base []history.Event, err error) {
	var standing history.Standing
	sum, err := c.history(ctx, func(e *history.Event) {
		switch {
		case keep != nil && !keep(e):
		case marks != nil && e.Seq <= marks[i].Seq:
			standing.See(*e)
		default:
			each(e)
		}
	})
	if err == nil && marks != nil && sum.Recording != marks[i].Recording {
		err = fmt.Errorf("%s: %w", c.Base, history.ErrReplaced)
	}
	return standing.Events(), err
}

func (c Client) history(ctx context.Context, each func(*history.Event)) (sum history.Summary, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+control.Prefix+"/history", nil)
	if err != nil {
		return sum, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	patient := &http.Client{} // a history may be gigabytes: the context ends it
	if c.HTTP != nil {
		patient.Transport = c.HTTP.Transport
	}
	resp, err := patient.Do(req)
	if err != nil {
		return sum, fmt.Errorf("%w: %s: %w", ErrUnreachable, c.Base, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return sum, failure(resp.StatusCode, resp.Body)
	}
	n := 0
	if sum, err = history.Decode(resp.Body, func(e *history.Event) { n++; each(e) }); err != nil {
		return sum, fmt.Errorf("%s: after %d events: %w", c.Base, n, err)
	}
	return sum, nil
}

// Record tells a control listener that a run begins or ends; it keeps a history only in between. from is where
// in its recording the run begins. Errors: *Error, ErrUnreachable.
func (c Client) Record(ctx context.Context, on bool) (from history.Position, err error) {
	method := http.MethodPost
	if !on {
		method = http.MethodDelete
	}
	var out struct {
		ID  string
		Seq int64
	}
	err = c.Do(ctx, method, control.Prefix+"/history/recording", nil, &out)
	return history.Position{Recording: out.ID, Seq: out.Seq}, err
}
