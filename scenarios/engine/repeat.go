package engine

import (
	"cmp"
	"slices"
	"sync"

	"github.com/google/uuid"
)

func (r Repeat) often() Repeat { return r }

// send makes a request as often as specified, by default once. apart: each with an Idempotency-Key of its own.
func (r Repeat) send(x *frame, q request, apart bool) (answers []*answer, err error) {
	together := x.upTo(mostTogether, r.Together)
	for range x.upTo(mostTimes, r.Times) {
		got, errs := make([]*answer, together), make([]error, together)
		var wg sync.WaitGroup
		for i := range got {
			if apart {
				q.keyName = uuid.NewString()
			}
			one := q
			wg.Go(func() { got[i], errs[i] = x.run.do(x.ctx, one) })
		}
		wg.Wait()
		if err := cmp.Or(errs...); err != nil {
			return nil, err
		}
		answers = append(answers, got...)
	}
	return answers, nil
}

// checked checks each answer against the expectations; the result is the summary.
func (e Answered) checked(x *frame, answers []*answer) (fields, error) {
	out := summary(answers)
	for _, a := range answers {
		if err := e.check(x, a, false); err != nil {
			return out, err
		}
	}
	return out, nil
}

// shared asks for the same several times over, of people, boards or doors; the result is the last answer.
// An expectation about the status looks at that one only, so the others must have ended in the same way.
func (e Answered) shared(x *frame, workers, n int, ask func(i int) *answer) (fields, error) {
	answers := make([]*answer, n)
	err := atOnce(workers, n, func(i int) error {
		answers[i] = ask(i)
		return e.check(x, answers[i], false)
	})
	answers = slices.DeleteFunc(answers, func(a *answer) bool { return a == nil })
	if len(answers) == 0 {
		return nil, err
	}
	last := answers[len(answers)-1]
	i := slices.IndexFunc(answers, func(a *answer) bool { return a.Status != last.Status || a.text("error") != last.text("error") })
	if err == nil && i >= 0 && len(e.Status) == 0 && !e.Error.set() && x.step.saysStatus() {
		err = failed("an expectation is about the status, and the %d answers differ: one is %s, another %s; say in status which are allowed", len(answers), answers[i].short(), last.short())
	}
	return last.fields(), err
}

// summary summarizes several answers: the fields of the first, and what they have in common.
func summary(answers []*answer) fields {
	out := answers[0].fields()
	out["outcome"], _, out["code"] = outcomeOf(answers[0])
	same, fresh := true, 0
	var list, statuses []any
	for _, a := range answers {
		same = same && a.Status == answers[0].Status && string(a.Raw) == string(answers[0].Raw)
		if a.Headers["Idempotent-Replayed"] != "true" {
			fresh++
		}
		list = append(list, a.fields())
		statuses = append(statuses, a.Status)
	}
	out["answers"], out["statuses"], out["fresh"] = list, statuses, fresh
	if out["same"] = nil; len(answers) > 1 { // one answer is always the same as itself
		out["same"] = same
	}
	return out
}
