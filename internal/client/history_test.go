package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// TestHistory: a history of any length arrives complete or not at all.
func TestHistory(t *testing.T) {
	t.Parallel()
	var whole strings.Builder
	const n = 1000
	events := make([]history.Event, n)
	for i := range events {
		events[i] = history.Event{Seq: int64(i + 1), Kind: history.Label, Text: fmt.Sprint(i)}
	}
	must.OK(t, history.Write(&whole, events))
	lines := strings.SplitAfter(whole.String(), "\n")
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"whole":             {whole.String(), nil},
		"cut at a line":     {strings.Join(lines[:n/2], ""), history.ErrTruncated},
		"cut in a line":     {whole.String()[:whole.Len()/2], history.ErrTruncated},
		"without its end":   {strings.Join(lines[:n], ""), history.ErrTruncated},
		"a line is missing": {lines[0] + strings.Join(lines[2:], ""), history.ErrTruncated},
		"another text":      {strings.Replace(whole.String(), `"text":"7"`, `"text":"8"`, 1), history.ErrTruncated},
		"nothing":           {"", history.ErrTruncated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer control" {
					t.Errorf("authorization %q, want the control token", got)
				}
				_, _ = w.Write([]byte(c.body))
			}))
			defer s.Close()
			got, err := Client{Base: s.URL, Token: "control"}.History(t.Context())
			if !errors.Is(err, c.want) || c.want == nil && (err != nil || len(got) != n) {
				t.Errorf("got %d events, %v; want %v", len(got), err, c.want)
			}
		})
	}
}

func TestHistoryRefused(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"token_invalid","message":"the control token is wrong","statusCode":401}`))
	}))
	defer s.Close()
	_, err := Client{Base: s.URL}.History(t.Context())
	if fail, ok := errors.AsType[*Error](err); !ok || fail.Code != "token_invalid" || fail.Status != http.StatusUnauthorized {
		t.Errorf("got %v, want token_invalid with 401", err)
	}
}

// TestHistoryOfAReplacedRecording: a run whose recording was replaced doesn't take the new one for its own, whether that
// one is shorter or longer.
func TestHistoryOfAReplacedRecording(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		out := history.NewWriter(w)
		out.Recording = "b"
		_ = out.Write([]history.Event{{Seq: 1, Kind: history.Started}, {Seq: 2, Kind: history.Label}})
		_, _ = out.Close()
	}))
	defer s.Close()
	for mark, want := range map[history.Position]error{
		{Recording: "a", Seq: 0}: history.ErrReplaced, {Recording: "a", Seq: 1}: history.ErrReplaced, {Recording: "a", Seq: 600}: history.ErrReplaced,
		{Recording: "b", Seq: 1}: nil, {Recording: "b", Seq: 2}: nil,
	} {
		base, events, err := Client{Base: s.URL}.HistoryFrom(t.Context(), []history.Position{mark}, 0)
		if !errors.Is(err, want) {
			t.Errorf("of a run since %+v: got %d and %d events, %v; want %v", mark, len(base), len(events), err, want)
		}
	}
}
