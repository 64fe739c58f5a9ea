package loadtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// judged gives a result a judgement: so many commands, so many of them bad.
func judged(r Result, commands, bad int) Result {
	v := judge.Verdict{Clause: "CMD-1", Promise: judge.Promise("CMD-1"), Status: judge.Pass, Checked: commands, Number: amount.Number(commands) + " commands reported, one actuation each"}
	if bad > 0 {
		v.Status, v.Bad, v.FirstBad = judge.Fail, bad, &judge.Bad{Event: history.Event{Kind: history.Answer}, Why: "cmd_x reported without an actuation"}
		v.Number = v.FirstBad.Why
	}
	r.Guarantees = &Guarantees{}
	r.Guarantees.settle([]judge.Verdict{v})
	return r
}

// asRead is a result as merge reads it from a file, which shares nothing with the original.
func asRead(t *testing.T, r Result) (out Result) {
	t.Helper()
	must.OK(t, json.Unmarshal(must.Get(json.Marshal(r))(t), &out))
	return out
}

// TestShardsThatDontBelongTogether: every difference that keeps shards from being one load is rejected, and none
// hides a breach.
func TestShardsThatDontBelongTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		whole, shards := generators(t, 0)[0], generators(t, 4)
		for name, c := range map[string]struct {
			change        func(parts []Result) []Result
			verdict, want string
			code          int
		}{
			"all of them":        {func(p []Result) []Result { return p }, Pass, "", 0},
			"in any order":       {func(p []Result) []Result { slices.Reverse(p); return p }, Pass, "", 0},
			"one is left out":    {func(p []Result) []Result { return slices.Delete(p, 2, 3) }, Invalid, "shard 3/4 is missing", 6},
			"the same one twice": {func(p []Result) []Result { return append(p, p[1]) }, Invalid, "are both shard 2/4", 6},
			"a copy of one": {func(p []Result) []Result {
				p[1].dir, p[2].dir = "a", "b"
				c := p[1]
				c.dir = "copy"
				return append(p, c)
			}, Invalid, "a and copy are both shard 2/4, and the same run of it", 6},
			"one index twice": {func(p []Result) []Result { p[1].Shard.Index = 1; return p }, Invalid, "are both shard 1/4", 6},
			"a place in two": {func(p []Result) []Result {
				p[1].Shard.Places = append(p[1].Shard.Places, p[0].Shard.Places[0])
				return p
			}, Invalid, "is in shard 1/4 and in shard 2/4", 6},
			"of another number":   {func(p []Result) []Result { p[3].Shard.Of = 5; return p }, Invalid, "shard 1/4 is one of 4 shards, shard 4/5 one of 5", 6},
			"another world":       {func(p []Result) []Result { p[3].Shard.World = "other"; return p }, Invalid, "shard 1/4 and shard 4/4 are shards of different worlds", 6},
			"another seed":        {func(p []Result) []Result { p[3].Seed = 9; return p }, Invalid, "shard 1/4 has the seed 1, shard 4/4 the seed 9", 6},
			"another plan":        {func(p []Result) []Result { p[3].Plan.Rate = 99; return p }, Invalid, "shard 1/4 and shard 4/4 ran different plans", 6},
			"another version":     {func(p []Result) []Result { p[3].Version = "v2"; return p }, Invalid, "different versions: unknown with schema 1, v2 with schema 1", 6},
			"another schema":      {func(p []Result) []Result { p[3].Schema = 2; return p }, Invalid, "different versions", 6},
			"a whole run between": {func(p []Result) []Result { return append(p, whole) }, Fail, "4 of 5 parts are shards", 99},
			"a search":            {func(p []Result) []Result { p[0].Highest = 10; return p }, Invalid, "is a search", 6},
			"fewer than planned":  {func(p []Result) []Result { p[2].Planned--; return p }, Invalid, "the shards planned 999 requests, the plan has 1000", 6},
			"an invalid one": {func(p []Result) []Result {
				p[1].Verdict, p[1].Reasons = Invalid, []string{"the generator lagged"}
				return p
			}, Invalid, "shard 2/4: the generator lagged", 6},
			"one that sent nothing": {func(p []Result) []Result {
				p[1] = Result{Plan: p[1].Plan, Schema: p[1].Schema, Seed: p[1].Seed, Shard: p[1].Shard, Verdict: Invalid, Reasons: []string{"interrupted before its start"}}
				return p
			}, Invalid, "shard 2/4: interrupted before its start", 6},
			"a start 1.2 s later": {func(p []Result) []Result { p[3].Started = p[3].Started.Add(1200 * time.Millisecond); return p }, Invalid, "rate_min can't be judged: the generators started 1.2 s apart", 6},
			"a start 1.2 s later, without a threshold on the rate": {func(p []Result) []Result {
				for i := range p {
					p[i].Plan.Thresholds = nil
				}
				p[3].Started = p[3].Started.Add(1200 * time.Millisecond)
				return p
			}, Invalid, "the rate can't be judged: the generators started 1.2 s apart, more than 1 s; see --start-at", 6},
			"a start 0.9 s later":    {func(p []Result) []Result { p[3].Started = p[3].Started.Add(900 * time.Millisecond); return p }, Pass, "", 0},
			"a breach":               {func(p []Result) []Result { p[2] = judged(p[2], 7, 2); return p }, Fail, "CMD-1: 2 of 7 broke it: cmd_x reported without an actuation", 4},
			"a breach, and one lost": {func(p []Result) []Result { p[2] = judged(p[2], 7, 2); return p[1:] }, Fail, "CMD-1: 2 of 7 broke it", 4},
			"a broken contract":      {func(p []Result) []Result { p[2].Breaches, p[2].FirstBreach = 1, "no such field"; return p }, Fail, "no such field", 4},
		} {
			parts := c.change(each.Of(shards, func(r Result) Result { return asRead(t, r) }))
			for i := range parts {
				parts[i].Lab = &Lab{Seconds: []LabSecond{{Online: 1}}}
			}
			m := merge(parts, nil)
			if m.Seconds > 1e6 || len(m.Series) > 1e6 || len(m.Lab.Seconds) > 1e6 {
				t.Errorf("%s: %v s, %d and %d seconds in its series, want those of the run", name, m.Seconds, len(m.Series), len(m.Lab.Seconds))
			}
			if all := strings.Join(m.Reasons, "\n"); m.Verdict != c.verdict || !strings.Contains(all, c.want) || m.ExitCode() != c.code {
				t.Errorf("%s: %s, exit %d\n%s\nwant %s, exit %d, %q", name, m.Verdict, m.ExitCode(), all, c.verdict, c.code, c.want)
			}
		}
	})
}

// TestMergedReport: the shards' ledgers become one, and the page shows phases, shards and each shard's own verdict.
func TestMergedReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		var dirs []string
		for i, r := range generators(t, 2) {
			r = judged(r, 1200+i, 0)
			h := newHistogram()
			record(h, time.Duration(i+1)*10*time.Millisecond)
			r.Phases = []Phase{{Name: phaseNames[3].name, Who: phaseNames[3].who, N: 1, Latency: summarize(h)}}
			r.Thresholds[2].OK = i == 0 // p99_reported, broken in the second shard only
			dir := filepath.Join(root, r.Shard.String()[:1])
			must.OK(t, os.MkdirAll(dir, 0o755))
			must.OK(t, r.Write(dir))
			dirs = append(dirs, dir)
		}
		out := filepath.Join(root, "merged")
		m, err := MergeDirs(out, dirs...)
		if err != nil || m.Verdict != Pass {
			t.Fatalf("%v %s %q, want PASS", err, m.Verdict, m.Reasons)
		}
		if row := m.Guarantees.Rows[0]; row.Checked != 2401 || !strings.HasPrefix(row.Number, "2,401 commands reported") {
			t.Errorf("CMD-1 of %d: %s, want 2,401 commands", row.Checked, row.Number)
		}
		if len(m.Phases) != 1 || m.Phases[0].N != 2 || m.Phases[0].Max < 19 || m.Phases[0].P50 > 11 {
			t.Errorf("phases %+v, want one of 2 commands, 10 and 20 ms", m.Phases)
		}
		page, text := m.HTML(), m.Text()
		for _, want := range []string{"shard 2/2 by itself: p99_reported is", "published: until it went out", "2,401 commands", dirs[1]} {
			if !strings.Contains(page, want) || !strings.Contains(text, want) {
				t.Errorf("the page has %q: %v, the text: %v; want it in both", want, strings.Contains(page, want), strings.Contains(text, want))
			}
		}
		for _, id := range []string{`id="shards"`, `id="phases"`, `id="latency"`, `id="rate"`} {
			if !strings.Contains(page, id) {
				t.Errorf("the merged page lacks %s", id)
			}
		}
		nowhere := filepath.Join(root, "nowhere")
		if m, err = MergeDirs(out, append(dirs, nowhere)...); err != nil || m.Verdict != Invalid || !strings.Contains(strings.Join(m.Reasons, "\n"), nowhere+" can't be merged") || len(m.Shards) != 3 {
			t.Errorf("with a directory that isn't there: %v, %s, %q, want INVALID", err, m.Verdict, m.Reasons)
		}
		if m, err = MergeDirs(filepath.Join(root, "again"), out, dirs[0], dirs[1]); err != nil || m.Verdict != Invalid || !strings.Contains(m.Reasons[0], "is a merged result itself") {
			t.Errorf("with a merged result: %v, %s, %q, want INVALID", err, m.Verdict, m.Reasons)
		}
		broken := m
		broken.Verdict = Fail
		must.OK(t, broken.Write(out))
		if m, err = MergeDirs(filepath.Join(root, "again"), out, dirs[0], dirs[1]); err != nil || m.Verdict != Fail || m.ExitCode() != 4 {
			t.Errorf("with a merged result that failed for no known reason: %v, %s, exit %d, want FAIL, 4", err, m.Verdict, m.ExitCode())
		}
		broken.Thresholds = []Threshold{{Name: "errors", Limit: "0", Value: "1"}}
		must.OK(t, broken.Write(out))
		if m, err = MergeDirs(filepath.Join(root, "again"), out, dirs[0], dirs[1]); err != nil || m.Verdict != Fail || m.ExitCode() != 99 {
			t.Errorf("with a merged result that broke a threshold: %v, %s, exit %d, want FAIL, 99", err, m.Verdict, m.ExitCode())
		}
		if _, err = MergeDirs(out, nowhere); err == nil {
			t.Error("a merge of nothing passed, want an error")
		}
	})
}
