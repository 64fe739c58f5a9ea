package engine

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
)

// phones are the telephone numbers that the run has sent: no answer may contain them in full.
type phones struct{ known sync.Map }

// mostLearned is the longest body that is searched for numbers: longer than any import that the contract allows.
const mostLearned = 8 << 20

// learn collects the numbers in a request, at any depth.
func (p *phones) learn(body []byte) {
	if len(body) == 0 || len(body) > mostLearned {
		return
	}
	var v any
	if json.Unmarshal(body, &v) == nil {
		p.walk(v)
	}
}

func (p *phones) walk(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if s, ok := x.(string); ok && (k == "phone" || k == "from") && len(s) >= 8 {
				p.known.Store(s, true)
			}
			p.walk(x)
		}
	case []any:
		for _, x := range v {
			p.walk(x)
		}
	}
}

func (p *phones) sent(s string) bool { _, ok := p.known.Load(s); return ok }

// sending is when a request went out.
type sending struct{ at, ns int64 } // domain time, Unix ms; the machine's, Unix ns

func (r *run) sendNow() sending {
	return sending{r.now().UnixMilli(), clock.WallNow().UnixNano()}
}

// operated adds to the history what an operator or person did through the control API and the guarantees depend on: a
// call to the place's number, a membership or reservation, a door that becomes or ceases to be an entry door.
func (x *frame) operated(method, path, placeID string, body map[string]any, out *fields) error {
	r, sent := x.run, x.run.sendNow()
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	a, err := r.lab.patient(x.ctx, r.lab.main, method, path, body)
	if err != nil {
		return err
	}
	if _, added := r.guaranteed(path, body); !added { // else madeLab has
		r.called(request{method: method, path: control.Prefix + path, placeID: placeID, body: raw}, http.Header{}, "", sent, a)
	}
	return r.lab.read(a, method, path, out)
}

// called adds a request to the public API and its answer to the history.
func (r *run) called(q request, h http.Header, from string, sent sending, a *answer) {
	r.phones.learn(q.body)
	text := a.Raw
	for k, v := range a.Headers {
		text = append(append(slices.Clip(text), '\n'), k+": "+v...)
	}
	if q.path == exchangePath && a.Status == http.StatusOK {
		scopes, _ := a.value("data", "scopes").([]any)
		r.issued.Store(a.text("data", "accessToken"), given{a.text("data", "placeId"), scopes})
	}
	leaks := 0
	if !published(q.path) {
		leaks = history.PhonesIn(text, r.phones.sent)
	}
	e := history.CallEvent(history.CallIn{Method: q.method, Path: q.path, PlaceID: q.placeID, Token: bearer(h), From: from, SentAt: sent.at, SentNs: sent.ns,
		Request: q.body, Status: a.Status, PlaceKind: a.Headers["X-Place-Kind"], Answer: a.Raw, Replayed: a.Headers["Idempotent-Replayed"] == "true", Leaks: leaks, Own: q.own})
	r.emit(e)
}

// bearer is the token of a request, as the server reads it. Of several headers it is their text, because no server should
// choose one of them.
func bearer(h http.Header) string {
	token := strings.Join(h.Values("Authorization"), "\n")
	if scheme, rest, ok := strings.Cut(token, " "); ok && strings.EqualFold(scheme, "Bearer") {
		token = rest
	}
	return token
}

// given is what a token was given out for.
type given struct {
	place  string
	scopes []any
}

// issuedFor is what a token was given out for, nothing if the run hasn't seen the exchange that gave it.
func (r *run) issuedFor(token string) given {
	v, _ := r.issued.Load(token)
	g, _ := v.(given)
	return g
}

var labKey = regexp.MustCompile(`^/keys/([^/?]+)$`)

// keyLife tells the history of a key's revocation. Its tokens are refused from then on, and
// nobody else says why.
func (r *run) keyLife(method, path string, sent sending, a *answer) {
	if a.Status != http.StatusOK {
		return
	}
	if id := a.text("data", "keyId"); method == http.MethodPost && path == "/keys" {
		r.keys.Store(id, a.text("data", "apiKey"))
	}
	m := labKey.FindStringSubmatch(path)
	if method != http.MethodDelete || m == nil {
		return
	}
	if secret, known := r.keys.Load(m[1]); known {
		body, _ := json.Marshal(map[string]any{"key": secret})
		r.called(request{method: method, path: control.Prefix + path, body: body}, http.Header{}, "", sent, a)
	}
}

// published reports whether a path is a document, whose example numbers anyone may use; another file may have sent the same number.
func published(path string) bool {
	return strings.HasSuffix(path, "/v1/openapi.json") || strings.HasSuffix(path, "/v1/docs")
}
