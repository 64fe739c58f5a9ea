package loadtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/contract"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// maxBody bounds how much of an answer is read, far above any command's answer.
const maxBody = 1 << 20

// api sends single HTTP attempts and records each in the history. It never sends anything twice.
type api struct {
	base     *url.URL
	run      string
	history  func(history.Event)
	domain   *domain
	attempts atomic.Int64 // all of them, exchanges and listings too
	promise  promise
}

func (a *api) now() time.Time { return a.domain.now() }

// request is one HTTP attempt.
type request struct {
	method, route, path, query string   // route is the template, for the history
	url                        *url.URL // instead of path
	place, door, token         string
	key, keyHash, meaning      string
	body                       []byte
	from                       string // the address it is sent from, "" = the machine's own
}

// answer is what came back.
type answer struct {
	status   int
	code     string
	outcome  vocab.Outcome // if the status is that of such an answer
	said     vocab.Outcome // whatever the status
	command  string
	device   vocab.Reason
	replayed bool
	data     json.RawMessage
	total    int
	body     []byte
	header   http.Header
}

// call makes one attempt. If there is no answer, no Answer is recorded: to the checkers, the outcome is unknown.
func (a *api) call(ctx context.Context, via http.RoundTripper, r request) (answer, error) {
	e := history.Event{
		Kind: history.Attempt, Request: a.run + "-" + strconv.FormatInt(a.attempts.Add(1), 36),
		Method: r.method, Route: r.route, PlaceID: r.place, DoorID: r.door, Key: r.keyHash, Meaning: r.meaning,
	}
	a.emit(e)
	sentAt, sentNs := a.now().UnixMilli(), clock.WallNow().UnixNano()
	if r.url == nil {
		r.url = a.base.JoinPath(r.path)
		r.url.RawQuery = r.query
	}
	req := client.Request(ctx, r.method, r.url, r.token, r.key, r.body)
	req.Header["User-Agent"] = []string{"doorlab-load"}
	in := history.CallIn{Method: r.method, Path: req.URL.RequestURI(), PlaceID: r.place, Token: r.token, From: r.from, SentAt: sentAt, SentNs: sentNs,
		Request: r.body, Own: r.path == tokenPath}
	resp, err := via.RoundTrip(req)
	if err != nil {
		return a.unanswered(r, in, err)
	}
	defer func() { _ = resp.Body.Close() }() // read to the end, or useless
	body, err := client.Body(resp, maxBody)
	if err != nil {
		return a.unanswered(r, in, fmt.Errorf("reading the answer: %w", err))
	}
	a.promise.check(r, resp, body)
	ans := read(resp, body)
	if ans.code == "token_expired" { // perhaps by a jump that nobody here has noticed
		a.domain.look(ctx)
	}
	e.Kind, e.Status, e.Code, e.Outcome = history.Answer, ans.status, ans.code, ans.outcome
	if r.meaning != "" {
		e.Outcome = ans.said
	}
	e.CommandID, e.Reason, e.Replayed = ans.command, ans.device, ans.replayed
	sum := sha256.Sum256(body)
	e.BodyHash = hex.EncodeToString(sum[:8])
	if a.history != nil { // recorded before the answer is returned, as in scenarios: whoever has read the answer has also read this
		in.Status, in.PlaceKind, in.Answer, in.Replayed = ans.status, resp.Header.Get("X-Place-Kind"), body, ans.replayed
		a.emit(history.CallEvent(in))
	}
	a.emit(e)
	return ans, nil
}

// unanswered records an attempt that may have changed something all the same. A command has its Attempt.
func (a *api) unanswered(r request, in history.CallIn, err error) (answer, error) {
	if a.history != nil && r.keyHash == "" && r.method != http.MethodGet {
		a.emit(history.CallEvent(in))
	}
	return answer{}, err
}

// fetch reads a public page of the target, outside the run's counts.
func (a *api) fetch(ctx context.Context, via http.RoundTripper, path string) ([]byte, error) {
	got, err := client.Send(ctx, &http.Client{Transport: via}, http.MethodGet, a.base.JoinPath(path).String(), nil, nil)
	if err != nil {
		return nil, err
	}
	if got.Status != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", path, got.Status)
	}
	return got.Body[:min(len(got.Body), contract.MaxDocument)], nil
}

func (a *api) emit(e history.Event) {
	if a.history == nil {
		return
	}
	e.At, e.WallNs = a.now().UnixMilli(), clock.WallNow().UnixNano()
	a.history(e)
}

// read parses an answer: both envelopes of the contract.
func read(resp *http.Response, body []byte) answer {
	a := answer{status: resp.StatusCode, body: body, header: resp.Header, replayed: resp.Header.Get("Idempotent-Replayed") == "true"}
	var env struct {
		Data    json.RawMessage `json:"data"`
		Total   int             `json:"total"`
		Error   string          `json:"error"`
		Details struct {
			Reason     vocab.Outcome
			CommandID  string
			DeviceCode vocab.Reason
		}
	}
	if json.Unmarshal(body, &env) != nil {
		return a
	}
	a.data, a.total, a.code = env.Data, env.Total, env.Error
	a.command, a.device = env.Details.CommandID, env.Details.DeviceCode
	said := env.Details.Reason
	if a.status == http.StatusOK {
		var done struct {
			CommandID string
			Outcome   vocab.Outcome
		}
		if json.Unmarshal(env.Data, &done) == nil && statusOf[done.Outcome] != 0 { // a list isn't a command
			a.command, said = done.CommandID, done.Outcome
		}
	}
	if status := statusOf[said]; status != 0 { // not a reason of something else
		a.said = said
		if status == a.status {
			a.outcome = said
		}
	}
	return a
}

var statusOf = map[vocab.Outcome]int{vocab.Reported: http.StatusOK, vocab.Offline: http.StatusConflict, vocab.Refused: http.StatusBadGateway, vocab.NoResponse: http.StatusGatewayTimeout}

// domain estimates the server's domain time: a clock of this process, else the control listener's, polled, else the
// machine's own.
type domain struct {
	clock Clock
	ask   func(ctx context.Context) (again bool) // polls the control listener, nil = there is none
	ahead atomic.Int64                           // of the machine's clock, ns
}

func (d *domain) now() time.Time {
	if d.clock != nil {
		return d.clock.Now()
	}
	return clock.WallNow().Add(time.Duration(d.ahead.Load()))
}

// follow polls the control listener every two seconds until ctx ends. A jump in between is noticed by the 401 that it
// causes.
func (d *domain) follow(ctx context.Context) {
	for d.ask(ctx) && client.Pause(ctx, 2*time.Second) == nil {
	}
}

// look polls once, if there is anybody to ask.
func (d *domain) look(ctx context.Context) {
	if d.ask != nil {
		d.ask(ctx)
	}
}

// poll asks a control listener once, and reports whether it is worth asking again.
func (d *domain) poll(ctx context.Context, via http.RoundTripper, listener, token string) bool {
	var told struct{ Now time.Time }
	err := client.Client{Base: listener, Token: token, HTTP: &http.Client{Transport: via}}.Do(ctx, http.MethodGet, control.Prefix+"/clock", nil, &told)
	if err != nil {
		fail, answered := errors.AsType[*client.Error](err) // a restarting server answers 503
		return (errors.Is(err, client.ErrUnreachable) || answered && fail.Status >= 500) && !errors.Is(err, context.Canceled)
	}
	d.ahead.Store(int64(told.Now.Sub(clock.WallNow())))
	return true
}
