package age

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// answer is the result of a call. Status 0: there is none, because the server died.
type answer struct{ client.Answer }

// envelope is what the checkers and this package read of an answer.
type envelope struct {
	Data    json.RawMessage `json:"data"`
	Error   string          `json:"error"`
	Details struct {
		Reason     string `json:"reason"`
		CommandID  string `json:"commandId"`
		DeviceCode string `json:"deviceCode"`
		Rule       string `json:"rule"`
	} `json:"details"`
}

func (a *answer) envelope() (e envelope) {
	_ = json.Unmarshal(a.Body, &e) // an answer that isn't JSON has no fields
	return e
}

// data is what an answer carries; without fields if it carries none.
func data[T any](a *answer) (out T) {
	_ = json.Unmarshal(a.envelope().Data, &out)
	return out
}

// serve passes a request to a handler in this process.
func serve(h http.Handler, method, path, bearer, key, from string, body []byte) *answer {
	to, err := url.Parse("http://age" + path)
	if err != nil {
		return &answer{}
	}
	q := client.Request(context.Background(), method, to, bearer, key, body)
	q.RemoteAddr = from
	resp, err := client.Inside(h).Transport.RoundTrip(q)
	if err != nil { // the server was killed
		return &answer{}
	}
	defer func() { _ = resp.Body.Close() }()
	raw, _ := io.ReadAll(resp.Body) // from memory
	return &answer{client.Answer{Status: resp.StatusCode, Header: resp.Header, Body: raw}}
}

// call is a request by a place's partner, or by a person.
type call struct {
	method, path string
	body         any
	place        *place
	key          string // Idempotency-Key
	open         bool   // it takes no token
	token        string // in place of the place's own; "" = that one
}

// ask sends a call to the public API and records it in the history.
func (r *run) ask(c call) *answer {
	raw := encode(c.body)
	bearer := ""
	if !c.open {
		bearer = cmp.Or(c.token, c.place.token)
	}
	sent, ns := r.clk.Now().UnixMilli(), wallNs()
	a := serve(r.public, c.method, c.path, bearer, c.key, "", raw)
	in := history.CallIn{Method: c.method, Path: c.path, Token: bearer, SentAt: sent, SentNs: ns, Request: raw}
	if !c.open {
		in.PlaceID = c.place.id
	}
	if a.Status != 0 || c.method != http.MethodGet && c.key == "" { // a command has its attempt
		r.told(in, a)
	}
	return a
}

// told records a call in the history.
func (r *run) told(in history.CallIn, a *answer) {
	in.Status, in.PlaceKind, in.Answer, in.Replayed = a.Status, a.Header.Get("X-Place-Kind"), a.Body, a.Header.Get("Idempotent-Replayed") == "true"
	e := history.CallEvent(in)
	e.At = r.clk.Now().UnixMilli()
	r.tell(e)
}

// operate calls the control API. told: a guarantee depends on it, so it is recorded in the history.
func (r *run) operate(method, path, placeID string, body any, told bool) *answer {
	raw := encode(body)
	sent, ns := r.clk.Now().UnixMilli(), wallNs()
	a := serve(r.lab, method, control.Prefix+path, r.token, "", "", raw)
	if told {
		r.told(history.CallIn{Method: method, Path: control.Prefix + path, PlaceID: placeID, SentAt: sent, SentNs: ns, Request: raw}, a)
	}
	if a.Status != http.StatusOK {
		r.failed("%s %s: %d %s", method, path, a.Status, a.envelope().Error)
	}
	return a
}

func encode(body any) []byte {
	if body == nil {
		return nil
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err) // plain values: cannot fail
	}
	return raw
}

// tokenLife is the age up to which a token is used.
const tokenLife = 14 * time.Minute

// signIn makes sure that a place has a valid token.
func (r *run) signIn(p *place) {
	now := r.clk.Now()
	if p.token != "" && now.Sub(p.got) < tokenLife {
		return
	}
	token, a := r.exchange(p, p.key)
	if token == "" {
		r.failed("token exchange: %d %s", a.Status, a.envelope().Error)
		return
	}
	p.token, p.got = token, now
}

// exchange exchanges a key for a token, "" if it was refused.
func (r *run) exchange(p *place, key string) (string, *answer) {
	const path = "/core/v1/auth/apikey/token"
	raw, sent, ns := encode(map[string]string{"key": key}), r.clk.Now().UnixMilli(), wallNs()
	a := serve(r.public, http.MethodPost, path, "", "", p.addr, raw)
	r.told(history.CallIn{Method: http.MethodPost, Path: path, From: p.addr, SentAt: sent, SentNs: ns, Request: raw}, a)
	return data[struct{ AccessToken string }](a).AccessToken, a
}

// unanswered is the outcome of a command whose server died.
const unanswered = "unanswered"

// command gives a door command, and records attempt and answer in the history.
func (r *run) command(p *place, k *keyed) (outcome string) {
	path, route := "/device/v1/devices/"+k.door+"/commands", "/device/v1/devices/{id}/commands"
	args := map[string]any{}
	if k.command == "hold" {
		args["minutes"] = k.minutes
	}
	body := map[string]any{"capability": "door", "command": k.command, "args": args}
	if k.legacy {
		path, route, body = "/device/v1/doors/"+k.door+"/"+k.command, "/device/v1/doors/{id}/"+k.command, args
	}
	e := history.Event{Kind: history.Attempt, Method: http.MethodPost, PlaceID: p.id, Route: route, DoorID: k.door,
		Key: history.KeyHash(p.id, k.key), Meaning: history.Meaning(k.door, k.command, float64(k.minutes), ""), Request: fmt.Sprintf("age-%s-%d", k.key, k.tries.Add(1))}
	e.At = r.clk.Now().UnixMilli()
	r.tell(e)
	a := r.ask(call{method: http.MethodPost, path: path, place: p, key: k.key, body: body})
	if a.Status == 0 {
		return unanswered
	}
	env := a.envelope()
	e.Kind, e.At, e.Status, e.Code = history.Answer, r.clk.Now().UnixMilli(), a.Status, env.Error
	e.Outcome, e.CommandID, e.Reason = vocab.Outcome(env.Details.Reason), env.Details.CommandID, vocab.Reason(env.Details.DeviceCode)
	if a.Status == http.StatusOK {
		done := data[struct{ Outcome, CommandID string }](a)
		e.Outcome, e.CommandID = vocab.Outcome(done.Outcome), done.CommandID
	}
	sum := sha256.Sum256(a.Body)
	e.BodyHash, e.Replayed = hex.EncodeToString(sum[:12]), a.Header.Get("Idempotent-Replayed") == "true"
	r.tell(e)
	if e.Outcome == "" {
		return fmt.Sprintf("%d %s", a.Status, env.Error)
	}
	return string(e.Outcome)
}
