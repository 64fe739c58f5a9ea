package loadtest

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

// refusing answers every request like a server whose clock has jumped.
type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"error":"token_expired","message":"","statusCode":401}`))}, nil
}

// standing is a clock that has missed a jump until it looks again.
type standing struct{ at, real time.Time }

func (s *standing) Now() time.Time { return s.at }

func (s *standing) Look(context.Context) { s.at = s.real }

// TestMissedJump: a refusal of an old token has the time after the jump that made it old. With the time before it the
// judge would call the token young.
func TestMissedJump(t *testing.T) {
	t.Parallel()
	before := time.UnixMilli(1_800_000_000_000)
	c := &standing{before, before.Add(20 * time.Minute)}
	var told []history.Event
	a := &api{base: &url.URL{Scheme: "http", Host: "127.0.0.1"}, history: func(e history.Event) { told = append(told, e) },
		domain: &domain{clock: c, ask: func(ctx context.Context) bool { c.Look(ctx); return true }}}
	if _, err := a.call(t.Context(), refusing{}, request{method: "GET", path: "/device/v1/devices"}); err != nil {
		t.Fatal(err)
	}
	for _, e := range told {
		if want := map[bool]time.Time{true: before, false: c.real}[e.Kind == history.Attempt]; e.At != want.UnixMilli() {
			t.Errorf("%s at %d, want %d", e.Kind, e.At, want.UnixMilli())
		}
	}
	if len(told) != 3 {
		t.Errorf("got %d events, want attempt, call and answer", len(told))
	}
}

// silent breaks every connection.
type silent struct{}

func (silent) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// TestUnanswered: the history has what could change something and got no answer.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    request
		want int
	}{
		{request{method: "PATCH", path: "/core/v1/places/plc_1", token: "secret"}, 1},
		{request{method: "GET", path: "/core/v1/places/plc_1"}, 0},
		{request{method: "POST", path: "/device/v1/doors/dor_1/open", keyHash: "k"}, 0}, // which has its attempt
	} {
		var told []history.Event
		a := &api{base: &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/"}, history: func(e history.Event) { told = append(told, e) },
			domain: &domain{clock: &standing{}}}
		if _, err := a.call(t.Context(), silent{}, c.r); err == nil {
			t.Fatal("no error, want one")
		}
		told = slices.DeleteFunc(told, func(e history.Event) bool { return e.Kind != history.Unanswered })
		if len(told) != c.want || c.want == 1 && (told[0].Route != "/core/v1/places/{id}" || strings.Contains(told[0].Text, "secret")) {
			t.Errorf("%s %s: got %v, want %d without an answer", c.r.method, c.r.path, told, c.want)
		}
	}
}
