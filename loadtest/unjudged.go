package loadtest

import (
	"regexp"
	"slices"
	"strings"

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
