package report_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// TestEnvironment: how a run was made is a list in words, in reports of runs that were just made and of those that were
// read again; seeds stay as one types them.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	res := report.Result{Version: "v1.2", Config: map[string]any{"target": "", "world": "", "fleet": 0, "boards": "1 to 1,000", "link": "memory", "client": "light",
		"parallel": 6, "seed": int64(9007199254740993), "new": []int{1}}}
	want := []report.Fact{{"doorlab", "v1.2"}, {"target", "started by this command"}, {"live boards", "1 to 1,000"}, {"boards' connections", "memory"},
		{"boards' MQTT client", "light"}, {"worlds at a time", "6"}, {"seed", "9007199254740993"}, {"new", "[1]"}}
	if got := res.Environment(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var page, summary bytes.Buffer
	must.OK(t, report.WriteHTML(&page, res))
	must.OK(t, report.WriteSummary(&summary, res))
	if s := page.String(); strings.Contains(s, "&#34;boards&#34;") || !strings.Contains(s, `<th scope="row">live boards</th><td>1 to 1,000</td>`) {
		t.Error("the page shows JSON, or no row of the boards")
	}
	if !strings.Contains(summary.String(), "| live boards | 1 to 1,000 |") {
		t.Errorf("the summary has no row of the boards:\n%s", summary.String())
	}
	for name, config := range map[string]any{"none": nil, "not an object": "x", "a target": map[string]any{"target": "http://shop.example", "seed": 3}} {
		got := (report.Result{Config: config}).Environment()
		if name == "a target" && !reflect.DeepEqual(got, []report.Fact{{"target", "http://shop.example"}, {"seed", "3"}}) || name != "a target" && len(got) > 0 {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
