package loadtest

import (
	"context"
	"io"
	"net/http"
	"net/url"
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
