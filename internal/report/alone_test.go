package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// TestAnotherFilesEvidence: on a shared target, what one file did is no evidence for what another one claims, whichever
// comes first. A file may use a token that the run's client has from an earlier one.
func TestAnotherFilesEvidence(t *testing.T) {
	t.Parallel()
	calls := map[string][]history.Event{
		"real":   {call(0, "GET", "/device/v1/devices", 200, "t", `{"success":true,"data":[]}`), call(0, "GET", "/space/v1/partner/gate-config", 403, "t", `{"error":"scope_missing"}`)},
		"vacant": {call(0, "GET", "/device/v1/devices", 200, "t", `{"success":true,"data":[]}`)},
	}
	exchange := history.CallEvent(history.CallIn{Method: "POST", Path: judge.ExchangeRoute, Status: 200, Own: true, Request: []byte(`{"key":"k"}`),
		Answer: []byte(`{"success":true,"data":{"accessToken":"t","expiresIn":900,"placeId":"plc_1","scopes":["device:door"]}}`)})
	for _, order := range [][]string{{"real", "vacant"}, {"vacant", "real"}} {
		events := []history.Event{{Kind: history.Started, Text: "server"}, {Kind: history.Begun}}
		var res report.Result
		for i, name := range order {
			res.Files = append(res.Files, report.FileResult{Path: name + ".yaml", Name: name, Status: judge.Pass, Clauses: []string{"AUTH-2"}, Started: time.Unix(0, int64(len(events)+1)),
				Steps: []*report.Step{{Name: "asks", Status: judge.Pass, Asserts: true}}})
			if events = append(events, history.Event{Kind: history.Label, Text: report.FileLabel + name}); i == 0 {
				events = append(events, exchange)
			}
			events = append(events, calls[name]...)
		}
		for i := range events {
			events[i].Seq, events[i].At, events[i].WallNs = int64(i+1), int64(i+1), int64(i+1)
		}
		res.Settle(events)
		for _, f := range res.Files {
			if f.Name == "real" && f.Status != judge.Pass || f.Name == "vacant" && (f.Status != judge.Invalid || !strings.Contains(f.Reason, "claims AUTH-2, but")) {
				t.Errorf("%v: %s is %s %q, want real PASS and vacant INVALID", order, f.Name, f.Status, f.Reason)
			}
		}
	}
}
