package engine

import (
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestPhoneCallsTheNumberOfNow: a place is called at the number that it has, not at the one that it had when the run began.
func TestPhoneCallsTheNumberOfNow(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.number = "0212340001"
	target := f.target()
	target.Places[0].EntryPhone = f.number
	res, out := playOn(t, target, `
setup: [{cohort: {name: one, boards: 1}}]
steps:
  - phone: {from: "01011112222", place: one, answered: true}
  - place: {place: one, set: {entryPhone: "0299990002"}}
  - phone: {from: "01011112222", place: one, answered: true}
  - phone: {from: "01011112222", place: one, to: "0212340001", answered: false}
  - {call: {path: /echo}, expect: data.n == 3}
`, Options{})
	if res.Files[0].Status != judge.Pass {
		t.Errorf("got %s, want PASS\n%s", res.Files[0].Status, out)
	}
}

// TestPhoneFromAnother: a caller's number that is written down takes the place of the person's, whose place is called.
func TestPhoneFromAnother(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.number = "0212340001"
	f.reasons = map[string]string{"01011112222": "not_started"}
	res, out := play(t, f, `
setup: [{permit: {person: ann, place: "\"plc_1\""}}]
steps:
  - phone: {person: ann, reason: no_valid_grant}
  - phone: {person: ann, from: "01011112222", reason: not_started}
  - {call: {path: /echo}, expect: data.n == 3}
`, Options{})
	if res.Files[0].Status != judge.Pass {
		t.Errorf("got %s, want PASS\n%s", res.Files[0].Status, out)
	}
}
