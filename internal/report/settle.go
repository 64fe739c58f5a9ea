package report

import (
	"slices"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// Settle runs the checkers over a history, world by world, and derives ledger and status.
func (res *Result) Settle(events []history.Event) {
	s := settlingOf(res)
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
	res    *Result
	names  []string
	shared []bool // on a target that others may have used, too
}

// settlingOf begins to judge a result, whatever an earlier judgement made of it.
func settlingOf(res *Result) settling {
	res.Unordered, res.Foreign, res.played, res.told, res.byWorld, res.alone = 0, judge.Foreign{}, false, false, nil, nil
	return settling{res: res}
}

func (s *settling) world(name string, events []history.Event) {
	res, view := s.res, judge.NewView(events)
	res.byWorld, s.names = append(res.byWorld, judge.Judge(view)), append(s.names, name)
	s.shared = append(s.shared, slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Begun }))
	res.Unordered += view.Unordered()
	foreign := view.Foreign()
	if res.Foreign = both(res.Foreign, foreign); foreign.String() != "" {
		res.Note("%s", foreign)
	}
	if alone := alone(res.Files, events); alone != nil { // only a run with one world has them
		res.alone = alone
	}
	res.played, res.told = res.played || len(events) > 0, res.told || judge.Told(events)
}

func (s *settling) done() {
	res := s.res
	res.Notes = slices.DeleteFunc(res.Notes, history.AboutClocks) // from an earlier judgement
	if told := res.Clocks.Told(res.Unordered); told != "" {
		res.Note("%s", told)
	}
	all := judge.Combine(res.byWorld...)
	res.where = map[string]string{}
	for _, v := range all {
		for i, world := range res.byWorld {
			if v.FirstBad != nil && slices.ContainsFunc(world, func(w judge.Verdict) bool { return w.FirstBad == v.FirstBad }) {
				res.where[v.Clause] = s.names[i]
			}
		}
	}
	res.accuse(res.byWorld, s.names, s.shared)
	res.settle(all)
}
