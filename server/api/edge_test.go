package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/api/gen/core"
	"github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

var quietLog = slog.New(slog.DiscardHandler)

func renderAnswer(r command.Result) answer {
	status, body := renderCommand(r)
	return answer{status: status, kind: typeJSON, body: body}
}

type panics struct{ Directory }

func (panics) Doors(string) ([]place.Door, error) { panic("no doors") }

// A panic becomes a 500 in the envelope and leaks nothing.
func TestPanic(t *testing.T) {
	t.Parallel()
	var seen Observation
	h := newHouse(t, func(c *Config) {
		c.Directory = panics{c.Directory}
		c.Observe = func(o Observation) { seen = o }
	})
	r := h.want(500, "internal_error", request{method: "GET", path: "/device/v1/devices", token: "key_a"})
	if strings.Contains(r.Body.String(), "no doors") || !strings.Contains(h.log.String(), "no doors") {
		t.Errorf("got %s, want the cause in the log only", r.Body)
	}
	if seen.Route != "/device/v1/devices" || seen.Status != 500 || seen.Code != "internal_error" {
		t.Errorf(`got %+v, want seen.Route = "/device/v1/devices", seen.Status = 500, seen.Code = "internal_error"`, seen)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	a := &api{cfg: Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
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
			t.Errorf("got %s, want %+v", got, tt)
		}
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	for given, kept := range map[string]bool{"abcdef-0123.4_5": true, "short": false, "a b c d e f g": false, strings.Repeat("a", 65): false, "": false} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Request-Id", given)
		if got := requestID(r); (got == given) != kept || len(got) < 8 {
			t.Errorf("%q became %q, want it kept: %v", given, got, kept)
		}
	}
}

// No body crashes the edge, and refusals fit on one line.
func FuzzBody(f *testing.F) {
	docs := must.Get(openapi.Load())(f)
	for _, r := range matrix {
		f.Add([]byte(r.body), typeJSON)
	}
	f.Add([]byte("t=a&doorId=b"), "application/x-www-form-urlencoded")
	f.Add([]byte(`{"hours":{"week":{"mon":[["09:00",null]]}}}`), "application/json; charset=utf-8")
	f.Fuzz(func(t *testing.T, raw []byte, kind string) {
		for _, d := range docs {
			for _, op := range d.Ops {
				if op.Body == nil {
					continue
				}
				var v any
				err := op.Body.Decode(raw, kind, &v)
				if again := op.Body.Decode(raw, kind, &v); fmt.Sprint(again) != fmt.Sprint(err) {
					t.Fatalf("%s: got %v, then %v for the same body, want the same", op.ID, err, again)
				}
				if code := fail.CodeOf(err); err != nil && fail.Status(code)/100 != 4 {
					t.Fatalf("%s: got %v, want a 4xx", op.ID, err)
				}
				decodeInto(t, op, raw, kind, err)
			}
		}
	})
}

// decodeInto: a body that passes the check fits its handler's type.
func decodeInto(t *testing.T, op *openapi.Operation, raw []byte, kind string, flaw error) {
	into := map[string]any{
		"exchangeKey": new(core.ExchangeKeyBody), "updatePlace": new(core.UpdatePlaceBody),
		"createPermit": new(space.CreatePermitBody), "revokePermit": new(space.RevokePermitBody), "createReservation": new(space.CreateReservationBody),
		"importCustomers": new(space.Import), "importMemberships": new(space.Import), "entryOpen": new(space.EntryOpen),
		"commandDevice": new(device.CommandDeviceBody), "openDoor": new(device.HoldDoorBody), "closeDoor": new(device.HoldDoorBody),
		"holdDoor": new(device.HoldDoorBody), "setPolicy": new(device.SetPolicyBody), "setNetloss": new(device.SetNetlossBody),
	}
	if into[op.ID] == nil {
		t.Fatalf("%s has no type, want one", op.ID)
	}
	if err := op.Body.Decode(raw, kind, into[op.ID]); fmt.Sprint(err) != fmt.Sprint(flaw) {
		t.Fatalf("%s: %v, want %v", op.ID, err, flaw)
	}
}
