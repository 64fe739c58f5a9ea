package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/mask"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// request is one call of the public API.
type request struct {
	method, path string
	apiKey       string  // becomes a token
	token        *string // instead, as it is; "" sends none
	placeID      string
	header       map[string]string
	body         []byte
	keyName      string // Idempotency-Key
	own          bool   // no step asked for it
}

// do sends a request. An expired token is renewed once, and somebody else's deployment is given the time that its limit
// of exchanges asks for, which earlier runs may have used up; each further try is a separate attempt in the history.
func (r *run) do(ctx context.Context, q request) (*answer, error) {
	for try := 0; ; try++ {
		h := jsonHeader()
		if q.body == nil {
			h.Del("Content-Type")
		}
		token := ""
		if q.token != nil {
			token = *q.token
		} else if q.apiKey != "" {
			var err error
			if token, err = r.api.token(q.apiKey).Bearer(ctx); err != nil {
				return r.withoutToken(q, err)
			}
		}
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
		if q.keyName != "" {
			h.Set("Idempotency-Key", q.keyName)
		}
		for k, v := range q.header {
			h[http.CanonicalHeaderKey(k)] = strings.Split(strings.TrimSuffix(v, "\n"), "\n") // of several lines, a header each
		}
		a, err := r.attempt(ctx, q, h)
		if err == nil && a.Status == http.StatusUnauthorized && q.token == nil && q.apiKey != "" && a.text("error") == "token_expired" && try == 0 {
			if _, err := r.api.token(q.apiKey).Refused(ctx, token); err != nil {
				return r.withoutToken(q, err)
			}
			continue
		}
		if err == nil && a.Status == http.StatusTooManyRequests && r.keysOnly() && q.path == exchangePath && try < 2 {
			if err := client.Pause(ctx, client.RetryAfter(a.Headers["Retry-After"])); err != nil {
				return nil, err
			}
			continue
		}
		return a, err
	}
}

// withoutToken is the answer to a request whose key gave no token: to a key of the file's own, what the exchange was answered.
func (r *run) withoutToken(q request, err error) (*answer, error) {
	if d, ok := errors.AsType[*deniedKey](err); ok {
		if places, _ := r.dir.key(q.placeID); q.apiKey != places {
			return d.answer, nil
		}
	}
	return nil, err
}

var requests atomic.Int64

// attempt sends once and records it in the history.
func (r *run) attempt(ctx context.Context, q request, h http.Header) (*answer, error) {
	if err := cmp.Or(checkPath(q.path), r.before(ctx, q)); err != nil {
		return nil, err
	}
	q.placeID = cmp.Or(q.placeID, r.issuedFor(bearer(h)).place)
	e, isCommand := r.commandEvent(q, h)
	if isCommand {
		e.Kind = history.Attempt
		r.emit(e)
	}
	sent := r.sendNow()
	a, err := send(ctx, r.api.http, q.method, r.api.base+q.path, h, q.body)
	traceCall(ctx, q.method, q.path, q.body, a, err)
	if err == nil && a.text("error") == "token_expired" { // perhaps by a jump in the background
		r.catchUp(ctx)
	}
	r.held(q, a)
	if err == nil {
		r.called(q, h, "", sent, a)
		r.made(q, a)
	} else if !isCommand && q.method != http.MethodGet {
		r.called(q, h, "", sent, &answer{})
	}
	if isCommand && err == nil {
		e.Kind = history.Answer
		e.Status, e.Code = a.Status, a.text("error")
		outcome, id, code := outcomeOf(a)
		e.Outcome, e.CommandID, e.Reason = vocab.Outcome(outcome), id, vocab.Reason(code)
		e.BodyHash = hash(string(a.Raw))
		e.Replayed = a.Headers["Idempotent-Replayed"] == "true"
		r.emit(e)
	}
	if err != nil {
		return nil, err
	}
	if _, err := r.api.promise.Check(q.method, q.path, a.Status, a.Headers["Content-Type"], a.Raw); err != nil {
		return nil, &breach{"doesn't match the target's OpenAPI document", err}
	}
	if err := r.api.promise.Manners(q.method, q.path, a.Status, a.Headers, a.Raw); err != nil {
		return nil, &breach{"lacks something that every answer must have", err}
	}
	return a, nil
}

// breach is an answer that doesn't match the target's documents, or lacks what every answer has: the step has failed, however often it would try.
type breach struct {
	what string
	err  error
}

func (b *breach) Error() string {
	return "the answer " + b.what + ": " + b.err.Error()
}

var commandPath = regexp.MustCompile(`^/device/v1/(devices/([^/?]+)/commands|doors/([^/?]+)/(open|close|hold))(\?.*)?$`)

// commandEvent describes a door command for the history.
func (r *run) commandEvent(q request, h http.Header) (history.Event, bool) {
	m := commandPath.FindStringSubmatch(q.path)
	if m == nil || q.method != http.MethodPost {
		return history.Event{}, false
	}
	e := history.Event{Method: q.method, PlaceID: q.placeID, Request: fmt.Sprintf("scn-%s-%d", r.id, requests.Add(1))}
	var body struct {
		Command string `json:"command"`
		Minutes any    `json:"minutes"`
		Reason  string `json:"reason"`
		Args    struct {
			Minutes any    `json:"minutes"`
			Reason  string `json:"reason"`
		} `json:"args"`
	}
	_ = json.Unmarshal(q.body, &body)
	minutes, reason := body.Args.Minutes, body.Args.Reason
	if m[2] != "" {
		e.Route, e.DoorID = "/device/v1/devices/{id}/commands", mask.Marked(m[2])
	} else {
		e.Route, e.DoorID = "/device/v1/doors/{id}/"+m[4], mask.Marked(m[3])
		body.Command, minutes, reason = m[4], body.Minutes, body.Reason
	}
	if k := h.Get("Idempotency-Key"); k != "" {
		e.Key, e.KeyMark = history.KeyHash(q.placeID, k), mask.Mark(k)
	}
	n, _ := expression.Number(minutes)
	e.Meaning = history.Meaning(e.DoorID, strings.TrimPrefix(body.Command, "door."), n, reason)
	return e, true
}

// outcomeOf is how a command ended: its outcome, id and the device's code.
func outcomeOf(a *answer) (outcome, commandID, code string) {
	if a.Status == http.StatusOK {
		return a.text("data", "outcome"), a.text("data", "commandId"), ""
	}
	return a.text("details", "reason"), a.text("details", "commandId"), a.text("details", "deviceCode")
}

// brief shortens a value for a person, without anything that looks like a secret: half a token would be one, too.
func brief(v any, n int) string {
	s, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			b = fmt.Append(nil, v)
		}
		s = string(b)
	} else {
		s = fmt.Sprintf("%q", s)
	}
	s = lookalikes(s)
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
