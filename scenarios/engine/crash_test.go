package engine

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestCrashThatDoesNotHappen: an answer to a command during which the server should have died is a failure only if the
// command was carried out, or if the answer breaks the target's own promises.
func TestCrashThatDoesNotHappen(t *testing.T) {
	t.Parallel()
	const crash = `{crash: {at: before-answer, command: {door: dor_1, key: k}}}`
	for name, c := range map[string]struct {
		steps  string
		status int // of commands; 0: as usual
		docs   string
		want   judge.Status
		reason string
	}{
		"carried out": {crash, 0, "", judge.Fail, "answered although the server should have died at before-answer: 200"},
		"a press":     {`{crash: {at: before-answer, link: {token: t, door: dor_1}}}`, 0, "", judge.Fail, "answered although the server should have died at before-answer: 200"},
		"refused":     {crash, 409, "", judge.Blocked, "the command never reached before-answer: 409"},
		"busy":        {crash, 503, "", judge.Blocked, "the command never reached before-answer: 503"},
		"a replay":    {`{command: {door: dor_1, key: k}}, ` + crash, 0, "", judge.Blocked, "the command never reached before-answer: 200"},
		"a breach": {crash, 0, `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/device/v1/devices/{id}/commands":{"post":{"responses":{"409":{"description":""}}}}}}`,
			judge.Fail, "doesn't match the target's OpenAPI document"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			if c.docs != "" {
				f.docs = c.docs
			}
			f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
				stop := c.status != 0 && strings.HasSuffix(r.URL.Path, "/commands")
				if stop {
					say(w, c.status, m{"error": "store_offline", "message": "", "statusCode": c.status})
				}
				if r.URL.Path == "/entry/open" {
					say(w, http.StatusOK, m{"success": true, "data": m{}})
					stop = true
				}
				return stop
			})
			res, out := play(t, f, "steps: ["+c.steps+"]", Options{revive: 1})
			if got := res.Files[0]; got.Status != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %s %q, want %s %q\n%s", got.Status, got.Reason, c.want, c.reason, out)
			}
		})
	}
}

// TestHangUp: a request that its caller gives up is no failure and no evidence. If the answer came first, the step is BLOCKED.
func TestHangUp(t *testing.T) {
	t.Parallel()
	const after = `{command: {door: dor_1, key: k}, expect: status == 200}`
	for name, c := range map[string]struct {
		steps  string
		want   judge.Status
		reason string
	}{
		"answered":  {`{hang_up: {after: 30s, command: {door: dor_2, key: k}}}, ` + after, judge.Blocked, "the answer came before the caller hung up: 200"},
		"given up":  {`{hang_up: {after: 20ms, command: {door: dor_1, key: k}}}, ` + after, judge.Pass, ""},
		"a press":   {`{hang_up: {after: 20ms, link: {token: t, door: dor_1}}}, ` + after, judge.Pass, ""},
		"and alone": {`{hang_up: {after: 20ms, command: {door: dor_1, key: k}}}`, judge.Invalid, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			var left atomic.Bool
			f.before(t, func(_ http.ResponseWriter, r *http.Request) bool {
				slow := (strings.HasSuffix(r.URL.Path, "dor_1/commands") || r.URL.Path == "/entry/open") && left.CompareAndSwap(false, true)
				if slow {
					_, _ = io.ReadAll(r.Body) // only then does the server notice that the caller has left
					<-r.Context().Done()
				}
				return slow
			})
			res, out := play(t, f, "steps: ["+c.steps+"]", Options{})
			if got := res.Files[0]; got.Status != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %s %q, want %s %q\n%s", got.Status, got.Reason, c.want, c.reason, out)
			}
		})
	}
}
