package loadtest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
)

func TestEmbeddedPlansLoad(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"door-commands", "ramp", "hot-door", "soak", "search", "mixed"} {
		p, err := Load(name)
		if err != nil || p.Name != name || p.Description == "" || p.Err() != nil {
			t.Errorf("%s: got %+v, %v, want a valid plan of that name with a description", name, p, err)
		}
		if _, err := Load("plans/" + name + ".yaml"); err != nil {
			t.Errorf("by its path: got %v, want no error", err)
		}
	}
	if got := Embedded(); len(got) != 6 {
		t.Errorf("embedded: got %v, want 6 plans", got)
	}
	if _, err := Load("dor-commands"); err == nil || !strings.Contains(err.Error(), `did you mean "door-commands"?`) {
		t.Errorf("got %v, want the nearest name, door-commands", err)
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	must.OK(t, os.WriteFile(file, []byte("rate: 1\nduration: 1s\n"), 0o600))
	if p, err := Load(file); err != nil || p.Name != "mine" {
		t.Errorf("got %+v, %v, want the plan named mine", p, err)
	}
}

func TestBadPlans(t *testing.T) {
	t.Parallel()
	refuses(t, map[string]badPlan{
		"all at once": {"rat: 300\nduration: fast\ncommands: {open: 70%, shut: 30%}\n", []string{
			`p.yaml:1:1: unknown key "rat", did you mean "rate"?`,
			`p.yaml:2:11: "fast" is not a valid duration, write it like 20s or 1m30s`,
			`p.yaml:3:23: unknown key "shut", valid: close hold open`,
		}},
		"all at once, of both kinds": {"rat: 3\nrate: 300\nduration: fast\ncommands: {open: 70%, hold: 20%}\nthresholds: {p99: 1s, p99_all: few}\nskew: 0.5\nto: 9\n", []string{
			`p.yaml:1:1: unknown key "rat", did you mean "rate"?`, `p.yaml:3:11: "fast" is not a valid duration, write it like 20s or 1m30s`,
			"p.yaml:4:1: the shares add up to 90%, but must add up to 100%", `p.yaml:5:14: unknown threshold "p99", did you mean "p99_all"?`,
			`p.yaml:5:23: "few" is not a valid duration, write it like 20s or 1m30s`, "p.yaml:6:1: skew must be above 1"}},
		"pacer": {"pacer: sinus\nrate: 3\n", []string{`p.yaml:1:8: "sinus" is not a valid pacer, did you mean "sine"?`}},
		"needs": {"pacer: sine\nrate: 3\nto: 5\nduration: 1s\n", []string{
			"p.yaml:1:1: amplitude is needed with pacer: sine", "p.yaml:1:1: period is needed with pacer: sine", "p.yaml:3:1: to must be left out with pacer: sine; it belongs to pacer: ramp or search"}},
		"stages": {"pacer: stages\nstages:\n  - {rate: 5, duration: 1s}\n  - {rate: 5}\n  - {rate: -1, duration: 1s}\n", []string{
			`p.yaml:5:12: "-1" is out of range, a rate is 0 to 1,000,000`}},
		"too much":     {"rate: 99999999/s\nduration: 1s\n", []string{`p.yaml:1:7: "99999999/s" is out of range, a rate is 0 to 1,000,000`}},
		"not a number": {"rate: NaN/s\nduration: 1s\n", []string{`p.yaml:1:7: "NaN/s" is not a valid rate, write it like 300 or 300/s`}},
		"stage's thresholds": {"pacer: stages\nstages:\n  - {rate: 5, duration: 1s, thresholds: {p99_al: 1s}}\n", []string{
			`p.yaml:3:42: unknown threshold "p99_al", did you mean "p99_all"?`}},
		"percentile": {"rate: 1\nduration: 1s\nthresholds: {p101_all: 1s}\n", []string{"p.yaml:3:14: p101 is not a percentile: write p and a number above 0, at most 100"}},
		"k6's thresholds": {"rate: 1\nduration: 1s\nthresholds: {p(95): 1s, p99.9: 1s, med: 1s, http_req_failed: 1%, http_req_duration: 1s, http_reqs: 5}\n", []string{
			`p.yaml:3:14: unknown threshold "p(95)", did you mean "p95_all"?`, `p.yaml:3:25: unknown threshold "p99.9", did you mean "p99.9_all"?`, `p.yaml:3:36: unknown threshold "med", did you mean "p50_all"?`,
			`p.yaml:3:45: unknown threshold "http_req_failed", did you mean "errors"?`, `p.yaml:3:66: unknown threshold "http_req_duration", did you mean "p95_all"?`,
			`p.yaml:3:89: unknown threshold "http_reqs", did you mean "rate_min"?`}},
		"no such threshold": {"rate: 1\nduration: 1s\nthresholds: {p99: 1s, latency: 1s}\n", []string{
			`p.yaml:3:14: unknown threshold "p99", did you mean "p99_all"?`, `p.yaml:3:23: unknown threshold "latency"; thresholds are a time of an outcome (p99_all, mean_reported, max_offline, service_p50_all), reported_min, refused_max, errors, rate_min and lag_p99`}},
		"stage without duration": {"pacer: stages\nstages:\n  - {rate: 5, duration: 1s}\n  - rate: 5\n", []string{
			"p.yaml:4:5: each stage needs a duration"}},
		"faults": {"rate: 1\nduration: 1s\nfaults:\n  - {fault: ofline, share: 1}\n  - {fault: slow, share: 0%, params: {p51: 1}}\n", []string{
			`p.yaml:4:6: "ofline" is not a valid fault, did you mean "offline"?`, "p.yaml:5:19: share must be above 0 and at most 1, which is 100%", `p.yaml:5:39: "p51" is not a valid parameter of slow, valid: p50Ms p99Ms`}},
		"fleet":         {"rate: 1\nduration: 1s\nfleet: {boards: -1, report: {p50: 2ms, p99: 1ms}}\n", []string{"p.yaml:3:9: boards must be 1 to 2000000", "p.yaml:3:40: p99 must not be shorter than p50"}},
		"virtual users": {"vus: 10\nrate: 1\nduration: 1s\n", []string{`p.yaml:1:1: unknown key "vus"; a load is open: give rate, not a number of virtual users`}},
		"reason":        {"rate: 1\nduration: 1s\nreason: " + strings.Repeat("x", 201) + "\n", []string{"p.yaml:3:1: reason has more than 200 characters"}},
		"amplitude":     {"pacer: sine\nrate: 1\namplitude: 5\nperiod: 1s\nduration: 1s\n", []string{"p.yaml:3:1: amplitude must not be above the rate"}},
		"requests":      {"rate: 1\nduration: 1s\nrequests: {command: 50%, links: 10%}\n", []string{`p.yaml:3:26: unknown key "links", did you mean "link"?`}},
		"no permits": {"rate: 1\nduration: 1s\nrequests: {command: 50%, revoke: 10%}\n", []string{"p.yaml:3:1: the shares add up to 60%, but must add up to 100%",
			"p.yaml:3:1: register must be above 0: reregister, revoke, permit and link use the permits that this load registers"}},
		"shares": {"rate: 1\nduration: 1s\ncommands:\n  open: 70%\nrepeatedKeys: 100%\n", []string{"p.yaml:3:1: the shares add up to 70%, but must add up to 100%", "p.yaml:5:1: repeatedKeys must be below 100%: some requests must be originals"}},
		"thresholds": {"rate: 1\nduration: 1s\nthresholds:\n  p99_reportd: 1s\n  errors: few\n  p99_all: 5\n", []string{
			`p.yaml:4:3: unknown threshold "p99_reportd", did you mean "p99_reported"?`,
			`p.yaml:5:3: "few" is neither a count nor a share like 1%`,
			`p.yaml:6:3: "5" is not a valid duration, write it like 20s or 1m30s`}},
		"number":    {"rate: 1\nduration: 1s\nholdMinutes: many\nskew: [1]\n", []string{`p.yaml:3:14: expected a whole number, found "many"`, "p.yaml:4:7: expected a number, found a list"}},
		"syntax":    {"rate: [1\n", []string{"p.yaml:1:7: the closing ] is missing"}},
		"empty":     {"# nothing\n", []string{"p.yaml:1:1: the file is empty"}},
		"not a map": {"- a\n", []string{"p.yaml:1:1: expected a mapping, found a list"}},
		"a list":    {"stages: 5\n", []string{"p.yaml:1:9: expected a list, found \"5\""}},
		"search":    {"pacer: search\nrate: 9\nto: 3\nduration: 1s\n", []string{"p.yaml:1:1: a search needs at least one threshold", "p.yaml:3:1: to must not be below the rate"}},
		"duplicate": {"rate: 1\nrate: 2\nduration: 1s\n", []string{`p.yaml:2:1: "rate" is given twice`}},
	})
}

// badPlan is the text of a plan and what is said about it.
type badPlan struct {
	text string
	want []string
}

func refuses(t *testing.T, plans map[string]badPlan) {
	t.Helper()
	for name, tt := range plans {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse("p.yaml", []byte(tt.text))
			var bad *PlanError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a *PlanError", err)
			}
			if diff := cmp.Diff(tt.want, bad.Lines); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestPlanAsJSON(t *testing.T) {
	t.Parallel()
	p := must.Get(Load("ramp"))(t)
	text := must.Get(json.Marshal(p))(t)
	var again Plan
	if err := json.Unmarshal(text, &again); err != nil || !cmp.Equal(p, again) {
		t.Errorf("the plan doesn't survive JSON: %v\n%s\n%s", err, text, cmp.Diff(p, again))
	}
	if err := json.Unmarshal([]byte(`{"name":"n","rate":3,"duration":"1s","repeatedKeys":0.1,"commands":{}}`), &again); err != nil || again.Rate != 3 || again.RepeatedKeys != 0.1 {
		t.Errorf("read as %+v, %v, want rate 3 and 0.1 of repeated keys", again, err)
	}
}
