// Package client speaks to a doorlab over HTTP: the public API and the control
// API, in the envelope both share. internal/cli and internal/testbed's tests
// use it; it imports nothing of ours.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Client calls one base address with one bearer token ("" = none).
type Client struct {
	Base  string
	Token string
	HTTP  *http.Client // nil = one with a 30 s timeout
}

var defaultHTTP = &http.Client{Timeout: 30 * time.Second}

// Error is a failure in the envelope.
type Error struct {
	Code    string          `json:"error"`
	Message string          `json:"message"`
	Status  int             `json:"statusCode"`
	Details json.RawMessage `json:"details,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d %s)", e.Message, e.Status, e.Code) }

// ErrUnreachable: nothing answered at the address.
var ErrUnreachable = errors.New("unreachable")

// Do calls method path with a JSON body (nil = none) and decodes data into out
// (nil = ignored). Errors: *Error, ErrUnreachable.
func (c Client) Do(ctx context.Context, method, path string, body, out any) error {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, r)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	h := c.HTTP
	if h == nil {
		h = defaultHTTP
	}
	resp, err := h.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, c.Base, err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, c.Base, err)
	}
	if resp.StatusCode/100 != 2 {
		e := &Error{Status: resp.StatusCode, Message: http.StatusText(resp.StatusCode)}
		_ = json.Unmarshal(b, e) // not ours to begin with: the status says it
		return e
	}
	if out == nil {
		return nil
	}
	var env struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &env); err != nil {
		return fmt.Errorf("%s %s: not the envelope: %w", method, path, err)
	}
	if env.Data == nil {
		env.Data = b
	}
	return json.Unmarshal(env.Data, out)
}

// Exchange trades an API key for an access token.
func (c Client) Exchange(ctx context.Context, key string) (token, placeID string, err error) {
	var t struct{ AccessToken, PlaceID string }
	err = c.Do(ctx, http.MethodPost, "/core/v1/auth/apikey/token", map[string]string{"key": key}, &t)
	return t.AccessToken, t.PlaceID, err
}

// Place is one row of the control API's GET /places.
type Place struct {
	PlaceID    string  `json:"placeId"`
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`
	APIKey     *string `json:"apiKey"`
	EntryPhone string  `json:"entryPhone"`
}

// Places lists the places and their keys (control API).
func (c Client) Places(ctx context.Context) (out []Place, err error) {
	err = c.Do(ctx, http.MethodGet, "/lab/v1/places", nil, &out)
	return out, err
}
