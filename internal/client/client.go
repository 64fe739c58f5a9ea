// Package client speaks to a doorlab over HTTP: the public API and the control API, in the envelope that both share.
// Everything outside the server uses it: scenarios, loadtest, testbed's tests, cmd/doorlab.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/doorlab/doorlab/internal/control"
)

// Client calls one base address with one bearer token ("" = none).
type Client struct {
	Base  string
	Token string
	HTTP  *http.Client // nil = one with a 30 s timeout
}

const timeout = 30 * time.Second

var defaultHTTP = &http.Client{Timeout: timeout}

// Trusting is the HTTP client that a Client has by default, but with the given trust for TLS; nil for nil: the
// machine's authorities.
func Trusting(c *tls.Config) *http.Client {
	if c == nil {
		return nil
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = c
	return &http.Client{Timeout: timeout, Transport: t}
}

// Error is a failure in the envelope.
type Error struct {
	Code    string          `json:"error"`
	Message string          `json:"message"`
	Status  int             `json:"statusCode"`
	Details json.RawMessage `json:"details,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d %s)", e.Message, e.Status, e.Code) }

// failure reads an *Error; without an envelope only the status is known.
func failure(status int, body io.Reader) error {
	e := &Error{Status: status, Message: http.StatusText(status)}
	b, err := io.ReadAll(io.LimitReader(body, 1<<20))
	if err == nil && json.Unmarshal(b, e) != nil {
		e.Code = ""
	}
	return e
}

// ErrUnreachable: nothing answered at the address.
var ErrUnreachable = errors.New("unreachable")

// ErrForeign: the answer isn't in the envelope, so something else answered.
var ErrForeign = errors.New("not a doorlab response (no envelope)")

// ErrUnfit: a success's data has another form than the API's.
var ErrUnfit = errors.New("the answer's data isn't what this call answers")

// Call makes one attempt with a JSON body (nil = none, []byte = as is) and an idempotency key ("" = none). Errors:
// ErrUnreachable, or of encoding the body.
func (c Client) Call(ctx context.Context, method, path, key string, body any) (*Answer, error) {
	raw, ready := body.([]byte)
	if body != nil && !ready {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	to, err := url.Parse(c.Base + path)
	if err != nil {
		return nil, err
	}
	return send(cmp.Or(c.HTTP, defaultHTTP), Request(ctx, method, to, c.Token, key, raw))
}

// Open asks for a door to be opened. Errors: ErrUnreachable.
func (c Client) Open(ctx context.Context, door, key string) (*Answer, error) {
	return c.Call(ctx, http.MethodPost, "/device/v1/devices/"+url.PathEscape(door)+"/commands", key, openDoor)
}

var openDoor = map[string]string{"capability": "door", "command": "open"}

// Do is a Call whose data is decoded into out (nil = ignored). Errors: also *Error, ErrForeign, ErrUnfit.
func (c Client) Do(ctx context.Context, method, path string, body, out any) error {
	a, err := c.Call(ctx, method, path, "", body)
	if err != nil {
		return err
	}
	return a.Data(out)
}

// List gets a page of a list; total is the length of the whole list. Errors: also *Error.
func (c Client) List(ctx context.Context, path string, out any) (total int, err error) {
	a, err := c.Call(ctx, http.MethodGet, path, "", nil)
	if err == nil {
		err = a.Data(out)
	}
	if err != nil {
		return 0, err
	}
	var env struct{ Total int }
	err = json.Unmarshal(a.Body, &env)
	return env.Total, err
}

// Data decodes a success's data into out (nil = ignored). Errors: *Error, ErrForeign, ErrUnfit.
func (a *Answer) Data(out any) error {
	if a.Status/100 != 2 {
		return failure(a.Status, bytes.NewReader(a.Body))
	}
	if out == nil {
		return nil
	}
	var env struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(a.Body, &env); err != nil {
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	if env.Data == nil {
		env.Data = a.Body
	}
	if err := json.Unmarshal(env.Data, out); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	return nil
}

// SignIn is the client with an access token for an API key.
func (c Client) SignIn(ctx context.Context, key string) (Client, error) {
	token, _, err := c.Exchange(ctx, key)
	c.Token = token
	return c, err
}

// Exchange trades an API key for an access token. Both are "" if a success lacks them: that is the target's mistake, which is
// judged when the token is used. Errors: also *Error, and *Limited with it.
func (c Client) Exchange(ctx context.Context, key string) (token, placeID string, err error) {
	var t struct{ AccessToken, PlaceID string }
	a, err := c.Call(ctx, http.MethodPost, "/core/v1/auth/apikey/token", "", map[string]string{"key": key})
	if err != nil {
		return "", "", err
	}
	if err = a.Data(&t); errors.Is(err, ErrUnfit) {
		return "", "", nil
	}
	if a.Status == http.StatusTooManyRequests {
		err = fmt.Errorf("%w: %w", err, &Limited{After: RetryAfter(a.Header.Get("Retry-After"))})
	}
	return t.AccessToken, t.PlaceID, err
}

// Place is one row of the control API's GET /places, and of the ready line. APIKey is nil once revoked, and for a live
// place without a key that has both scopes.
type Place struct {
	PlaceID    string  `json:"placeId"`
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`
	APIKey     *string `json:"apiKey"`
	EntryPhone string  `json:"entryPhone,omitempty"`
	OtherKeys  []Key   `json:"otherKeys,omitempty"` // of the world file; APIKey is its first with both scopes
}

// Key is an API key with its secret.
type Key struct {
	KeyID  string   `json:"keyId"`
	Name   string   `json:"name"`
	Scopes []string `json:"scopes"`
	APIKey string   `json:"apiKey"`
}

// Places lists the places and their keys (control API).
func (c Client) Places(ctx context.Context) (out []Place, err error) {
	err = c.Do(ctx, http.MethodGet, control.Prefix+"/places", nil, &out)
	return out, err
}
