package loadtest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestProofTime: an interruption, before or during it, leaves judging a few seconds.
func TestProofTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{0, time.Minute} {
			run, interrupt := context.WithTimeout(t.Context(), after)
			defer interrupt()
			began := time.Now()
			proving, done := proofTime(run, 1000)
			defer done()
			<-proving.Done()
			if took := time.Since(began); took != after+cutAfter || !errors.Is(cutOff(proving), errCut) {
				t.Errorf("interrupted after %s: ended after %s with %v; want 3 s later, %v", after, took, context.Cause(proving), errCut)
			}
		}
	})
}

// TestResultsBeforeTheProof: what was measured is on disk before the history is read, marked as not judged, and stays there if an
// interruption cuts the reading off.
func TestResultsBeforeTheProof(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var before Result
	proving, cut := context.WithCancelCause(t.Context())
	lab := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/lab/v1/history" {
			before, _ = ReadResult(dir)
			cut(errCut)
		}
		http.Error(w, "no", http.StatusInternalServerError)
	}))
	defer lab.Close()
	target, o := bubble(newFake())
	target.Control, o.Judge, o.OutDir = []string{lab.URL}, true, dir
	res := must.Get(Run(t.Context(), target, mustParse(t, "rate: 10\nduration: 200ms"), o))(t)
	if before.Verdict != Invalid || before.Sent != 2 || len(before.Doubts) == 0 {
		t.Errorf("before: %s, %d sent, %q; want INVALID, 2, not judged", before.Verdict, before.Sent, before.Doubts)
	}
	if after := must.Get(ReadResult(dir))(t); after.Verdict != res.Verdict || after.Guarantees.NotJudged != res.Guarantees.NotJudged {
		t.Errorf("after: %s %q, want what was returned: %s %q", after.Verdict, after.Guarantees.NotJudged, res.Verdict, res.Guarantees.NotJudged)
	}
	got := Result{Verdict: Pass}
	r := &runner{opts: Options{OutDir: dir}}
	must.OK(t, r.prove(proving, target, o.newLog(), &got))
	if got.Verdict != Invalid || got.Guarantees.NotJudged != "not judged: interrupted" {
		t.Errorf("cut off: %s, %+v; want INVALID, not judged: interrupted", got.Verdict, got.Guarantees)
	}
}
