package loadtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// Judge judges the history of a kept run again. What was measured stays as it was written: only the guarantees, and the part
// of the verdict that depends on them, can change. Errors: those of ReadResult; a run whose guarantees were never judged; a
// history that isn't the one that was judged, or that has too many events of a shared target to be judged in parts.
func Judge(dir string) (res Result, err error) {
	if res, err = ReadResult(dir); err != nil {
		return res, err
	}
	g := res.Guarantees
	switch {
	case len(res.Shards) > 0:
		return res, errors.New("it is a merged result; 'doorlab merge' judges its shards together")
	case g == nil || g.History == nil:
		return res, errors.New("it has no history, because its guarantees were not judged")
	}
	division, err := history.NewDivision("")
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, division.Close()) }()
	var parts judge.Parts
	shared, err := divide(filepath.Join(dir, historyFile), *g.History, division, &parts)
	if err != nil {
		return res, err
	}
	if shared && g.History.Count > judgedAtOnce { // the places were written one after the other, what came before the run too
		return res, fmt.Errorf("its target was shared, and of such a history at most %s events can be judged again", amount.Number(judgedAtOnce))
	}
	if err := division.Groups(judgedAtOnce, func(lists [][]history.Event) error {
		if !shared {
			lists = [][]history.Event{history.Merge(lists...)} // groups were written one after the other
		}
		parts.Judge(lists[0])
		return nil
	}); err != nil {
		return res, err
	}
	res.again(&Guarantees{Basis: g.Basis, Clocks: g.Clocks, History: g.History, Foreign: parts.Foreign(), Unordered: parts.Unordered()}, parts.Verdicts())
	return res, nil
}

// divide reads a history that was judged, and reports whether its target was shared.
func divide(path string, want history.Summary, into *history.Division, parts *judge.Parts) (shared bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // only read
	into.Next()
	var failed error
	sum, err := history.Decode(file, func(e *history.Event) {
		shared = shared || e.Kind == history.Begun
		parts.See(e)
		if failed == nil {
			failed = into.Add(*e)
		}
	})
	switch {
	case err != nil:
		return shared, fmt.Errorf("%s: %w", path, err)
	case failed == nil && sum != want:
		return shared, fmt.Errorf("%s has %d events, SHA-256 %s; result.json was made from %d events, SHA-256 %s: this is not that run's history",
			path, sum.Count, sum.SHA256, want.Count, want.SHA256)
	}
	return shared, failed
}

// again replaces the guarantees, and decides the verdict as it would have been decided with these: first the doubts, which a
// broken limit on times can't overrule.
func (res *Result) again(g *Guarantees, verdicts []judge.Verdict) {
	measured := func(whys []string) []string { // without what was said of guarantees
		return slices.DeleteFunc(slices.Clone(whys), clauseFirst.MatchString)
	}
	doubts, was, reasons := measured(res.doubted()), res.Verdict, measured(res.Reasons)
	res.Guarantees, res.Verdict, res.Reasons, res.Doubts = g, Pass, nil, nil
	g.settle(verdicts)
	res.doubt(doubts...)
	for _, t := range res.Thresholds {
		if t.OK {
			continue
		}
		res.Reasons = append(res.Reasons, t.why())
		l, err := parseThreshold(t.Name[strings.LastIndex(t.Name, " ")+1:], t.Limit)
		if res.Verdict == Pass || err == nil && l.answers() && t.Value != none {
			res.Verdict = Fail
		}
	}
	res.judgeBreaches()
	res.judgeGuarantees()
	res.settleGone()
	if res.Verdict == Pass && len(reasons) > 0 { // of a search that was interrupted: the step that broke isn't the one that is kept
		res.Verdict, res.Reasons = was, reasons
	}
}
