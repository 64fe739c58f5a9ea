package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// long is a value that breaks layouts that aren't prepared for it.
var long = strings.Repeat("dor_00000g0g00ehs6mpgnjnaka6k8", 12)

// failing is the sample with everything that a failed step can show, at maximum length.
func failing() report.Result {
	res := sample()
	f := &res.Files[1]
	f.Source = []byte("name: 37 hours\nsteps:\n  - name: up to 36 h\n    present: {door: shop, phone: \"01012345678\"}\n    clauses: [OFF-2]\n  - name: after\n")
	bad := f.Steps[0].Children[1]
	bad.Line, f.Steps[0].Line, f.Steps[0].Children[0].Line = 3, 3, 3
	bad.Detail += "\n" + long
	bad.Tries = 4
	res.Assertions[1].Number = strings.Repeat("evidence that goes on and on ", 30) + long // squeezes the column of ids
	bad.Exchanges = []report.Exchange{
		{Method: "POST", URL: "/core/v1/auth/apikey/token", Request: `{"key":"sact_[hidden]"}`, Status: 200, Answer: `{"data":{}}`, Ms: 2},
		{Method: "GET", URL: "/device/v1/devices/" + long, Status: 502, Answer: `{"error":"device_refused","message":"<script>alert(1)</script>","long":"` + long + `"}`,
			Headers: map[string]string{"X-Request-Id": long}, Ms: 141.6},
		{Method: "GET", URL: "/", Error: "connection refused"},
	}
	bad.Evidence = []report.Evidence{{Name: "records", Count: 1200, Items: []string{`{"recordId":"` + long + `"}`}}, {Name: "events", Items: []string{}}}
	f.Armed = []report.Span{{Fault: "offline", From: began.Add(3 * time.Second), To: began.Add(5 * time.Second), Hits: 7}}
	f.Faults = []report.FaultUse{{Fault: "offline", Hits: 7, Clauses: map[string]int{"OFF-2": 3}}}
	ev := events()
	for i := range 60 {
		at := began.UnixMilli() + int64(i)*200
		ev = append(ev, history.Event{Seq: int64(100 + i), Kind: history.Call, At: at, WallNs: at * 1e6, Status: 200,
			Text: fmt.Sprintf(`{"sentAt":1,"sentNs":%d}`, at*1e6-int64(i+1)*1e6)})
	}
	res.Settle(ev)
	return res
}

func passing() report.Result {
	res := report.Result{Seed: 1, Started: began, Seconds: 2, Files: []report.FileResult{{Path: "a.yaml", Name: "a", Status: judge.Pass, Started: began, Seconds: 2,
		Steps: []*report.Step{{Name: "open", Status: judge.Pass, Started: began, Seconds: 1}}}}}
	res.Settle(tokenUsed())
	return res
}

func invalid() report.Result {
	res := report.Result{Seed: 1, Started: began, Seconds: 2, Files: []report.FileResult{{Path: "load.yaml", Name: "too slow", Status: judge.Invalid,
		Reason: "only 20 commands per second", Started: began, Seconds: 2}}}
	res.Settle(nil)
	return res
}

// looks are the screen sizes and modes in which each page is viewed.
var looks = map[string]browser.Look{
	"phone": {Width: 390, Height: 844, Mobile: true}, "desk": {Width: 1280, Height: 800, Dark: true}, "plain": {Width: 1280, Height: 800, NoScript: true},
}

// TestPageInBrowser: the page of a passing, failing and invalid run opens from disk, makes no requests, fits every
// screen, never breaks an id across lines, and starts with what failed.
func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	for name, res := range map[string]report.Result{"pass": passing(), "fail": failing(), "invalid": invalid()} {
		file := filepath.Join(t.TempDir(), name+".html")
		must.OK(t, os.WriteFile(file, []byte(render(t, "report.html", res)), 0o600))
		for look, l := range looks {
			p := b.Page(l)
			p.Open("file://" + file)
			var failures, top float64
			if wide := p.Wide(); wide != "" {
				t.Errorf("%s, %s: wider than the screen by %s", name, look, wide)
			}
			if faint := p.Faint(); len(faint) > 0 {
				t.Errorf("%s, %s: texts of too little contrast: %q", name, look, faint)
			}
			var tall []string
			p.Eval(`[...document.querySelectorAll("a.id, .id a, span.id")].filter(e => e.getClientRects().length > 1).map(e => e.textContent)`, &tall)
			if len(tall) > 0 {
				t.Errorf("%s, %s: ids broken across two lines: %q", name, look, tall)
			}
			p.Eval(`document.querySelectorAll(".failure").length`, &failures)
			if want := len(report.Failures(res)); int(failures) != want || name != "pass" && want == 0 || name == "pass" && want != 0 {
				t.Errorf("%s, %s: %v failures, want %d", name, look, failures, want)
			}
			if p.Eval(`document.querySelector(".failure")?.getBoundingClientRect().top ?? 0`, &top); top > 900 {
				t.Errorf("%s, %s: the first failure starts %.0f px down, want at most 900", name, look, top)
			}
			if said := p.Console(); len(said) > 0 {
				t.Errorf("%s, %s: the browser complains: %q", name, look, said)
			}
			if asked := p.Requests(); len(asked) != 1 {
				t.Errorf("%s, %s: asked for %+v, want only the file", name, look, asked)
			}
			if dir := os.Getenv("DOORLAB_PICTURES"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, "report-"+name+"-"+look+".png"), p.Picture(), 0o600); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestPageIsUsable: the filter leaves what matches and says how many, an anchor unfolds what it points to, and j
// jumps to the first failure.
func TestPageIsUsable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "fail.html")
	must.OK(t, os.WriteFile(file, []byte(render(t, "report.html", failing())), 0o600))
	p := browser.Start(t).Page(browser.Look{})
	p.Open("file://" + file)
	p.Key("j", "KeyJ", 74, 0)
	p.Await(`document.activeElement === document.querySelector(".failure")`)
	p.Key("/", "Slash", 191, 0)
	p.Await(`document.activeElement.id === "filter"`)
	p.Type("outage_36h")
	p.Await(`document.getElementById("left").textContent.endsWith(" entries") && [...document.querySelectorAll("#scenarios details[data-row]")].filter(d => !d.hidden).length === 1`)
	p.Key("Escape", "Escape", 27, 0)
	p.Await(`document.querySelectorAll("[data-row][hidden]").length === 0`)
	var links []string
	p.Eval(`[...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute("href").slice(1)).filter(id => !document.getElementById(id))`, &links)
	if len(links) > 0 {
		t.Errorf("links lead nowhere: %q", links)
	}
	var fragments []string
	p.Eval(`[...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)`, &fragments)
	if len(fragments) > 0 {
		t.Errorf("ids that occur twice: %q", fragments)
	}
}

// TestPlantedBugsColumn: under a head that says what they are, the numbers are enough.
func TestPlantedBugsColumn(t *testing.T) {
	t.Parallel()
	res := report.Result{Status: judge.Pass, Ledger: []judge.Row{{Clause: "CMD-1", Status: judge.Pass, Checked: 3, Planted: "its checks catch 1 of 12 planted bugs"}}}
	var page bytes.Buffer
	must.OK(t, report.WriteHTML(&page, res))
	if want := `data-l="planted bugs caught">1 of 12</td>`; !strings.Contains(page.String(), want) {
		t.Errorf("no %s in\n%s", want, page.String())
	}
}
