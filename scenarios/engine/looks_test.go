package engine

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// sink keeps the events of one kind.
type sink struct {
	mu   sync.Mutex
	kept []history.Event
}

func (s *sink) of(kind string) func(history.Event) {
	return func(e history.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if e.Kind == kind {
			s.kept = append(s.kept, e)
		}
	}
}

// TestLooksAreTold: a step that could have failed records that it looked at boards; set-up doesn't.
func TestLooksAreTold(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		`setup: [{boards: {all: online}}], steps: [{call: {path: /echo}, expect: data.n == 7}]`: 0,
		`steps: [{boards: {all: online}}]`:                                                                                                        1,
		`steps: [{boards: {}}, {call: {path: /echo}}]`:                                                                                            0,
		`steps: [{synced: {}}, {boards: {all: online}}]`:                                                                                          2,
		`steps: [{group: [{boards: {all: online}}, {synced: {}}]}]`:                                                                               2,
		`steps: [{boards: {all: not online}, continue: true}]`:                                                                                    0,
		`steps: [{control: {path: "/audit?limit=1"}, expect: "data != 5"}]`:                                                                       0,
		`steps: [{control: {path: /boards/brd_1/journal}, expect: "data != 5"}]`:                                                                  1,
		`steps: [{control: {method: POST, path: /boards}, expect: "data != 5"}]`:                                                                  0,
		`steps: [{journal: {of: brd_1, atLeast: 0}, expect: "count < 5"}]`:                                                                        1,
		`steps: [{control: {path: /boards}, expect: "data != 5"}]`:                                                                                1,
		`steps: [{control: {path: "/boards?placeId=plc_1&limit=1"}, expect: "data != 5"}, {control: {path: /boards/brd_1}, expect: "data != 5"}]`: 2,
	} {
		s := &sink{}
		_, out := play(t, newFake(t), strings.Replace(source, ", steps", "\nsteps", 1), Options{Sink: s.of(history.Look)})
		if got := len(s.kept); got != want {
			t.Errorf("%s: %d looks were told, want %d\n%s", source, got, want, out)
		}
		for _, e := range s.kept {
			if one := strings.Contains(source, "_1"); one != (e.PlaceID == "plc_1") {
				t.Errorf("%s: a look at %q, want one at plc_1: %v", source, e.PlaceID, one)
			}
		}
	}
}

// TestDoorsAreTold: the history of every world has who changed a door, once, by whichever step.
func TestDoorsAreTold(t *testing.T) {
	t.Parallel()
	for _, step := range []string{
		`{control: {method: PATCH, path: /doors/dor_1, body: {entryPermitMaxHours: 24}}, continue: true}`,
		`{door: {doors: dor_1, set: {entryPermitMaxHours: 24}}, continue: true}`,
	} {
		s := &sink{}
		_, out := play(t, newFake(t), "steps: ["+step+"]", Options{Sink: s.of(history.Call)})
		n := 0
		for _, e := range s.kept {
			if e.Method == "PATCH" && strings.Contains(e.Text, "entryPermitMaxHours") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: told %d times, want once\n%s", step, n, out)
		}
	}
}

// TestRevokedKeysAreTold: the history records when a key issued by the run was revoked, but never the key itself.
func TestRevokedKeysAreTold(t *testing.T) {
	t.Parallel()
	const secret = "sacl_000000000000000000000000000000000000"
	issued := &answer{Status: 200, Body: map[string]any{"data": map[string]any{"keyId": "key_1", "apiKey": secret}}}
	s := &sink{}
	r := newRun(Target{}, Options{Sink: s.of(history.Call)})
	r.keyLife(http.MethodPost, "/keys", sending{}, issued)
	r.keyLife(http.MethodGet, "/keys/key_1", sending{}, &answer{Status: 200})
	r.keyLife(http.MethodDelete, "/keys/key_1", sending{}, &answer{Status: 404})
	r.keyLife(http.MethodDelete, "/keys/key_2", sending{}, &answer{Status: 200})
	if len(s.kept) > 0 {
		t.Errorf("nothing was revoked, but %v was recorded", s.kept)
	}
	r.keyLife(http.MethodDelete, "/keys/key_1", sending{}, &answer{Status: 200})
	if len(s.kept) != 1 || s.kept[0].Route != "/lab/v1/keys/{id}" || !strings.Contains(s.kept[0].Text, `"key":"`) || strings.Contains(s.kept[0].Text, secret) {
		t.Errorf("got %v, want one revocation with the key's mark", s.kept)
	}
}

// TestUnanswered: the history has what could change something and got no answer, but not its secrets.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		want         int
	}{{"POST", "/space/v1/reservations/rsv_1/cancel", 1}, {"GET", "/core/v1/places/plc_1/events", 0}, {"POST", "/device/v1/doors/dor_1/open", 0}} { // a command has its attempt
		s := &sink{}
		r := newRun(Target{HTTP: "http://127.0.0.1:1"}, Options{Sink: s.of(history.Unanswered)})
		r.api.http.Transport = silent{}
		if _, err := r.attempt(t.Context(), request{method: c.method, path: c.path}, http.Header{"Authorization": {"Bearer secret"}}); err == nil {
			t.Fatal("no error, want one")
		}
		if len(s.kept) != c.want || c.want == 1 && (s.kept[0].Route != "/space/v1/reservations/{id}/cancel" || strings.Contains(s.kept[0].Text, "secret")) {
			t.Errorf("%s %s: got %v, want %d without an answer", c.method, c.path, s.kept, c.want)
		}
	}
}

// silent breaks every connection.
type silent struct{}

func (silent) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
