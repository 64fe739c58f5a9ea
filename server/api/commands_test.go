package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/command"
)

func (h *house) command(key, body string) response {
	h.t.Helper()
	return h.do(request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_a", key: key, body: body})
}

func (h *house) records() []any {
	h.t.Helper()
	r := h.want(200, "", request{method: "GET", path: "/space/v1/partner/entry-logs", token: "key_a"})
	list, _ := r.json["data"].([]any)
	if r.json["total"] != float64(len(list)) {
		h.t.Errorf("total %v of %d, want %v", r.json["total"], len(list), float64(len(list)))
	}
	return list
}

const openBody = `{"capability":"door","command":"open"}`

func TestCommandOutcomes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i, tt := range []struct {
		behave, command string
		status          int
		code, reason    string
		result          string
	}{
		{"", "open", 200, "", "", "opened"},
		{"", "door.hold", 200, "", "", "held"},
		{"", "close", 200, "", "", "locked"},
		{vocab.Offline, "open", 409, "device_offline", "offline", "offline"},
		{"busy", "open", 502, "device_refused", "refused", "refused"},
		{"silent", "open", 504, "device_no_response", "noResponse", "noResponse"},
	} {
		h.boards.set(tt.behave)
		key, body := fmt.Sprint("key-", i), `{"capability":"door","command":"`+tt.command+`","args":{"minutes":3,"reason":"r"}}`
		r := h.command(key, body)
		if r.Code != tt.status || r.code() != tt.code {
			t.Fatalf("got %d %s, want %+v", r.Code, r.Body, tt)
		}
		id := r.details()["commandId"]
		if tt.status == 200 {
			id = r.data()["commandId"]
			if d := r.data(); d["outcome"] != "reported" || d["deviceId"] != "dor_1" || d["capability"] != "door" || d["command"] != strings.TrimPrefix(tt.command, "door.") {
				t.Errorf("got %s, want %s reported by the door dor_1", r.Body, tt.command)
			}
		} else if r.details()["reason"] != tt.reason {
			t.Errorf("got %s, want the reason %v", r.Body, tt.reason)
		}
		if tt.code == "device_refused" && r.details()["deviceCode"] != "busy" || tt.code == "device_no_response" && r.details()["timeoutMs"] == nil {
			t.Errorf("got %s, want deviceCode busy with a refusal and timeoutMs with silence", r.Body)
		}
		h.boards.set("")
		if c, holds := h.boards.last(), strings.HasSuffix(tt.command, "hold"); i < 3 && (c.Minutes == 3) != holds {
			t.Errorf("%s was sent with %d minutes, want 3 for a hold only", tt.command, c.Minutes)
		}
		sent := h.boards.count()
		again := h.command(key, body) // [CMD-5]
		if again.Body.String() != r.Body.String() || again.Code != r.Code || again.Header().Get("Idempotent-Replayed") != "true" || r.Header().Get("Idempotent-Replayed") != "" {
			t.Errorf("replay: got %d %s %v, want the first answer, marked as replayed", again.Code, again.Body, again.Header())
		}
		if h.boards.count() != sent {
			t.Error("a replay was sent")
		}
		rec := h.records()[0].(map[string]any)
		if rec["commandId"] != id || rec["result"] != tt.result || rec["actor"] != "api:key_a" || rec["actorLabel"] != "both" || rec["reason"] != "api" || rec["replays"] != 1.0 {
			t.Errorf("got record %v, want command %v by api:key_a (both) through the api with %s and one replay", rec, id, tt.result)
		}
	}
}

// TestReplayKeepsItsShape: a replay is the first answer byte for byte, whichever path is used, and conforms to both
// documents: do checks every answer against that of its path.
func TestReplayKeepsItsShape(t *testing.T) {
	t.Parallel()
	for i, behave := range []string{vocab.Offline, "busy", "silent"} {
		h := newPatientHouse(t, 50*time.Millisecond)
		h.boards.set(behave)
		legacy := request{method: "POST", path: "/device/v1/doors/dor_1/open", token: "key_a"}
		legacy.key = fmt.Sprint("new-first-", i)
		first := h.command(legacy.key, openBody)
		if again := h.do(legacy); again.Body.String() != first.Body.String() || again.json["reason"] != nil {
			t.Errorf("%s, new path first: replay %s, want %s", behave, again.Body, first.Body)
		}
		legacy.key = fmt.Sprint("legacy-first-", i)
		first = h.do(legacy)
		if again := h.command(legacy.key, openBody); again.Body.String() != first.Body.String() || again.json["reason"] == nil {
			t.Errorf("%s, legacy path first: replay %s, want %s", behave, again.Body, first.Body)
		}
	}
}

// Missing args, null and {} mean the same; minutes matter only for hold; the dotted form is a synonym; the legacy
// path shares the keys.
func TestCommandMeaning(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.command("k", openBody)
	for _, body := range []string{
		`{"capability":"door","command":"door.open"}`, `{"command":"open","capability":"door","args":null}`, `{"capability":"door","command":"open","args":{}}`,
		`{"capability":"door","command":"open","args":{"minutes":7}}`, `{"capability":"door","command":"open","args":{"reason":""},"x":1}`,
	} {
		if r := h.command("k", body); r.Body.String() != first.Body.String() {
			t.Errorf("%s: got %d %s, want r.Body.String() = first.Body.String()", body, r.Code, r.Body)
		}
	}
	if r := h.want(200, "", request{method: "POST", path: "/device/v1/doors/dor_1/open", token: "key_a", key: "k"}); r.Body.String() != first.Body.String() || r.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("legacy: got %s, want the first answer as a replay", r.Body)
	}
	for _, body := range []string{`{"capability":"door","command":"close"}`, `{"capability":"door","command":"open","args":{"reason":"x"}}`} {
		if r := h.command("k", body); r.Code != 409 || r.code() != "idempotency_key_reused" || r.details()["reason"] != nil {
			t.Errorf(`%s: got %d %s, want r.Code = 409, r.code() = "idempotency_key_reused", r.details()["reason"] = nil`, body, r.Code, r.Body)
		}
	}
	h.want(409, "idempotency_key_reused", request{method: "POST", path: "/device/v1/devices/dor_2/commands", token: "key_a", key: "k", body: openBody})
	h.want(200, "", request{method: "POST", path: "/device/v1/devices/dor_b/commands", token: "key_b", key: "k", body: openBody}) // another place's key
	if n := len(h.records()); n != 1 {
		t.Errorf("got %d records, want 1", n)
	}
	if audits, n, err := h.store.Audits("plc_a", 100, 0); err != nil || n < 3 || audits[1].Action != "command.refused" || audits[1].Detail != "idempotency_key_reused" {
		t.Errorf("got audit %+v, %v, want command.refused because the key was reused", audits, err)
	}
}

func TestLegacyFailuresSayMore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for behave, reason := range map[string]string{vocab.Offline: "offline", "jammed": "refused", "silent": "noResponse"} {
		h.boards.set(behave)
		r := h.do(request{method: "POST", path: "/device/v1/doors/dor_1/hold", token: "key_a", key: "k" + reason, body: `{"minutes":1}`})
		if r.json["reason"] != reason || r.json["detail"] != r.json["message"] || r.details()["reason"] != reason {
			t.Errorf(`%s: got %s, want r.json["reason"] = reason, r.json["detail"] = r.json["message"], r.details()["reason"] = reason`, behave, r.Body)
		}
	}
	h.boards.set("")
	r := h.want(400, "invalid_field", request{method: "POST", path: "/device/v1/doors/dor_1/hold", token: "key_a", key: "x", body: `{"minutes":-1}`})
	if r.json["reason"] != "invalid_field" || r.details()["field"] != "minutes" {
		t.Errorf(`got %s, want r.json["reason"] = "invalid_field", r.details()["field"] = "minutes"`, r.Body)
	}
}

// Concurrent callers with one key join the running command and get its answer.
func TestConcurrentCallsJoin(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var wg sync.WaitGroup
	bodies := make([]string, 16)
	replays := make([]bool, len(bodies))
	for i := range bodies {
		wg.Go(func() {
			r := h.command("same", openBody)
			bodies[i], replays[i] = r.Body.String(), r.Header().Get("Idempotent-Replayed") == "true"
		})
	}
	wg.Wait()
	first := 0
	for i := range bodies {
		if bodies[i] != bodies[0] {
			t.Errorf("got %s\nwant %s", bodies[i], bodies[0])
		}
		if !replays[i] {
			first++
		}
	}
	if first != 1 || h.boards.count() != 1 {
		t.Errorf("got %d firsts, %d sent, want 1 and 1", first, h.boards.count())
	}
}

// A caller that hangs up doesn't cancel the command.
func TestHangUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.boards.held = make(chan struct{})
	ctx, hangUp := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "POST", "/device/v1/devices/dor_1/commands", strings.NewReader(openBody))
	r.Header.Set("Authorization", "Bearer "+h.tokens["key_a"])
	r.Header.Set("Idempotency-Key", "k")
	hangUp()
	close(h.boards.held)
	h.http.ServeHTTP(httptest.NewRecorder(), r)
	if again := h.command("k", openBody); again.Code != 200 || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf(`got %d %s, want again.Code = 200, again.Header().Get("Idempotent-Replayed") = "true"`, again.Code, again.Body)
	}
}

// The outcomes that a partner may request, in the test place only.
func TestSimulatedOutcomes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	body := `{"capability":"door","command":"open","args":{"reason":"sim:offline"}}`
	h.want(409, "device_offline", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_a", key: "1", body: body})
	h.want(200, "", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_d", key: "2", body: body})
	h.want(200, "", request{method: "POST", path: "/device/v1/devices/dor_b/commands", token: "key_b", key: "3", body: body})
	for i, reason := range []string{"sim:bogus", "sim:", "sim:refused:nonsense", "sim:delay:-1", "sim:offline:x"} {
		body := `{"capability":"door","command":"open","args":{"reason":"` + reason + `"}}`
		q := request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_a", key: fmt.Sprint("sim", i), body: body}
		r := h.want(400, "invalid_field", q)
		if list, _ := r.details()["valid"].([]any); r.details()["field"] != "args.reason" || len(list) < 5 {
			t.Errorf("%s: details %v, want the valid ones", reason, r.details())
		}
	}
	r := h.want(400, "invalid_field", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_d", key: "5",
		body: `{"capability":"door","command":"open","args":{"reason":"gnp\u202e"}}`})
	if r.details()["field"] != "args.reason" {
		t.Errorf("a reason that deceives: details %v, want the field", r.details())
	}
	h.want(200, "", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_d", key: "4",
		body: `{"capability":"door","command":"open","args":{"reason":"sim:bogus"}}`})
}

func BenchmarkCommand(b *testing.B) {
	docs := must.Get(openapi.Load())(b)
	var op *openapi.Operation
	for _, d := range docs {
		for _, o := range d.Ops {
			if o.ID == "commandDevice" {
				op = o
			}
		}
	}
	a := &api{cfg: Config{Log: quietLog}}
	run := a.serve(op, func(c *call) (any, error) {
		return renderAnswer(command.Result{CommandID: "cmd_1", DoorID: "dor_1", Outcome: vocab.Reported, RequestedAt: epoch, ReportedAt: epoch}), nil
	})
	op.Scope, op.Resource = "none", ""
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "/device/v1/devices/dor_1/commands", strings.NewReader(openBody))
		r.Header.Set("Idempotency-Key", "0123456789")
		r.Header.Set("Content-Type", "application/json")
		run(httptest.NewRecorder(), r)
	}
}
