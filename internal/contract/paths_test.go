package contract_test

import (
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/testbed"
)

// TestMissing: a path that isn't in the documents is followed by what was probably meant, or by what there is beside it; one that
// only a run completes, or that isn't a sub-service's, isn't missing.
func TestMissing(t *testing.T) {
	t.Parallel()
	c := must.Get(testbed.Contract())(t)
	for of, want := range map[[2]string]string{
		{"GET", "/device/v1/devices"}:                            "",
		{"GET", "/device/v1/devices?kind=door"}:                  "",
		{"GET", "/space/v1/partner/entry-permits/..."}:           "",
		{"GET", "/core/v1/.../places/.../schedule"}:              "",
		{"GET", "/device/v1/openapi.json"}:                       "",
		{"GET", "/device/v1/docs"}:                               "",
		{"GET", "/entry"}:                                        "",
		{"GET", "/readyz"}:                                       "",
		{"GET", "/space/v1/partner/entry-log"}:                   "the API has no path /space/v1/partner/entry-log, did you mean /space/v1/partner/entry-logs?",
		{"GET", "/device/v2/devices"}:                            "the API has no path /device/v2/devices, did you mean /device/v1/devices?",
		{"GET", "/space/v1/partner/opening-hours"}:               "the API has no path /space/v1/partner/opening-hours; beneath /space/v1/partner there is entry-logs, entry-permits, gate-config",
		{"GET", "/core/v1/public/places/.../opening-hours"}:      "the API has no path /core/v1/public/places/.../opening-hours; beneath /core/v1/public/places/... there is schedule",
		{"PUT", "/device/v1/devices/.../commands"}:               "/device/v1/devices/.../commands takes POST, not PUT",
		{"GET", "/space/v1/partner/entry-permits/pmt_1/revoked"}: "the API has no path /space/v1/partner/entry-permits/pmt_1/revoked",
	} {
		got, status := c.Missing(of[0], of[1])
		if got != want || (status == 405) != (of[0] == "PUT") || (status == 0) != (want == "") {
			t.Errorf("%s %s: got %q, %d, want %q", of[0], of[1], got, status, want)
		}
	}
}
