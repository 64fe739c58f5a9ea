package judge

import (
	"fmt"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestRevokedBeforeANewLife: a permit that had left the content as revoked is registered again and reported once more
// after a server restart. That says nothing about the revocation. If nothing was reported in between, what the
// restarted server reports does count.
func TestRevokedBeforeANewLife(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again bool
		want  Status
	}{"registered again": {true, Pass}, "never changed": {false, Fail}} {
		h := newBuilder()
		h.base("plc_1")
		call := func(route, more string) {
			sent := h.wall
			h.emit(history.Event{Kind: history.Call, Method: "POST", Route: route, PlaceID: "plc_1", Status: 200,
				Text: fmt.Sprintf(`{"sentAt":%d,"sentNs":%d,"in":{%s},"out":{"permitId":"pmt_1"}}`, h.at, sent, more)})
		}
		grant := func() {
			h.emit(history.Event{Kind: history.Content, PlaceID: "plc_1", Revision: 3, Op: history.ContentGrant, GrantID: "pmt_1",
				Text: fmt.Sprintf(`{"id":"pmt_1","kind":"permit","doors":["dor_1"],"startsAt":%d,"endsAt":%d}`, t0, t0+3_600_000)})
		}
		h.emit(history.Event{Kind: history.Started, Text: "server"})
		call(revokeRoute, `"permitId":"pmt_1"`)
		h.pass(1000)
		if c.again {
			grant()
		}
		h.pass(1000)
		h.emit(history.Event{Kind: history.Started, Text: "server"})
		grant()
		if v := perm4(NewView(h.events)); v.Status != c.want {
			t.Errorf("%s: got %s, want %s", name, v, c.want)
		}
	}
}

// TestGivenAgainInANewLife: a revoked permit that had left the content is registered after a restart. That is a new
// commit and says nothing about the revocation.
func TestGivenAgainInANewLife(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		committed bool
		want      Status
	}{"committed after the start": {true, Pass}, "found at the start": {false, Fail}} {
		h := newBuilder()
		h.base("plc_1")
		h.emit(history.Event{Kind: history.Started, Text: "server"})
		h.emit(history.Event{Kind: history.Call, Method: "POST", Route: revokeRoute, PlaceID: "plc_1", Status: 200,
			Text: fmt.Sprintf(`{"sentAt":%d,"sentNs":%d,"in":{"permitId":"pmt_1"},"out":{"permitId":"pmt_1"}}`, h.at, h.wall)})
		h.pass(1000)
		h.emit(history.Event{Kind: history.Started, Text: "server"})
		if c.committed {
			h.emit(history.Event{Kind: history.Committed, PlaceID: "plc_1", Revision: 3, Op: "register", GrantID: "pmt_1"})
		}
		h.emit(history.Event{Kind: history.Content, PlaceID: "plc_1", Revision: 3, Op: history.ContentGrant, GrantID: "pmt_1",
			Text: fmt.Sprintf(`{"id":"pmt_1","kind":"permit","doors":["dor_1"],"startsAt":%d,"endsAt":%d}`, t0, t0+3_600_000)})
		if v := perm4(NewView(h.events)); v.Status != c.want {
			t.Errorf("%s: got %s, want %s", name, v, c.want)
		}
	}
}
