package engine

import "sync"

// send makes a request as often as asked for; without being asked, once.
func (r Repeat) send(x *frame, q request) (answers []*answer, err error) {
	together := max(1, x.count(r.Together, 1))
	for range max(1, x.count(r.Times, 1)) {
		got, errs := make([]*answer, together), make([]error, together)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i], errs[i] = x.run.do(x.ctx, q) })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		answers = append(answers, got...)
	}
	return answers, nil
}

// checked holds each answer against what was expected; the result is the summary.
func (e Answered) checked(x *frame, answers []*answer) (fields, error) {
	out := summary(answers)
	for _, a := range answers {
		if err := e.check(x, a, false); err != nil {
			return out, err
		}
	}
	return out, nil
}

// summary of several answers: the fields of the first, and what they have in common.
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
	out["answers"], out["same"], out["statuses"], out["fresh"] = list, same, statuses, fresh
	return out
}
