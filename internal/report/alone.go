package report

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// evidenceOf is what the checkers saw, clause by clause.
func evidenceOf(told bool, verdicts []judge.Verdict) evidence {
	e := evidence{told: told, counted: map[string]bool{}, untried: map[string][]string{}, cases: map[string][]judge.Occasion{}}
	for _, v := range verdicts {
		e.counted[v.Clause], e.untried[v.Clause], e.cases[v.Clause] = v.Checked+v.Real > 0, v.Untried, v.Occasions
	}
	return e
}

// FileLabel begins the text of the Label that marks where a file begins.
const FileLabel = "file "

// alone judges each file of a run in one world by what happened from its beginning to that of the next one. What another
// file did is no evidence for it. Only evidence is taken from these verdicts: a guarantee is judged over the whole run.
// nil for files with worlds of their own, or for one file.
func alone(files []FileResult, events []history.Event) map[int]evidence {
	starts := startsOf(files, events)
	if len(starts) < 2 {
		return nil
	}
	out := map[int]evidence{}
	var before history.Standing
	var own []history.Event // the exchanges of the run's own client, which uses a token in several files
	seen := 0
	for n, start := range starts {
		for _, e := range events[seen:start.event] {
			before.See(e)
			if ownExchange(&e) {
				own = append(own, e)
			}
		}
		seen = start.event
		end := len(events)
		if n+1 < len(starts) {
			end = starts[n+1].event
		}
		since := slices.Concat(own, events[start.event:end])
		view := judge.NewView(history.Since(events[start.event], [][]history.Event{before.Events()}, [][]history.Event{since}))
		out[start.file] = evidenceOf(judge.Told(events), judge.Judge(view))
	}
	return out
}

// start is where a file begins in a history.
type start struct{ file, event int }

// startsOf finds the files that were played in a world.
func startsOf(files []FileResult, events []history.Event) (out []start) {
	// without a beginning, the world is the run's own, and its whole history is the run's
	at := max(0, slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.Begun }))
	for i := range files {
		next := slices.IndexFunc(events[at:], func(e history.Event) bool {
			return e.Kind == history.Label && begins(e.Text, files[i].Path) && e.WallNs >= files[i].Started.UnixNano()
		})
		if next >= 0 {
			out = append(out, start{i, at + next})
			at += next + 1 // it isn't the beginning of the file's next play as well, which may have a world of its own
		}
	}
	return out
}

// begins reports whether a label marks where a file begins: by its name, with a number if another file has that name, too.
func begins(label, path string) bool {
	rest, named := strings.CutPrefix(label, FileLabel+stem(path))
	return named && (rest == "" || twin.MatchString(rest))
}

var twin = regexp.MustCompile(`^-[0-9a-f]{6}$`)

func ownExchange(e *history.Event) bool {
	if e.Kind != history.Call || e.Route != judge.ExchangeRoute {
		return false
	}
	var text history.CallText
	return json.Unmarshal([]byte(e.Text), &text) == nil && text.Own
}
