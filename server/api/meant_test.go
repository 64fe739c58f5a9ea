package api

import (
	"strings"
	"testing"
)

// TestMeantPaths: the refusal of a path that doesn't exist names the one that was probably meant, without what stands in the
// place of an id.
func TestMeantPaths(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for path, want := range map[string]string{
		"/device/v1/devices/":                              "no such path, did you mean /device/v1/devices?",
		"/device/v1/device/01012345678/commands":           "no such path, did you mean /device/v1/devices/{id}/commands?",
		"/Space/v1/partner/entry_permits":                  "no such path, did you mean /space/v1/partner/entry-permits?",
		"/core/v1/auth/apikeys/tokens":                     "no such path, did you mean /core/v1/auth/apikey/token?",
		"/core/v2/openapi.json":                            "no such path, did you mean /core/v1/openapi.json?",
		"/device/v1/windows":                               "no such path",
		"/lab/v1/clock":                                    "no such path", // by this a command line recognizes the wrong listener
		"/space/v1/partner/entry-permits//revoke":          "no such path",
		"/entry/opens/extra":                               "no such path",
		"/device/v1/doors/dor_1/policy":                    "no such path, did you mean /device/v1/doors/{id}/policies?",
		"/device/v1/doors/dor_1/" + string(rune(0x10FFFF)): "no such path",
	} {
		if got := h.want(404, "not_found", request{method: "GET", path: path}).json["message"]; got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestRefusalsSayWhatToDo: a refusal names the bound in the unit that the documents use, the place that a key is for, the one
// valid value if there is only one, and which two intervals overlap.
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, c := range []struct {
		status int
		code   string
		q      request
		want   string
	}{
		{400, "body_too_large", request{method: "POST", path: "/space/v1/customers/import", token: "key_a", body: strings.Repeat(" ", 8<<20+1)}, "the body is larger than 8 MiB"},
		{400, "body_too_large", request{method: "POST", path: "/space/v1/partner/entry-permits", token: "key_a", body: strings.Repeat(" ", 64<<10+1)}, "the body is larger than 64 KiB"},
		{403, "place_forbidden", request{method: "GET", path: "/core/v1/places/plc_b/events", token: "key_a"}, "the path names a place other than the key's, plc_a"},
		{400, "unsupported_command", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_a", key: "k1", body: `{"capability":"lock","command":"open"}`}, "capability must be door"},
		{400, "invalid_field", request{method: "PATCH", path: "/core/v1/places/plc_a", token: "key_a", body: `{"hours":{"week":{"mon":[["11:59","13:00"],["09:00","12:00"]]}}}`},
			"hours.week.mon is wrong: 09:00-12:00 and 11:59-13:00 overlap"},
	} {
		if got := h.want(c.status, c.code, c.q).json["message"]; got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.q.method, c.q.path, got, c.want)
		}
	}
}
