package loadtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/judge"
)

// unjudged is the value of a threshold that has none, because the generators didn't run together.
const unjudged = "not judged"

// unjudgedRate begins, after the threshold's name, the doubt that says why.
const unjudgedRate = " can't be judged: "

// generatorLimit ends the doubt about a search that the generator ended: it is about higher rates than the one whose figures
// are kept.
const generatorLimit = " the generator was the limit"

// aboutGuarantees is how a doubt that isn't about figures begins, in a merge after the name of the part.
var aboutGuarantees = regexp.MustCompile(`^((shard \d+/\d+|part \d+): )*([A-Z]+-\d+: |the guarantees are not judged|the history could not be read)`)

// unsound says why the figures don't describe the system: the doubts, without those about guarantees.
func (r Result) unsound() []string {
	return slices.DeleteFunc(slices.Clone(r.doubted()), aboutGuarantees.MatchString)
}

// notJudged says why a threshold was neither met nor broken, "" if it was. Figures that don't describe the system show nothing
// of it, however good they look, and how a target that is gone left requests unanswered isn't held against it.
func (r Result) notJudged(t Threshold) string {
	if !t.OK && r.Gone != "" && r.Verdict == Blocked {
		return r.Gone
	}
	doubts := slices.DeleteFunc(r.unsound(), func(why string) bool { return strings.HasSuffix(why, generatorLimit) })
	if !t.OK || t.Waits() || len(doubts) == 0 {
		return ""
	}
	if i := slices.IndexFunc(doubts, func(why string) bool { return strings.Contains(why, unjudgedRate) }); t.Value == unjudged && i >= 0 {
		return doubts[i]
	}
	return doubts[0]
}

// marked are the thresholds as result.json has them.
func (r Result) marked() []Threshold {
	out := slices.Clone(r.Thresholds)
	for i, t := range out {
		out[i].NotJudged = r.notJudged(t)
	}
	return out
}

// Told is a threshold's verdict in a word, and the reason of one that wasn't judged.
type Told struct{ Word, Why string }

// Said is the verdict on a threshold.
func (r Result) Said(t Threshold) Told {
	switch why := r.notJudged(t); {
	case t.Waits():
		return Told{"later", ""}
	case why != "":
		return Told{unjudged, why}
	case t.OK:
		return Told{"ok", ""}
	}
	return Told{"BROKEN", ""}
}

// status is the verdict on a threshold as a test case, and what it says.
func (r Result) status(t Threshold) (status judge.Status, why string) {
	switch told := r.Said(t); {
	case told.Why != "":
		return judge.Skipped, unjudged + ": " + told.Why
	case t.Waits():
		return judge.Skipped, t.Value
	case t.OK:
		return judge.Pass, t.Value
	}
	return judge.Fail, t.why()
}

// Shows is what a threshold shows about the target: nothing (INVALID), unless it was judged and answers could have broken it.
// Figures that don't describe the system accuse it only by what it answered.
func (r Result) Shows(t Threshold) (status judge.Status, why string) {
	switch status, why = r.status(t); {
	case status == judge.Skipped:
		return judge.Invalid, why
	case t.OK && t.Idle:
		return judge.Invalid, fmt.Sprintf("none of the %s requests sent could have broken it", amount.Number(r.Sent))
	case t.OK:
		return status, why
	}
	_, _, name := r.within(t.Name)
	l, err := parseThreshold(name, t.Limit)
	if doubts := r.unsound(); len(doubts) > 0 && (err != nil || !l.answers() || t.Value == none) {
		return judge.Invalid, doubts[0]
	}
	return status, why
}

// unjudgedWhy says under the table of thresholds why some weren't judged: once, as they share the reason.
func (r Result) unjudgedWhy() string {
	var whys []string
	for _, t := range r.Thresholds {
		if why := r.Said(t).Why; why != "" && !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
	}
	if len(whys) == 0 {
		return ""
	}
	return unjudged + ": " + strings.Join(whys, "; ")
}
