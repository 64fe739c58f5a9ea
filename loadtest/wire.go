package loadtest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/loopback"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Headers between source, wire and collector; none of them leaves the process.
const (
	hitHeader     = "X-Doorlab-Hit"
	outcomeHeader = "X-Doorlab-Outcome"
	codeHeader    = "X-Doorlab-Code"
	replayHeader  = "X-Doorlab-Replayed"
	bodyHeader    = "X-Doorlab-Body"
)

// wire is the http.RoundTripper under vegeta. One hit is one attempt, except
// after a 401: the token is renewed and the hit sent again, in plain sight,
// as an attempt of its own. A 401 never reached the device, so this is safe.
type wire struct {
	api     *api
	source  *source
	via     http.RoundTripper
	ctx     context.Context // ends requests in progress
	sent    atomic.Int64    // attempts of hits
	renewed atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close() // never used, because the hit holds the same bytes
	}
	h, ok := w.source.take(req.Header.Get(hitHeader))
	if !ok {
		return nil, errors.New("no such hit")
	}
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	a, err := w.attempt(ctx, h)
	w.source.settle(h, a, err)
	if err != nil && w.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w: %w", errInterrupted, err)
	}
	if err != nil {
		return nil, err
	}
	return a.response(req, h), nil
}

// attempt sends a hit, with a new token again if its own was refused.
func (w *wire) attempt(ctx context.Context, h *hit) (a answer, err error) {
	token := ""
	if !h.public {
		if token, err = h.door.place.token.Bearer(ctx); err != nil {
			return a, err
		}
	}
	a, err = w.send(ctx, h, token)
	if err == nil && a.status == http.StatusUnauthorized && strings.HasPrefix(a.code, "token_") {
		w.renewed.Add(1)
		if token, err = h.door.place.token.Refused(ctx, token); err == nil {
			a, err = w.send(ctx, h, token)
		}
	}
	return a, err
}

func (w *wire) send(ctx context.Context, h *hit, token string) (answer, error) {
	w.sent.Add(1)
	r := h.request
	r.token = token
	if !h.public {
		r.place = h.door.place.PlaceID
	}
	if h.kind == "" {
		r.door = h.door.id
	}
	return w.api.call(ctx, w.via, r)
}

// statusOfLink is the status of a link whose board was offline, refused or silent: nobody who is denied gets that far.
var statusOfLink = map[vocab.Outcome]int{vocab.Offline: http.StatusServiceUnavailable, vocab.Refused: http.StatusBadGateway, vocab.NoResponse: http.StatusGatewayTimeout}

// response passes the answer to vegeta, together with what was read from it, in headers.
func (a answer) response(req *http.Request, h *hit) *http.Response {
	outcome := a.outcome
	if h.kind != "" {
		outcome = ""
		if a.status == http.StatusOK || a.status == http.StatusCreated {
			outcome = h.kind
		} else if h.kind == link && statusOfLink[a.said] == a.status { // [ENT-3] it ends in the same outcomes as a command
			outcome = a.said
		}
	}
	outcome = cmp.Or(outcome, rejected)
	header := http.Header{outcomeHeader: {string(outcome)}, codeHeader: {a.code}, bodyHeader: {string(h.body)}}
	if a.replayed {
		header[replayHeader] = []string{"true"}
	}
	return &http.Response{Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: req,
		Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body))}
}

// newTransport keeps every connection that a burst needed: no silent limits,
// HTTP/1.1, no proxy, no transparent compression. Idle ones go before a server's
// usual limit does, as a request on a dying connection would fail unsent.
func newTransport(source net.IP, trust *tls.Config) *http.Transport {
	d := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	if source != nil {
		loopback.From(d, source)
	}
	t := &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: 1 << 20, IdleConnTimeout: 15 * time.Second,
		DisableCompression: true, Protocols: new(http.Protocols), TLSClientConfig: trust}
	t.Protocols.SetHTTP1(true)
	return t
}

// errInterrupted means that a hit was cancelled because the run was interrupted, whatever it was waiting for.
var errInterrupted = errors.New("cancelled by the interruption of the run")

// interrupted is the cause of those hits.
const interrupted = "interrupted"

// own are the causes that lie with the generator: they make a run INVALID, and no answer is wrong because of them.
var own = []string{interrupted, outOfDescriptors, outOfPorts, outOfExchanges}

const (
	outOfDescriptors = "out of descriptors"
	outOfPorts       = "out of ports"
	outOfExchanges   = "out of token exchanges" // it asks for more tokens than one address may have: see AUTH-3
)

// cause names why a hit has no answer, in few enough words to count by, and
// whether it was this machine's limit.
func cause(text string) (name string, ours bool) {
	for _, c := range []struct {
		sign, name string
		ours       bool
	}{
		{errInterrupted.Error(), interrupted, false},
		{syscall.EMFILE.Error(), outOfDescriptors, true},
		{syscall.EADDRNOTAVAIL.Error(), outOfPorts, true},
		{client.LimitReached, outOfExchanges, true},
		{"token of", "no token", false},
		{ErrKey.Error(), "no token", false},
		{"Client.Timeout", "timeout", false},
		{context.DeadlineExceeded.Error(), "timeout", false},
		{syscall.ECONNREFUSED.Error(), "connection refused", false},
		{syscall.ECONNRESET.Error(), "connection reset", false},
		{syscall.EPIPE.Error(), "connection reset", false},
		{"EOF", "connection closed", false},
		{"server closed idle connection", "connection closed", false},
	} {
		if strings.Contains(text, c.sign) {
			return c.name, c.ours
		}
	}
	return "other", false
}
