package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/judge"
)

// Broken is a guarantee that a checker found broken in a file's world or, on a target that files share, while the file was
// played.
type Broken struct {
	Clause string `json:"clause"`
	Why    string `json:"why"`            // the checker's sentence
	Line   int    `json:"line,omitempty"` // of the step that was playing
}

// Played is what a file's steps made of it, whatever the checkers found.
type Played struct {
	Status judge.Status `json:"status"`
	Reason string       `json:"reason,omitempty"`
}

// own is the file's verdict by its steps alone.
func (f *FileResult) own() (judge.Status, string) {
	if f.Played != nil {
		return f.Played.Status, f.Played.Reason
	}
	return f.Status, f.Reason
}

// accuse makes a file FAIL in whose world a checker found a guarantee broken. Its steps may all have passed: the relays'
// journals know more than what was answered. What an earlier judgement found is forgotten. names are those of the worlds, ""
// for that of a whole run; shared: which of them began on a target that others use, too.
func (res *Result) accuse(worlds [][]judge.Verdict, names []string, shared []bool) {
	for i := range res.Files {
		f := &res.Files[i]
		f.Status, f.Reason = f.own()
		f.Broken, f.Played = nil, nil
	}
	for n, verdicts := range worlds {
		for _, v := range verdicts {
			if v.Status != judge.Fail {
				continue
			}
			found := res.blame(names[n], shared[n], v.Breaches)
			for i := range res.Files {
				if mine := found[i]; len(mine) > 0 {
					res.Files[i].broke(v, mine)
				}
			}
		}
	}
}

// blame says which file each breach belongs to, by its index: the only one of its world or, on a shared target, the one that
// was played or put away at the time. What somebody else's command broke there belongs to none, nor does what happened before
// the first file.
func (res *Result) blame(world string, shared bool, breaches []judge.Breach) map[int][]judge.Breach {
	out := map[int][]judge.Breach{}
	if i := res.onlyFile(world, shared); i >= 0 {
		out[i] = breaches
		return out
	}
	for _, b := range breaches {
		at, of := time.Unix(0, b.WallNs), -1
		for i, f := range res.Files {
			if len(f.Steps) > 0 && !f.Started.After(at) && (of < 0 || f.Started.After(res.Files[of].Started)) && (world == "" || f.world() == world) {
				of = i
			}
		}
		if of >= 0 && b.WallNs != 0 && !b.Others {
			out[of] = append(out[of], b)
		}
	}
	return out
}

// onlyFile is the index of the only file of a world that nobody else used, -1 if there isn't just one.
func (res *Result) onlyFile(world string, shared bool) int {
	mine := func(f FileResult) bool { return world == "" || f.world() == world }
	i := slices.IndexFunc(res.Files, mine)
	if shared || i < 0 || slices.ContainsFunc(res.Files[i+1:], mine) {
		return -1
	}
	return i
}

// broke adds a broken guarantee: mine are those of its breaches that belong to the file.
func (f *FileResult) broke(v judge.Verdict, mine []judge.Breach) {
	if f.Played == nil {
		f.Played = &Played{f.Status, f.Reason}
	}
	b := Broken{Clause: v.Clause, Why: v.Number}
	first := slices.MinFunc(mine, func(a, b judge.Breach) int { return cmp.Compare(a.WallNs, b.WallNs) })
	if len(mine) < len(v.Breaches) { // the sentence counts those of other files
		b.Why = fmt.Sprintf("broken %s while this file was played, first: %s", amount.Many(len(mine), "time"), first.Why)
	}
	if s := blamed(playing(f.Steps, time.Unix(0, first.WallNs)), v.Clause); s != nil {
		b.Line = s.Line
	}
	f.Broken = append(f.Broken, b)
	if f.Status != judge.Fail { // else a step says what is wrong
		f.Status, f.Reason = judge.Fail, b.Clause+": "+b.Why
	}
}
