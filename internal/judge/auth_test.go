package judge

import (
	"encoding/json"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// call adds a call to the public API, sent and answered at a domain time.
func (h *builder) call(at int64, route string, status int, t history.CallText) {
	t.SentAt = at
	text, _ := json.Marshal(t)
	method := "GET"
	if route == ExchangeRoute {
		method = "POST"
	}
	h.emit(history.Event{Kind: history.Call, At: at, Method: method, Route: route, Status: status, Text: string(text), Code: refusedFor[status]})
}

// refusedFor is what these histories' calls are refused for.
var refusedFor = map[int]string{401: "token_invalid", 403: "scope_missing", 404: "permit_not_found", 429: "rate_limited", 502: "device_refused"}

// exchange issues a token of plc_a with both scopes.
func (h *builder) exchange(at int64, key, token string) {
	h.call(at, ExchangeRoute, 200, history.CallText{In: map[string]any{"key": key}, From: "127.0.0.1",
		Out: map[string]any{"accessToken": token, "expiresIn": 900, "placeId": "plc_a", "scopes": []string{"space:partner"}}})
}

const (
	permitsRoute = "/space/v1/partner/entry-permits"
	devicesRoute = "/device/v1/devices"
)

// keys is the life of a key: exchanged, used, expired, exchanged again, revoked.
func (h *builder) keys() {
	at := h.at
	h.exchange(at, "key-1", "tok-1")
	h.call(at+1000, permitsRoute, 200, history.CallText{Token: "tok-1"})
	h.call(at+1000, devicesRoute, 403, history.CallText{Token: "tok-1"})
	h.call(at+2000, "/space/v1/partner/entry-permits/{id}", 404, history.CallText{Token: "tok-1", Path: "plc_t"})
	h.call(at+910_000, permitsRoute, 401, history.CallText{Token: "tok-1"})
	h.events[len(h.events)-1].Code = "token_expired"
	h.exchange(at+911_000, "key-1", "tok-2")
	h.call(at+912_000, ExchangeRoute, 401, history.CallText{In: map[string]any{"key": "key-1"}})
	h.call(at+913_000, permitsRoute, 401, history.CallText{Token: "tok-2"})
	h.call(at+914_000, "/core/v1/public/places/{id}/schedule", 200, history.CallText{Path: "plc_t"})
}

func authPlants() []planted {
	of := func(token string, status int) func(history.Event) bool {
		return func(e history.Event) bool {
			var t history.CallText
			return e.Kind == history.Call && e.Status == status && json.Unmarshal([]byte(e.Text), &t) == nil && t.Token == token
		}
	}
	served := func(e *history.Event) { e.Status, e.Code = 200, "" }
	return []planted{
		{"a place that nobody knows is shown", func(t *testing.T, h *builder) {
			h.exchange(h.at, "key-4", "tok-4")
			h.call(h.at, placesRoute+"{id}/events", 200, history.CallText{Token: "tok-4", Path: "plc_elsewhere"})
		}, []string{"AUTH-4"}, history.Call, "of plc_elsewhere was answered with 200 for a key of plc_a"},
		{"a token for an hour", func(t *testing.T, h *builder) {
			h.call(h.at, ExchangeRoute, 200, history.CallText{Out: map[string]any{"accessToken": "x", "expiresIn": 3600, "placeId": "plc_a"}})
		}, []string{"AUTH-1"}, history.Call, "without expiresIn 900"},
		{"a token of another place", func(t *testing.T, h *builder) {
			h.call(h.at, ExchangeRoute, 200, history.CallText{In: map[string]any{"key": "key-9"}, Out: map[string]any{"accessToken": "x", "expiresIn": 900, "placeId": "plc_a", "scopes": []string{"space:partner"}}})
			h.call(h.at, ExchangeRoute, 200, history.CallText{In: map[string]any{"key": "key-9"}, Out: map[string]any{"accessToken": "y", "expiresIn": 900, "placeId": "plc_w", "scopes": []string{"space:partner"}}})
		}, []string{"AUTH-1"}, history.Call, "a token for plc_w and space:partner, although the key's first was for plc_a"},
		{"a token that dies early", func(t *testing.T, h *builder) {
			h.edit(t, 0, of("tok-1", 200), func(e *history.Event) { e.Status = 401 })
		},
			[]string{"AUTH-1"}, history.Call, "answered with 401"},
		{"an expired token is served", func(t *testing.T, h *builder) { h.edit(t, 0, of("tok-1", 401), served) },
			[]string{"AUTH-2"}, history.Call, "910.0 s old"},
		{"without the scope", func(t *testing.T, h *builder) { h.edit(t, 0, of("tok-1", 403), served) },
			[]string{"AUTH-2"}, history.Call, "with scopes space:partner"},
		{"an expired token is refused for something else", func(t *testing.T, h *builder) {
			h.edit(t, 0, of("tok-1", 401), func(e *history.Event) { e.Status, e.Code = 404, "permit_not_found" })
		}, []string{"AUTH-2"}, history.Call, "was answered permit_not_found with a token 910.0 s old"},
		{"a command without a token that its board refuses", func(t *testing.T, h *builder) {
			h.call(h.at, devicesRoute+"/{id}/commands", 502, history.CallText{})
		}, []string{"AUTH-2"}, history.Call, "answered device_refused without a token"},
		{"an expired token is refused for a field", func(t *testing.T, h *builder) {
			h.edit(t, 0, of("tok-1", 401), func(e *history.Event) { e.Status, e.Code = 400, "invalid_field" })
		}, []string{"AUTH-2"}, history.Call, "was answered invalid_field with a token 910.0 s old"},
		{"an expired token lacks a scope", func(t *testing.T, h *builder) {
			h.edit(t, 0, of("tok-1", 401), func(e *history.Event) { e.Status, e.Code, e.Route = 403, "scope_missing", devicesRoute })
		}, []string{"AUTH-2"}, history.Call, "was answered scope_missing with a token 910.0 s old"},
		{"a missing scope is refused for something else", func(t *testing.T, h *builder) {
			h.edit(t, 0, of("tok-1", 403), func(e *history.Event) { e.Status, e.Code = 404, "device_not_found" })
		}, []string{"AUTH-2"}, history.Call, "was answered device_not_found with scopes space:partner"},
		{"without a token", func(t *testing.T, h *builder) { h.call(h.at, permitsRoute, 200, history.CallText{}) },
			[]string{"AUTH-2"}, history.Call, "without a token"},
		{"with a forged token", func(t *testing.T, h *builder) { h.call(h.at, permitsRoute, 200, history.CallText{Token: "forged"}) },
			[]string{"AUTH-2"}, history.Call, "wasn't given out"},
		{"31 exchanges a minute", func(t *testing.T, h *builder) {
			for i := range int64(exchanges + 1) {
				h.exchange(h.at+i*1900, "key-3", "tok-3")
			}
		}, []string{"AUTH-3"}, history.Call, "exchange 31"},
		{"another place's resource", func(t *testing.T, h *builder) { h.edit(t, 0, of("tok-1", 404), served) },
			[]string{"AUTH-4"}, history.Call, "of plc_t was answered with 200 for a key of plc_a"},
		{"a revoked key after 15 minutes", func(t *testing.T, h *builder) {
			h.edit(t, 0, of("tok-2", 401), func(e *history.Event) {
				e.Status = 403
				e.Text = `{"sentAt":` + num(e.At+spreadMs) + `,"token":"tok-2"}`
			})
		}, []string{"AUTH-2", "AUTH-5"}, history.Call, "after the key was revoked"},
	}
}

// TestProxyRefuses: what a proxy answers itself, in no form of the API's, says nothing about tokens.
func TestProxyRefuses(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 502, 504} {
		for code, want := range map[string]bool{"": true, "device_refused": false} {
			h := newBuilder()
			h.call(h.at, devicesRoute+"/{id}/commands", status, history.CallText{})
			h.last(history.Call, func(e *history.Event) { e.Code = code })
			if v := auth2(NewView(h.events)); (v.FirstBad == nil) != want {
				t.Errorf("%d %q: %s, want it accepted: %t", status, code, v, want)
			}
		}
	}
}

func num(n int64) string { b, _ := json.Marshal(n); return string(b) }

func TestPlantedAuthBugs(t *testing.T) { runPlants(t, authPlants()) }

// 30 exchanges from one address within a minute, and the next one a minute after the first.
func TestExchangesWithinTheLimit(t *testing.T) {
	t.Parallel()
	h := newBuilder()
	for i := range int64(exchanges) {
		h.exchange(h.at+i, "key-1", "tok-1")
	}
	h.exchange(h.at+exchangeMs, "key-1", "tok-1")
	if v := auth3(NewView(h.events)); v.Status != Pass || v.Checked != exchanges+1 {
		t.Errorf("%s, %d checked, want PASS of %d", v, v.Checked, exchanges+1)
	}
}

// The exchange after the 30th is refused, those refused don't count, and nothing is refused before that. Whoever runs against
// a target doesn't know who else makes exchanges.
func TestRefusedExchanges(t *testing.T) {
	t.Parallel()
	refused := func(h *builder, at int64) { h.call(at, ExchangeRoute, 429, history.CallText{From: "127.0.0.1"}) }
	for name, c := range map[string]struct {
		then func(h *builder)
		want Status
	}{
		"after 29 and a lost one": {func(h *builder) {
			h.drop(t, func(e history.Event) bool { return e.At == t0+7 })
			h.lose("POST", ExchangeRoute, 100)
			refused(h, h.at+100)
		}, Pass},
		"after 29 and another's": {func(h *builder) {
			h.drop(t, func(e history.Event) bool { return e.At == t0+7 })
			h.lose("POST", createRoute, 100)
			refused(h, h.at+100)
		}, Fail},
		"after 30":                {func(h *builder) { refused(h, h.at+100) }, Pass},
		"still, as some refused":  {func(h *builder) { refused(h, h.at+50_000); refused(h, h.at+exchangeMs+10_000) }, Fail},
		"an hour later":           {func(h *builder) { refused(h, h.at+3600_000) }, Fail},
		"with others on a target": {func(h *builder) { h.emit(history.Event{Kind: history.Begun}); refused(h, h.at+3600_000) }, Pass},
		"just after a restart":    {func(h *builder) { h.at += 3600_000; h.restart(); refused(h, h.at+10_000) }, Pass},
	} {
		h := newBuilder()
		h.emit(history.Event{Kind: history.Started, Text: "server"})
		for i := range int64(exchanges) {
			h.exchange(h.at+i, "key-1", "tok-1")
		}
		for _, place := range []string{"plc_b", "plc_c"} {
			h.base(place)
		}
		c.then(h)
		if v := auth3(NewView(h.events)); v.Status != c.want {
			t.Errorf("%s: %s, want %s", name, v, c.want)
		}
		for _, v := range divided(t, h.events, 1) {
			if v.Clause == "AUTH-3" && v.Status != c.want {
				t.Errorf("%s, divided: %s, want %s", name, v, c.want)
			}
		}
	}
}

// A restarted server counts exchanges from zero again. A server that was started before the first exchange doesn't.
func TestExchangesOverARestart(t *testing.T) {
	t.Parallel()
	for started, want := range map[int64]Status{0: Fail, exchanges: Pass} {
		h := newBuilder()
		for i := range int64(exchanges + 1) {
			if i == started {
				h.emit(history.Event{Kind: history.Started, Text: "server"})
			}
			h.exchange(h.at+i, "key-1", "tok-1")
		}
		for _, place := range []string{"plc_b", "plc_c"} { // of other groups, when it is divided
			h.base(place)
		}
		if v := auth3(NewView(h.events)); v.Status != want {
			t.Errorf("started before exchange %d: %s, want %s", started+1, v, want)
		}
		for _, v := range divided(t, h.events, 1) {
			if v.Clause == "AUTH-3" && v.Status != want {
				t.Errorf("started before exchange %d, divided: %s, want %s", started+1, v, want)
			}
		}
	}
}
