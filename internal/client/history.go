package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/doorlab/doorlab/internal/history"
)

// History reads the events of a control listener, however many there are; the
// history's closing line says how many were sent. Errors: *Error,
// ErrUnreachable, history.ErrTruncated, or of a line that is not an event.
func (c Client) History(ctx context.Context) ([]history.Event, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+"/lab/v1/history", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	patient := &http.Client{} // a history may be gigabytes: the context ends it
	if c.HTTP != nil {
		patient.Transport = c.HTTP.Transport
	}
	resp, err := patient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnreachable, c.Base, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, failure(resp.StatusCode, resp.Body)
	}
	events, err := history.Read(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: after %d events: %w", c.Base, len(events), err)
	}
	return events, nil
}

// Record tells a control listener that a run begins or ends: only in between does
// it keep a history. A listener that always keeps one has no such route; that is
// no error. Errors: *Error, ErrUnreachable.
func (c Client) Record(ctx context.Context, on bool) error {
	method := http.MethodPost
	if !on {
		method = http.MethodDelete
	}
	err := c.Do(ctx, method, "/lab/v1/history/recording", nil, nil)
	var fail *Error
	if errors.As(err, &fail) && fail.Status == http.StatusNotFound {
		return nil
	}
	return err
}
