package loadtest

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestOutcomesToldAsTheyAre: what a command's answer says its outcome is counts in a load only with its status, but the judge
// is told whatever the status is. What other requests are answered says nothing of commands.
func TestOutcomesToldAsTheyAre(t *testing.T) {
	t.Parallel()
	const failed = `{"error":"e","details":{"reason":"%","commandId":"cmd_1"}}`
	const done = `{"data":{"outcome":"%","commandId":"cmd_1"}}`
	for _, c := range []struct {
		meaning, body    string
		says             vocab.Outcome
		status           int
		counts, told, id string
	}{
		{"open", done, vocab.Reported, 200, "reported", "reported", "cmd_1"},
		{"open", done, vocab.Offline, 200, "", "offline", "cmd_1"},
		{"open", done, "opened", 200, "", "", ""},
		{"open", `{"data":[]}`, "", 200, "", "", ""},
		{"open", failed, vocab.Offline, 409, "offline", "offline", "cmd_1"},
		{"open", failed, vocab.Offline, 502, "", "offline", "cmd_1"},
		{"open", failed, vocab.Reported, 409, "", "reported", "cmd_1"},
		{"open", failed, "busy", 409, "", "", "cmd_1"},
		{"", failed, vocab.Offline, 503, "", "", "cmd_1"},
	} {
		var told history.Event
		a := &api{base: &url.URL{Scheme: "http", Host: "127.0.0.1"}, domain: &domain{clock: &standing{}}, history: func(e history.Event) {
			if e.Kind == history.Answer {
				told = e
			}
		}}
		says := says{c.status, strings.Replace(c.body, "%", string(c.says), 1)}
		got := must.Get(a.call(t.Context(), says, request{method: "POST", path: "/", meaning: c.meaning}))(t)
		if string(got.outcome) != c.counts || string(told.Outcome) != c.told || told.CommandID != c.id {
			t.Errorf("%q, answered %d %s: counts as %q, told as %q of %q; want %q and %q of %q", c.meaning, c.status, says.body, got.outcome, told.Outcome, told.CommandID, c.counts, c.told, c.id)
		}
	}
}

// says answers every request alike.
type says struct {
	status int
	body   string
}

func (s says) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(s.body))}, nil
}
