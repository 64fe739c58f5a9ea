package loadtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// waysOf returns the events of n commands in which each phase takes a distinct time, in ms.
func waysOf(n int) (events []history.Event) {
	add := func(kind string, i int, at int64, more history.Event) {
		more.Kind, more.WallNs = kind, at*1e6
		if kind != history.Attempt {
			more.CommandID = fmt.Sprintf("cmd_%d", i)
		}
		events = append(events, more)
	}
	for i := range n {
		at, request := int64(1000+i*100), fmt.Sprintf("r%d", i)
		add(history.Attempt, i, at, history.Event{Request: request})
		add(history.Intent, i, at+4, history.Event{TookNs: 1.5e6, CheckNs: 1.5e6})
		add(history.Publish, i, at+5, history.Event{})
		add(history.Actuation, i, at+52, history.Event{TookNs: 7e6})
		add(history.Received, i, at+57, history.Event{})
		add(history.RecordIn, i, at+61, history.Event{})
		add(history.Answer, i, at+64, history.Event{Request: request, Status: 200, Outcome: vocab.Reported})
		add(history.Answer, i, at+90, history.Event{Request: request + "again", Status: 200, Replayed: true})
	}
	events = append(events, history.Event{Kind: history.Intent, CommandID: "cmd_lost", WallNs: 5})
	return events
}

// TestPhases: each phase gets its own time; a command with an incomplete path gets none.
func TestPhases(t *testing.T) {
	t.Parallel()
	got := phasesOf(waysOf(10))
	var medians []int
	for _, p := range got {
		if p.N != 10 {
			t.Errorf("%s counts %d commands, want 10", p.Name, p.N)
		}
		medians = append(medians, int(p.P50+.5))
	}
	if want := "[1 2 2 1 40 7 5 4 3]"; fmt.Sprint(medians) != want {
		t.Errorf("got medians %v ms, want %s", medians, want)
	}
	if got := phasesOf(waysOf(0)); got != nil {
		t.Errorf("without a whole command: got %+v, want nothing", got)
	}
}

// TestPhasesOfAStep: commands of a search's other steps, sent before its start or after its last answer, don't count.
func TestPhasesOfAStep(t *testing.T) {
	t.Parallel()
	all := newPhases(Result{Started: time.UnixMilli(1300), over: time.UnixMilli(1700)}) // one of waysOf is sent every 100 ms
	all.add(waysOf(10))
	if got := all.list(); len(got) != len(phaseNames) || got[0].N != 5 {
		t.Errorf("got %+v, want the phases of 5 commands", got)
	}
}

// pages are results of each kind, with the longest values that can occur in them.
func pages(t *testing.T) map[string]Result {
	out := map[string]Result{}
	synctest.Test(t, func(t *testing.T) {
		fail := goldenRun(t, "", "")
		fail.Phases = phasesOf(waysOf(20))
		fail.Plan.Description = strings.Repeat("a_description_without_a_blank", 20)
		fail.Guarantees = &Guarantees{Rows: judge.Ledger([]judge.Verdict{{Clause: "CMD-1", Status: judge.Fail, Checked: 3, Number: "1 of 3 broke it: cmd_1 actuated 2 times",
			FirstBad: &judge.Bad{Why: "cmd_1 actuated 2 times", Event: waysOf(1)[3], Timeline: waysOf(1)}}}, nil, judge.Basis{})}
		fail.Reasons = append(fail.Reasons, strings.Repeat("https://host.example/a_path_without_a_blank", 20))
		fail.Lab = newLab(labHistory(), labStart, fail.labSeconds())
		out["fail"] = fail
		target, o := bubble(newFake())
		pass := must.Get(Run(t.Context(), target, mustParse(t, "rate: 20\nduration: 2s"), o))(t)
		pass.Search = []Step{{Rate: 100, Verdict: Pass, P50: 20, P99: 60}, {Rate: 400, Verdict: Fail, P50: 300, P99: 900, Reasons: []string{"p99_reported is 900ms"}}, {Rate: 200, Verdict: Pass, P50: 30, P99: 90}}
		pass.Highest = 200
		out["pass"] = pass
		invalid := pass
		invalid.Verdict, invalid.Reasons, invalid.Search, invalid.Highest = Invalid, []string{"the generator lagged"}, nil, 0
		out["invalid"] = invalid
	})
	return out
}

// TestPageInBrowser: the page opens from disk, loads nothing, fits every screen and starts with what failed. A search
// shows its curve, and commands show their phases.
func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	results := pages(t)
	b := browser.Start(t)
	for name, res := range results {
		file := filepath.Join(t.TempDir(), name+".html")
		must.OK(t, os.WriteFile(file, []byte(res.HTML()), 0o600))
		for look, l := range map[string]browser.Look{"phone": {Width: 390, Height: 844, Mobile: true}, "dark phone": {Width: 390, Height: 844, Mobile: true, Dark: true},
			"desk": {Width: 1280, Height: 800}, "dark desk": {Width: 1280, Height: 800, Dark: true}} {
			p := b.Page(l)
			p.Open("file://" + file)
			var failures, top float64
			if wide := p.Wide(); wide != "" {
				t.Errorf("%s, %s: wider than the screen by %s", name, look, wide)
			}
			if faint := p.Faint(); len(faint) > 0 {
				t.Errorf("%s, %s: texts of too little contrast: %q", name, look, faint)
			}
			if p.Eval(`document.querySelectorAll(".failure").length`, &failures); int(failures) != len(res.Failures()) || (name == "pass") != (failures == 0) {
				t.Errorf("%s, %s: %v failures, want %d", name, look, failures, len(res.Failures()))
			}
			if p.Eval(`document.querySelector(".failure")?.getBoundingClientRect().top ?? 0`, &top); top > 900 {
				t.Errorf("%s, %s: the first failure starts %.0f px down, want at most 900", name, look, top)
			}
			var hidden []string
			p.Eval(`[...document.querySelectorAll("#figures td")].filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.textContent)`, &hidden)
			if len(hidden) > 0 {
				t.Errorf("%s, %s: figures out of sight: %q", name, look, hidden)
			}
			var crooked []string // charts that share the time axis must be aligned
			p.Eval(`(() => { const at = e => { const r = e.querySelector("svg").getBoundingClientRect(); return r.left + "-" + r.right },
				all = [...document.querySelectorAll("#course figure")]; return all.filter(e => at(e) != at(all[0])).map(e => e.id) })()`, &crooked)
			if len(crooked) > 0 {
				t.Errorf("%s, %s: %q don't share the axis of the others", name, look, crooked)
			}
			var plots []string
			p.Eval(`[...document.querySelectorAll("figure.plot, .fall svg")].map(e => e.id || "fall")`, &plots)
			for part, want := range map[string]bool{"rate": true, "latency": true, "distribution": true, "capacity": name == "pass", "fall": name == "fail",
				"openings": name == "fail", "faults": name == "fail", "boards": name == "fail"} {
				if strings.Contains(strings.Join(plots, " "), part) != want {
					t.Errorf("%s, %s: got plots %q, want %s: %v", name, look, plots, part, want)
				}
			}
			if said, asked := p.Console(), p.Requests(); len(said) > 0 || len(asked) != 1 {
				t.Errorf("%s, %s: console %q, requests %+v, want no word and only the file", name, look, said, asked)
			}
			if dir := os.Getenv("DOORLAB_PICTURES"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, "load-"+name+"-"+look+".png"), p.Picture(), 0o600); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestFormats: every format of a failed run shows the broken threshold and the broken guarantee, and result.json fits
// its schema.
func TestFormats(t *testing.T) {
	t.Parallel()
	dir, res := t.TempDir(), pages(t)["fail"]
	must.OK(t, res.Write(dir))
	for name, want := range map[string][]string{
		"junit.xml":   {`<testsuite name="evening"`, "threshold p99_reported 50ms", "<failure", "CMD-1 200 only"},
		"report.tap":  {"not ok", "threshold p99_reported 50ms", "CMD-1 200 only"},
		"summary.md":  {"p99_reported", "BROKEN", "CMD-1 200 only", "cmd_1 actuated 2 times"},
		"report.txt":  {"p99_reported", "BROKEN", "CMD-1", "actuated: until the relay moved"},
		"report.html": {"p99_reported", "BROKEN", "CMD-1", "Some of the requests", "offline from 1.1 s to 3.1 s, on the lines of 1 board"},
	} {
		raw := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		for _, w := range want {
			if !strings.Contains(string(raw), w) {
				t.Errorf("%s lacks %q:\n%.600s", name, w, raw)
			}
		}
	}
	raw := must.Get(Schema())(t)
	doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(t)
	c := jsonschema.NewCompiler()
	must.OK(t, c.AddResource("load.json", doc))
	schema := must.Get(c.Compile("load.json"))(t)
	text := must.Get(os.ReadFile(filepath.Join(dir, "result.json")))(t)
	var v map[string]any
	must.OK(t, json.Unmarshal(text, &v))
	if err := schema.Validate(v); err != nil {
		t.Error(err)
	}
	if v["schema"] = "other"; schema.Validate(v) == nil {
		t.Error("the schema takes another version")
	}
}

func phasesOf(events []history.Event) []Phase {
	all := newPhases(Result{})
	all.add(events)
	return all.list()
}
