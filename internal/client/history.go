package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
)

// History reads the events of a control listener, however many there are; the
// history's closing line says how many were sent. Errors: *Error,
// ErrUnreachable, history.ErrTruncated, or of a line that is not an event.
func (c Client) History(ctx context.Context) (events []history.Event, err error) {
	err = c.history(ctx, func(e *history.Event) { events = append(events, *e) })
	return events, err
}

// HistorySince is History for a run that began when the listener had told the
// event with the number mark: what stood then, and every event since.
func (c Client) HistorySince(ctx context.Context, mark int64) (base, events []history.Event, err error) {
	var standing history.Standing
	err = c.history(ctx, func(e *history.Event) {
		if e.Seq <= mark {
			standing.See(*e)
		} else {
			events = append(events, *e)
		}
	})
	return standing.Events(), events, err
}

// HistoryFrom is HistorySince of the i-th of several listeners; marks nil = the
// history of their whole lives, without a base.
func (c Client) HistoryFrom(ctx context.Context, marks []int64, i int) (base, events []history.Event, err error) {
	if marks == nil {
		events, err = c.History(ctx)
		return nil, events, err
	}
	return c.HistorySince(ctx, marks[i])
}

func (c Client) history(ctx context.Context, each func(*history.Event)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+control.Prefix+"/history", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	patient := &http.Client{} // a history may be gigabytes: the context ends it
	if c.HTTP != nil {
		patient.Transport = c.HTTP.Transport
	}
	resp, err := patient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, c.Base, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return failure(resp.StatusCode, resp.Body)
	}
	n := 0
	if _, err := history.Decode(resp.Body, func(e *history.Event) { n++; each(e) }); err != nil {
		return fmt.Errorf("%s: after %d events: %w", c.Base, n, err)
	}
	return nil
}

// Record tells a control listener that a run begins or ends: only in between does
// it keep a history. seq is the number of the last event before the run. Errors:
// *Error, ErrUnreachable.
func (c Client) Record(ctx context.Context, on bool) (seq int64, err error) {
	method := http.MethodPost
	if !on {
		method = http.MethodDelete
	}
	var out struct{ Seq int64 }
	err = c.Do(ctx, method, control.Prefix+"/history/recording", nil, &out)
	return out.Seq, err
}
