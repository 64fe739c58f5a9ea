package engine

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/loadtest"
)

// TestTrace: a failed step keeps its last requests with their answers and the lists that it counted, without secrets;
// a passing step keeps nothing.
func TestTrace(t *testing.T) {
	t.Parallel()
	res, out := play(t, newFake(t), `
steps:
  - {call: {path: /echo}, expect: data.name == "Ann"}
  - {call: {path: /echo, method: POST, body: {phone: "821012345678", n: 1}}, expect: data.name == "Bob", within: 2s, continue: true}
  - {boards: {}, expect: count == 7, continue: true}
  - name: a group
    group: [{call: {path: /nowhere, status: 200}}]
    continue: true
  - {call: {path: /echo, times: 9}, expect: 'answers[0].data.name == "Bob"', continue: true}
`, Options{})
	steps := res.Files[0].Steps
	if len(steps) != 5 {
		t.Fatalf("got %d steps, want 5:\n%s", len(steps), out)
	}
	if len(steps[0].Exchanges)+len(steps[0].Evidence) != 0 {
		t.Errorf("the passed step keeps %+v, want nothing", steps[0])
	}
	if x := steps[1].Exchanges; len(x) == 0 || x[len(x)-1].Status != 200 || !strings.Contains(x[len(x)-1].Request, `"n":1`) || steps[1].Tries < 2 {
		t.Errorf("the failed step keeps %+v after %d tries, want its last request and several tries", x, steps[1].Tries)
	}
	if e := steps[2].Evidence; len(e) != 1 || e[0].Name != "boards" || e[0].Count != 1 || !strings.Contains(e[0].Items[0], "brd_1") {
		t.Errorf("the step that counted boards shows %+v, want the one board", e)
	}
	if g := steps[3]; len(g.Exchanges) != 0 || len(g.Children) != 1 || len(g.Children[0].Exchanges) == 0 || g.Children[0].Exchanges[0].Status != 404 {
		t.Errorf("the group keeps %+v, want the request with its own step only", g)
	}
	if n := len(steps[4].Exchanges); n != tracedCalls {
		t.Errorf("a step with 9 requests keeps %d, want the last %d", n, tracedCalls)
	}
	raw := must.Get(json.Marshal(steps))(t)
	for _, secret := range []string{"01012345678", "821012345678", fakeToken, fakeKey, "control-token"} {
		if strings.Contains(string(raw), secret) {
			t.Errorf("%s is shown:\n%s", secret, raw)
		}
	}
}

// TestLoadRequests: a failed load step shows the worst of its requests.
func TestLoadRequests(t *testing.T) {
	t.Parallel()
	slow := loadtest.Sample{Outcome: "reported", Since: 900, Exchange: report.Exchange{Method: "POST", URL: "/device/v1/devices/dor_1/commands", Status: 200, Ms: 899, Note: "reported, due 1 s into the run"}}
	loader := func(context.Context, loadtest.Target, loadtest.Plan, loadtest.Options) (loadtest.Result, error) {
		return loadtest.Result{Verdict: loadtest.Fail, Reasons: []string{"p99_reported is 900ms"}, Sent: 10, SentRate: 10,
			Thresholds: []loadtest.Threshold{{Name: "p99_reported", Limit: "100ms", Value: "900ms"}}, Samples: []loadtest.Sample{slow}}, nil
	}
	res, out := play(t, newFake(t), `steps: [{load: {rate: 10/s, duration: 1s, thresholds: {p99_reported: 100ms}}}]`, Options{Loader: loader})
	steps := res.Files[0].Steps
	if x := steps[len(steps)-1].Exchanges; len(x) != 1 || !reflect.DeepEqual(x[0], slow.Exchange) {
		t.Errorf("the step shows %+v, want the slowest request\n%s", x, out)
	}
}
