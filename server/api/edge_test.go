package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/place"
)

var quietLog = slog.New(slog.DiscardHandler)

func renderAnswer(r device.Result) answer {
	status, body := renderCommand(r)
	return answer{status: status, kind: typeJSON, body: body}
}

type panics struct{ Directory }

func (panics) Doors(string) ([]place.Door, error) { panic("no doors") }

// A panic is a 500 in the envelope; nothing of it gets out.
func TestPanic(t *testing.T) {
	t.Parallel()
	var seen Observation
	h := newHouse(t, func(c *Config) {
		c.Directory = panics{c.Directory}
		c.Observe = func(o Observation) { seen = o }
	})
	r := h.want(500, "internal_error", request{method: "GET", path: "/device/v1/devices", token: "key_a"})
	if strings.Contains(r.Body.String(), "no doors") || !strings.Contains(h.log.String(), "no doors") {
		t.Errorf("%s", r.Body)
	}
	if seen.Route != "/device/v1/devices" || seen.Status != 500 || seen.Code != "internal_error" {
		t.Errorf("%+v", seen)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	a := &API{cfg: Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
	for _, tt := range []struct{ remote, forwarded, want string }{
		{"1.1.1.1:5", "2.2.2.2", "1.1.1.1:5"},
		{"10.0.0.1:5", "", "10.0.0.1:5"},
		{"10.0.0.1:5", "9.9.9.9, 2.2.2.2", "2.2.2.2"},
		{"10.0.0.1:5", "2.2.2.2, 10.0.0.2", "2.2.2.2"},
		{"10.0.0.1:5", "2.2.2.2, nonsense", "10.0.0.1:5"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tt.remote
		if tt.forwarded != "" {
			r.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		if got := (&call{api: a, r: r}).address(); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	for given, kept := range map[string]bool{"abcdef-0123.4_5": true, "short": false, "a b c d e f g": false, strings.Repeat("a", 65): false, "": false} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Request-Id", given)
		if got := requestID(r); (got == given) != kept || len(got) < 8 {
			t.Errorf("%q: %q", given, got)
		}
	}
}

// No body brings the edge down, and what is refused is refused in one line.
func FuzzBody(f *testing.F) {
	docs, err := loadDocuments()
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range matrix {
		f.Add([]byte(r.body), typeJSON)
	}
	f.Add([]byte("t=a&doorId=b"), "application/x-www-form-urlencoded")
	f.Add([]byte(`{"hours":{"week":{"mon":[["09:00",null]]}}}`), "application/json; charset=utf-8")
	f.Fuzz(func(t *testing.T, raw []byte, kind string) {
		for _, d := range docs {
			for _, op := range d.ops {
				if op.body == nil {
					continue
				}
				o, err := decode(raw, kind, op.body.form)
				if err != nil {
					continue
				}
				flaw := op.body.shape.check(map[string]any(o))
				if again := op.body.shape.check(map[string]any(o)); flaw != nil && again.error().Error() != flaw.error().Error() {
					t.Fatalf("%s: %v, then %v", op.id, flaw.error(), again.error())
				}
				if flaw == nil {
					o.texts("doorIds")
					week(o.obj("hours").obj("week"))
					o.at("startsAt")
					continue
				}
				if e := flaw.error(); statuses[e.Code]/100 != 4 {
					t.Fatalf("%s: %v", op.id, e)
				}
			}
		}
	})
}
