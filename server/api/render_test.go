package api

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
)

// The answer that is written by hand is what reflection writes.
func TestCommandedAsEncoded(t *testing.T) {
	t.Parallel()
	at := stamp.Time(time.Date(2026, 11, 1, 12, 0, 0, 7_000_000, time.FixedZone("KST", 9*3600)))
	result := func(text string, from, until stamp.Time, s *gen.Standing) gen.CommandResult {
		return gen.CommandResult{CommandID: "cmd_1", DeviceID: text, Capability: "door", Command: "open", Outcome: "reported", RequestedAt: from, ReportedAt: until, Standing: s}
	}
	var all []gen.CommandResult
	for _, text := range []string{"", "dor_1", "a b", "<&>", `"\`, "\n\x01", "문\u2028", "\xff", "~\x7f"} {
		for _, s := range []*gen.Standing{nil, {}, {State: text, Since: at, Leaf: "open", ReportedAt: at, Fresh: true}, {State: "unlocked", Since: at, HoldUntil: at, Leaf: text}} {
			all = append(all, result(text, at, stamp.Time{}, s), result(text, stamp.Time{}, at, s))
		}
	}
	for _, d := range all {
		want := encode(success{true, d})
		if got := appendCommanded(nil, &d); !bytes.Equal(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := string(encode(success{true, strings.Repeat("x", 10)})); got != `{"success":true,"data":"xxxxxxxxxx"}` { // a shorter one after longer ones
		t.Errorf("got %s, want the answer alone", got)
	}
}

// So is the list of devices.
func TestDevicesAsEncoded(t *testing.T) {
	t.Parallel()
	at := stamp.Time(time.Date(2026, 11, 1, 12, 0, 0, 7_000_000, time.FixedZone("KST", 9*3600)))
	var all []gen.Device
	for _, text := range []string{"", "dor_1", "<&>", `"\`, "문\u2028", "\xff"} {
		all = append(all, gen.Device{ID: text, Name: text, Kind: "door", Health: gen.Health{State: text, Since: at},
			Capabilities: gen.Capabilities{Door: []string{"open", text}}},
			gen.Device{ID: "dor_2", Name: "Back", Kind: text, Health: gen.Health{State: "online", LastSeenAt: at}, Capabilities: gen.Capabilities{Door: []string{}}})
	}
	for n := range len(all) + 1 {
		want := encode(page{true, all[:n:n], n})
		if n == 0 {
			want = encode(page{true, []gen.Device{}, 0})
		}
		if got := appendDevices(nil, all[:n]); !bytes.Equal(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// So is the 504 that every command keeps.
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
