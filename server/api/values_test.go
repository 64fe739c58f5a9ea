package api

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
)

// rows is the list in a read's answer.
func (h *house) rows(path, key string) (out []map[string]any) {
	h.t.Helper()
	list, _ := h.want(200, "", request{method: "GET", path: path, token: key}).json["data"].([]any)
	for _, v := range list {
		out = append(out, v.(map[string]any))
	}
	return out
}

// TestNotes: args.reason becomes the record's note. A policy operation and an outage policy leave one record and one
// audit line each, naming who did it.
func TestNotes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.want(200, "", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_d", key: "n-1",
		body: `{"capability":"door","command":"open","args":{"reason":"parcel"}}`})
	h.want(200, "", request{method: "POST", path: "/device/v1/doors/dor_1/policies", token: "key_d", body: `{"window":{"ref":"always"},"mode":"free"}`})
	h.want(200, "", request{method: "DELETE", path: "/device/v1/doors/dor_1/policies", token: "key_d"})
	h.want(200, "", request{method: "PUT", path: "/device/v1/boards/brd_a/netloss", token: "key_d", body: `{"graceSec":60,"channels":{}}`})
	h.boards.setError = board.ErrOffline
	h.want(503, "store_offline", request{method: "PUT", path: "/device/v1/boards/brd_a/netloss", token: "key_d", body: `{"graceSec":90,"channels":{}}`})

	got := h.rows("/space/v1/partner/entry-logs", "key_p")
	want := []struct{ result, door, note string }{
		{"changed", "", "outage policy of brd_a: graceSec 60, version 1"}, {"changed", "dor_1", "1 policy deleted"},
		{"changed", "dor_1", "policy always free"}, {"opened", "dor_1", "parcel"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d: %v", len(got), len(want), got)
	}
	for i, w := range want {
		door, _ := got[i]["doorId"].(string)
		if got[i]["result"] != w.result || door != w.door || got[i]["note"] != w.note || got[i]["actor"] != "api:key_d" || got[i]["actorLabel"] != "doors" {
			t.Errorf("record %d is %v, want %+v by key_d", i, got[i], w)
		}
	}
	h.want(200, "", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_d", key: "n-2", body: openBody})
	if r := h.rows("/space/v1/partner/entry-logs", "key_p")[0]; r["note"] != nil {
		t.Errorf("note of a command without a reason is %v, want null", r["note"])
	}
	audits, n, err := h.store.Audits("", 100, 0)
	if err != nil || n != 5 {
		t.Fatalf("%d audit lines, %v, want 2 reads and 3 changes", n, err)
	}
	if a := audits[1]; a.Action != "entry-logs.read" || a.KeyID != "key_p" || a.PlaceID != "plc_a" || a.Count != 4 {
		t.Errorf("the read is audited as %+v, want 4 rows read by key_p", a)
	}
	if a := audits[2]; a.Action != "netloss.changed" || a.KeyID != "key_d" || a.Detail != want[0].note {
		t.Errorf("the outage policy is audited as %+v, want %q by key_d", a, want[0].note)
	}
}

// TestEventTimes: occurredAt is when it happened, recordedAt when it was stored, and late means that the report came
// after the 504.
func TestEventTimes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	err := record.Keeper{Store: h.store}.Add(record.Record{PlaceID: "plc_a", DoorID: "dor_1", Result: vocab.NoResponse, Reason: "api", Method: "api",
		CommandID: "cmd_late", RequestedAt: epoch.Add(-2 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	must.OK(t, h.store.KeepRecords(func(tx record.Tx, now time.Time) error {
		_, err := record.Settle(tx, "cmd_late", vocab.Opened, epoch.Add(-time.Hour), now)
		return err
	}))
	e := h.rows("/core/v1/places/plc_a/events", "key_a")[0]
	if e["occurredAt"] != "2026-11-01T02:00:00.000Z" || e["recordedAt"] != "2026-11-01T03:00:00.000Z" || e["late"] != true {
		t.Errorf("event %v, want occurredAt 02:00, recordedAt 03:00 and late", e)
	}
	if r := h.rows("/space/v1/partner/entry-logs", "key_a")[0]; r["requestedAt"] != "2026-11-01T01:00:00.000Z" || r["recordedAt"] != "2026-11-01T03:00:00.000Z" {
		t.Errorf("record %v, want requestedAt 01:00 and recordedAt 03:00", r)
	}
	h.want(200, "", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_a", key: "in-time", body: openBody})
	for _, e := range h.rows("/core/v1/places/plc_a/events", "key_a") {
		if e["late"] != (e["recordId"] != nil && e["occurredAt"] == "2026-11-01T02:00:00.000Z") {
			t.Errorf("event %v: late is wrong, want it true only after a 504", e)
		}
	}
}

// TestLastSynced: sync.lastSyncedAt is when the last board applied the permit, not when the permit changed.
func TestLastSynced(t *testing.T) {
	t.Parallel()
	applied := epoch.Add(-3 * time.Minute)
	h := newHouse(t)
	h.api.cfg.Grants = grant.New(grant.Config{Clock: h.clk, Store: h.store, Secret: []byte("entry links"),
		Applied: func(string) (int64, time.Time) { return 1 << 40, applied }})
	p := h.permit(permitBody).data()
	d := h.want(200, "", request{method: "GET", path: permits + "/" + p["permitId"].(string), token: "key_a"}).data()
	if sync := d["sync"].(map[string]any); sync["lastSyncedAt"] != "2026-11-01T02:57:00.000Z" || sync["state"] != "synced" {
		t.Errorf("sync %v, want synced at 02:57; updatedAt is %v", sync, d["updatedAt"])
	}
}

// TestBoardsAndDoors: a board's row shows the board's name, and a key with only the device scope sees only doors.
func TestBoardsAndDoors(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := must.Get(h.store.Board("brd_a"))(t)
	if row := h.rows("/device/v1/boards", "key_d")[0]; row["boardId"] != "brd_a" || row["name"] != b.Name || b.Name == b.ID || b.Name == "" {
		t.Errorf("board row %v, want the name %q", row, b.Name)
	}
	for _, row := range h.rows("/device/v1/devices", "key_d") {
		if row["kind"] != "door" || !strings.HasPrefix(row["id"].(string), "dor_") {
			t.Errorf("device row %v, want a door", row)
		}
	}
	h.want(404, "device_not_found", request{method: "GET", path: "/device/v1/devices/brd_a", token: "key_d"})
}
