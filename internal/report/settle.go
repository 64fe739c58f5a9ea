package report

import (
	"slices"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// Settle runs the checkers over a history, world by world, and derives ledger and status.
func (res *Result) Settle(events []history.Event) {
	s := settling{res: res}
	for _, world := range worlds(events) {
		s.world("", world)
	}
	s.done()
	res.Events = events
}

// SettleVerdicts derives ledger and status from the verdicts on a run that was judged as it streamed; events are the
// part of its history that is kept.
func (res *Result) SettleVerdicts(events []history.Event, verdicts []judge.Verdict) {
	res.Events, res.played, res.told, res.byWorld = events, len(events) > 0, judge.Told(events), [][]judge.Verdict{verdicts}
	res.settle(verdicts)
}

// settling judges a history whose worlds arrive one after another, so that only one has to be in memory.
type settling struct {
	res       *Result
	verdicts  [][]judge.Verdict
	names     []string
	shared    []bool // on a target that others may have used, too
	unordered int
	foreign   judge.Foreign
	played    bool
	told      bool
	alone     map[int]evidence
}

func (s *settling) world(name string, events []history.Event) {
	view := judge.NewView(events)
	s.verdicts, s.names = append(s.verdicts, judge.Judge(view)), append(s.names, name)
	s.shared = append(s.shared, slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Begun }))
	s.unordered += view.Unordered()
	foreign := view.Foreign()
	if s.foreign = both(s.foreign, foreign); foreign.String() != "" {
		s.res.Note("%s", foreign)
	}
	if alone := alone(s.res.Files, events); alone != nil { // only a run with one world has them
		s.alone = alone
	}
	s.played, s.told = s.played || len(events) > 0, s.told || judge.Told(events)
}

func (s *settling) done() {
	res := s.res
	res.Unordered, res.Foreign, res.played, res.told, res.byWorld, res.alone = s.unordered, s.foreign, s.played, s.told, s.verdicts, s.alone
	res.Notes = slices.DeleteFunc(res.Notes, history.AboutClocks) // from an earlier judgement
	if told := res.Clocks.Told(res.Unordered); told != "" {
		res.Note("%s", told)
	}
	all := judge.Combine(s.verdicts...)
	res.where = map[string]string{}
	for _, v := range all {
		for i, world := range s.verdicts {
			if v.FirstBad != nil && slices.ContainsFunc(world, func(w judge.Verdict) bool { return w.FirstBad == v.FirstBad }) {
				res.where[v.Clause] = s.names[i]
			}
		}
	}
	res.accuse(s.verdicts, s.names, s.shared)
	res.settle(all)
}
