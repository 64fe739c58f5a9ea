package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// changer changes everything that a file can, and leaves it so.
const changer = `
name: changes everything
setup:
  - cohort: {name: one, boards: 1}
steps:
  - place: {place: one, set: {timezone: Europe/Berlin, phoneEnabled: false, closures: [{from: "2030-01-01", to: "2030-01-02", name: Refit}], holidays: [{date: "2030-02-03", name: Feast}]}}
  - hours: {place: one, week: {mon: [["09:00", "10:00"]]}}
  - door: {doors: one, set: {entry: false, entryPermitMaxHours: 5}}
  - policy: {doors: one, ref: always, mode: free}
  - netloss: {boards: one, graceSec: 60, channels: {all: hold}}
  - key: {name: extra, place: one}
  - permit: {person: ann, place: one, doors: one, to: now+3h}
  - membership: {person: ben, place: one, doors: one}
  - reservation: {person: cho, place: one, doors: one}
  - command: {door: one, command: hold, minutes: 0, outcome: reported}
  - fault: {fault: slow, of: one, params: {p50Ms: 10, p99Ms: 20}, hits: 0}
  - clock: freeze
`

// follower only passes where nothing of that is left.
const follower = `
name: finds nothing changed
setup:
  - cohort: {name: one, boards: 1}
steps:
  - {permit: {person: ann, place: one, to: now+100h}, clauses: [PERM-5]}
  - {phone: {person: ann, place: one, answered: true, result: opened}, clauses: [PERM-1]}
  - {synced: {of: one}}
  - {present: {person: ann, door: one, result: opened, reason: onsite}, clauses: [ENT-1]}
  - {command: {door: one, outcome: reported}, clauses: [CMD-1]}
`

// sharedLab is a lab that others use, too.
type sharedLab struct {
	t     *testing.T
	tb    *testbed.Testbed
	lab   client.Client
	dir   string
	place client.Place
}

func newSharedLab(t *testing.T) *sharedLab {
	t.Helper()
	tb, err := testbed.Start(t.Context(), testbed.Config{World: world.Default(1, 4), DataDir: t.TempDir(), Virtual: true, Fleet: true, OnDemand: true, Recorded: true,
		HTTP: "127.0.0.1:0", MQTT: "127.0.0.1:0", Control: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tb.Stop() })
	l := &sharedLab{t: t, tb: tb, lab: client.Client{Base: tb.Ready.Control, Token: tb.Ready.ControlToken}, dir: t.TempDir()}
	for _, p := range tb.Ready.Places {
		if p.Kind == world.Live {
			l.place = p
			break
		}
	}
	for name, text := range map[string]string{"a_changer.yaml": changer, "b_follower.yaml": follower} {
		must.OK(t, os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600))
	}
	return l
}

// check plays both files against the lab.
func (l *sharedLab) check(name string, more ...string) report.Result {
	l.t.Helper()
	out := filepath.Join(l.dir, name)
	args := append([]string{"check", filepath.Join(l.dir, "a_changer.yaml"), filepath.Join(l.dir, "b_follower.yaml"), "--out", out,
		"--target", l.tb.Ready.HTTP, "--control", l.tb.Ready.Control, "--control-token", l.tb.Ready.ControlToken}, more...)
	code, stdout, stderr := runQuietly(l.t.Context(), args...)
	if code != codeOK {
		l.t.Errorf("%s: exit %d, want 0\n%s\n%s", name, code, stdout, stderr)
	}
	res := must.Get(report.Judge(out))(l.t)
	return res
}

// others do something with the control API, beside the runs.
func (l *sharedLab) others(path string, body any) {
	l.t.Helper()
	clienttest.Do(l.t, l.lab, http.MethodPost, path, body, nil)
}

func (l *sharedLab) read(path string, into any) {
	l.t.Helper()
	clienttest.Do(l.t, l.lab, http.MethodGet, path, nil, into)
}

// found is what a run may not leave changed.
func (l *sharedLab) found() map[string]any {
	l.t.Helper()
	out := map[string]any{}
	api := must.Get(client.Client{Base: l.tb.Ready.HTTP}.SignIn(l.t.Context(), *l.place.APIKey))(l.t)
	get := func(c client.Client, path string) any {
		var v any
		clienttest.Do(l.t, c, http.MethodGet, path, nil, &v)
		out[path] = v
		return v
	}
	place := get(l.lab, "/lab/v1/places/"+l.place.PlaceID).(map[string]any)
	for _, d := range place["doors"].([]any) {
		id := d.(map[string]any)["doorId"].(string)
		get(api, "/device/v1/doors/"+id+"/policies")
		device := get(api, "/device/v1/devices/"+id).(map[string]any)
		out["/device/v1/devices/"+id] = device["standing"].(map[string]any)["doorState"]
	}
	for _, b := range get(l.lab, "/lab/v1/boards?placeId="+l.place.PlaceID).([]any) {
		get(api, "/device/v1/boards/"+b.(map[string]any)["boardId"].(string)+"/netloss")
	}
	delete(out, "/lab/v1/boards?placeId="+l.place.PlaceID)
	get(l.lab, "/lab/v1/faults")
	clock := get(l.lab, "/lab/v1/clock").(map[string]any)
	out["/lab/v1/clock"] = clock["state"]
	return out
}

func statuses(res report.Result) map[string]judge.Status {
	out := map[string]judge.Status{}
	for _, r := range res.Ledger {
		if out[r.Clause] = r.Status; r.Status == judge.Skipped && r.Judged > 0 { // which situations arise depends on the order
			out[r.Clause] = judge.Pass
		}
	}
	for _, f := range res.Files {
		out[f.Name] = f.Status
	}
	return out
}

// TestRunsOnASharedTarget: runs after one another, in another order, and beside
// somebody else's traffic have the same verdicts, and leave the target as they
// found it.
func TestRunsOnASharedTarget(t *testing.T) {
	t.Parallel()
	l := newSharedLab(t)
	before := l.found()
	l.others("/lab/v1/faults", map[string]any{"fault": "refuse", "placeId": l.place.PlaceID, "nth": 7, "for": "900000h"})
	l.others("/lab/v1/clock/freeze", nil)
	first := l.check("first")
	var armed []struct {
		Fault string
		Nth   int
		Count int
	}
	var clock struct{ State string }
	l.read("/lab/v1/faults", &armed)
	if l.read("/lab/v1/clock", &clock); len(armed) != 1 || armed[0].Fault != "refuse" || armed[0].Nth != 7 || armed[0].Count == 0 || clock.State != "frozen" {
		t.Errorf("after the run the clock is %s and these faults are armed: %+v; want it frozen, and somebody else's fault", clock.State, armed)
	}
	l.others("/lab/v1/faults/reset", nil)
	l.others("/lab/v1/clock/run", nil)
	if d := cmp.Diff(before, l.found(), ignoringVersions()); d != "" {
		t.Errorf("the run left the target changed (-before +after):\n%s", d)
	}
	if first.Foreign.String() != "" {
		t.Errorf("with nobody else there, the run names others: %s", first.Foreign)
	}
	want := statuses(first)
	if d := cmp.Diff(want, statuses(l.check("second"))); d != "" {
		t.Errorf("the second run (-first +second):\n%s", d)
	}
	if d := cmp.Diff(want, statuses(l.check("third", "--shuffle"))); d != "" {
		t.Errorf("the shuffled run (-first +third):\n%s", d)
	}
	stop := l.traffic()
	beside := l.check("beside")
	n := stop()
	if d := cmp.Diff(want, statuses(beside)); d != "" {
		t.Errorf("the run beside somebody else's traffic (-first +beside):\n%s", d)
	}
	if f := beside.Foreign; f.Commands == 0 || f.Commands > n || len(f.First) == 0 || !strings.Contains(report.Line(beside), "others used the target meanwhile") {
		t.Errorf("others gave %d commands, the report names %+v:\n%s", n, f, report.Line(beside))
	}
}

// ignoringVersions: a policy that is put back is a newer one.
func ignoringVersions() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		last, ok := p.Last().(cmp.MapIndex)
		return ok && (last.Key().String() == "version" || last.Key().String() == "appliedAt" || last.Key().String() == "policyId" || last.Key().String() == "createdAt")
	}, cmp.Ignore())
}

// traffic has somebody open doors of another place until stopped; it tells how
// many commands that were.
func (l *sharedLab) traffic() (stop func() int) {
	last := l.tb.Ready.Places[0]
	api := must.Get(client.Client{Base: l.tb.Ready.HTTP}.SignIn(l.t.Context(), *last.APIKey))(l.t)
	var doors []struct{ ID string }
	if err := api.Do(l.t.Context(), http.MethodGet, "/device/v1/devices", nil, &doors); err != nil || len(doors) == 0 {
		l.t.Fatalf("doors of %s: %v %v", last.PlaceID, doors, err)
	}
	ctx, cancel := context.WithCancel(l.t.Context())
	n := 0
	var done sync.WaitGroup
	done.Go(func() {
		for ; ctx.Err() == nil; n++ {
			if _, err := api.Open(ctx, doors[0].ID, fmt.Sprintf("others-%d", n)); err != nil && ctx.Err() == nil {
				l.t.Errorf("somebody else's command: %v", err)
				return
			}
		}
	})
	return func() int { cancel(); done.Wait(); return n }
}
