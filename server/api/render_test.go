package api

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	gendevice "github.com/doorlab/doorlab/server/api/gen/device"
	gen "github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
)

// The hand-written encoder writes what reflection would write.
func TestCommandedAsEncoded(t *testing.T) {
	t.Parallel()
	at := stamp.Time(time.Date(2026, 11, 1, 12, 0, 0, 7_000_000, time.FixedZone("KST", 9*3600)))
	result := func(text string, from, until stamp.Time, s *gendevice.Standing) gendevice.CommandResult {
		return gendevice.CommandResult{CommandID: "cmd_1", DeviceID: text, Capability: "door", Command: "open", Outcome: "reported", RequestedAt: from, ReportedAt: until, Standing: s}
	}
	var all []gendevice.CommandResult
	for _, text := range []string{"", "dor_1", "a b", "<&>", `"\`, "\n\x01", "문\u2028", "\xff", "~\x7f"} {
		for _, s := range []*gendevice.Standing{nil, {}, {State: text, Since: at, Leaf: "open", ReportedAt: at, Fresh: true}, {State: "unlocked", Since: at, HoldUntil: at, Leaf: text}} {
			all = append(all, result(text, at, stamp.Time{}, s), result(text, stamp.Time{}, at, s))
		}
	}
	for _, d := range all {
		want := encode(success{true, d})
		if got := appendCommanded(nil, &d); !bytes.Equal(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := string(encode(success{true, strings.Repeat("x", 10)})); got != `{"success":true,"data":"xxxxxxxxxx"}` { // a short answer after longer ones
		t.Errorf("got %s, want the answer alone", got)
	}
}

// The same for lists.
func TestListsAsEncoded(t *testing.T) {
	t.Parallel()
	at := stamp.Time(time.Date(2026, 11, 1, 12, 0, 0, 7_000_000, time.FixedZone("KST", 9*3600)))
	var devices []gendevice.Device
	var permits []gen.Permit
	var records []gen.Record
	for _, text := range []string{"", "dor_1", "<&>", `"\`, "문\u2028", "\xff"} {
		devices = append(devices, gendevice.Device{ID: text, Name: text, Kind: "door", Health: gendevice.Health{State: text, Since: at},
			Capabilities: gendevice.Capabilities{Door: []string{"open", text}}},
			gendevice.Device{ID: "dor_2", Name: "Back", Kind: text, Health: gendevice.Health{State: "online", LastSeenAt: at}, Capabilities: gendevice.Capabilities{Door: []string{}}})
		permits = append(permits, gen.Permit{PermitID: "prm_1", ExternalRef: text, Name: text + "n", PhoneTail: "1234", State: "active", StartsAt: at, UseCount: -3, URL: text + "u"},
			gen.Permit{PermitID: text, PhoneTail: text, State: text, EndsAt: at, FirstUsedAt: at, UseCount: 1 << 40})
		records = append(records, gen.Record{RecordID: text, DoorID: &text, Result: text, Method: "api", ActorLabel: text, CommandID: &text, OccurredAt: at, Source: "server", SettledAs: &text, Replays: 7},
			gen.Record{RecordID: "rec_1", DoorName: &text, Reason: text, Method: text, Actor: text, RequestedAt: at, RecordedAt: at, Source: text, SettledAt: at, Note: &text})
	}
	asEncoded(t, devices, appendDevice)
	asEncoded(t, permits, appendPermit)
	asEncoded(t, records, appendRecord)
}

func asEncoded[T any](t *testing.T, all []T, each func([]byte, *T) []byte) {
	t.Helper()
	for n := range len(all) + 1 {
		want := encode(page{true, append([]T{}, all[:n]...), n + 1000})
		if got := listed(all[:n], n+1000, each); got.status != 200 || got.kind != typeJSON || !bytes.Equal(got.body, want) {
			t.Errorf("got %d %s %s, want 200 %s", got.status, got.kind, got.body, want)
		}
	}
}

// The same for the 504 that every command keeps.
func TestSilenceAsEncoded(t *testing.T) {
	t.Parallel()
	for _, legacy := range []bool{false, true} {
		for _, wait := range []int64{8000, 1} {
			for _, id := range []string{"cmd_1", "cmd_2", `a"b`} {
				r := command.Result{CommandID: id, DoorID: "dor_1", Command: "open", Outcome: vocab.NoResponse, TimeoutMs: wait}
				want := encode(failureOf(r.Failure(fail.DeviceOffline), legacy))
				if status, got := render(r, legacy); status != 504 || !bytes.Equal(got, want) {
					t.Errorf("got %d %s, want 504 %s", status, got, want)
				}
			}
		}
	}
}
