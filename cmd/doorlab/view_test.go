package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// TestSummaryThatCannotBeWritten: the verdict decides the exit code, and the failure is told. It decides only where the
// verdict has nothing to say.
func TestSummaryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx    context.Context
		status judge.Status
		want   int
	}{"failed": {t.Context(), judge.Fail, codeFailed}, "invalid": {t.Context(), judge.Invalid, codeInvalid}, "interrupted": {over, judge.Pass, codeInterrupted},
		"passed": {t.Context(), judge.Pass, codeFailure}} {
		var errs strings.Builder
		e := &env{out: io.Discard, err: &errs, getenv: func(string) string { return filepath.Join(t.TempDir(), "missing", "summary.md") }}
		err := printer{&view{quiet: true}, false}.finish(c.ctx, e, t.TempDir(), report.Result{Status: c.status})
		x, _ := errors.AsType[exit](err)
		if said := errs.String() + x.msg; x.code != c.want || !strings.Contains(said, "GITHUB_STEP_SUMMARY") {
			t.Errorf("%s: got exit %d and %q, want %d and what is wrong with GITHUB_STEP_SUMMARY", name, x.code, said, c.want)
		}
	}
}
