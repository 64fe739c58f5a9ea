package contract_test

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/testbed"
)

// TestIgnored: what a request says beside what its operation knows is listed, with the name that was probably meant.
func TestIgnored(t *testing.T) {
	t.Parallel()
	c := must.Get(testbed.Contract())(t)
	const permits, commands = "/space/v1/partner/entry-permits", "/device/v1/devices/dor_1/commands"
	for _, tt := range []struct{ method, path, body, want string }{
		{"POST", permits, `{"externalRef":"a","phone":"01012345678","startsAt":"2026-12-01T00:00:00Z","endsAt":"2026-12-02T00:00:00Z","doorIds":["dor_1"],"name":"Kim"}`, ""},
		{"POST", permits, `{"externalRef":"a","doorIDs":["dor_1"],"note":1}`, `doorIDs, did you mean "doorIds"?|note`},
		{"POST", commands, `{"capability":"door","command":"hold","args":{"minutes":10,"reason":"x"}}`, ""},
		{"POST", commands, `{"capability":"door","command":"hold","minutes":10}`, `minutes, did you mean "args.minutes"?`},
		{"POST", commands, `{"capability":"door","args":{"minuts":10}}`, `args.minuts, did you mean "args.minutes"?`},
		{"POST", commands, `{"capability":`, ""},
		{"GET", "/space/v1/partner/entry-logs?days=1&limit=5", "", `?days, did you mean "sinceDays"?`},
		{"GET", "/space/v1/nothing?days=1", "", ""},
		{"PUT", "/device/v1/boards/brd_1/netloss", `{"graceSec":5,"channels":{"1":"open"}}`, ""},
		{"PATCH", "/core/v1/places/plc_1", `{"hours":{"week":{"mon":[["09:00","10:00"]]}}}`, ""},
	} {
		got := strings.Join(c.Ignored(tt.method, tt.path, []byte(tt.body)), "|")
		if got != tt.want {
			t.Errorf("%s %s %s: ignored %q, want %q", tt.method, tt.path, tt.body, got, tt.want)
		}
	}
}
