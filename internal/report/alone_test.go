package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// exchanged is the run's own exchange of a key for the token "t".
func exchanged() history.Event {
	return history.CallEvent(history.CallIn{Method: "POST", Path: judge.ExchangeRoute, Status: 200, Own: true, Request: []byte(`{"key":"k"}`),
		Answer: []byte(`{"success":true,"data":{"accessToken":"t","expiresIn":900,"placeId":"plc_1","scopes":["device:door"]}}`)})
}

// TestAnotherFilesEvidence: in one world, be it a shared target's or the run's own, what one file did is no evidence for what another one claims, whichever
// comes first. A file may use a token that the run's client has from an earlier one.
func TestAnotherFilesEvidence(t *testing.T) {
	t.Parallel()
	calls := map[string][]history.Event{
		"real":   {call(0, "GET", "/device/v1/devices", 200, "t", `{"success":true,"data":[]}`), call(0, "GET", "/space/v1/partner/gate-config", 403, "t", `{"error":"scope_missing"}`)},
		"vacant": {call(0, "GET", "/device/v1/devices", 200, "t", `{"success":true,"data":[]}`)},
	}
	for n, order := range [][]string{{"real", "vacant"}, {"vacant", "real"}, {"real", "vacant"}, {"vacant", "real"}} {
		events := []history.Event{{Kind: history.Started, Text: "server"}}
		if n < 2 {
			events = append(events, history.Event{Kind: history.Begun})
		}
		var res report.Result
		for i, name := range order {
			res.Files = append(res.Files, report.FileResult{Path: name + ".yaml", Name: name, Status: judge.Pass, Clauses: []string{"AUTH-2"}, Started: time.Unix(0, int64(len(events)+1)),
				Steps: []*report.Step{{Name: "asks", Status: judge.Pass, Asserts: true}}})
			if events = append(events, history.Event{Kind: history.Label, Text: report.FileLabel + name}); i == 0 {
				events = append(events, exchanged())
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

// TestPlaysInWorldsOfTheirOwn: each play of a repeated file has its evidence in its own world, and none in the other's.
func TestPlaysInWorldsOfTheirOwn(t *testing.T) {
	t.Parallel()
	var events []history.Event
	var res report.Result
	for play := 1; play <= 2; play++ {
		res.Files = append(res.Files, report.FileResult{Path: "real.yaml", Play: play, Plays: 2, Name: "real", Status: judge.Pass, Clauses: []string{"AUTH-2"},
			Started: time.Unix(0, int64(len(events)+1)), Steps: []*report.Step{{Name: "asks", Status: judge.Pass, Asserts: true}}})
		events = append(events, history.Event{Kind: history.World, Text: "real.yaml", Op: fmt.Sprintf("%d of 2", play)},
			history.Event{Kind: history.Started, Text: "server"}, history.Event{Kind: history.Label, Text: report.FileLabel + "real"}, exchanged(),
			call(0, "GET", "/device/v1/devices", 200, "t", `{"success":true,"data":[]}`), call(0, "GET", "/space/v1/partner/gate-config", 403, "t", `{"error":"scope_missing"}`))
	}
	for i := range events {
		events[i].Seq, events[i].At, events[i].WallNs = int64(i+1), int64(i+1), int64(i+1)
	}
	res.Settle(events)
	for _, f := range res.Files {
		if f.Status != judge.Pass {
			t.Errorf("play %d is %s %q, want PASS", f.Play, f.Status, f.Reason)
		}
	}
}
