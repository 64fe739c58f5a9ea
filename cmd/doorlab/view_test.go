package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
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

// TestReportsThatCannotBeWritten: a run's verdict is told although its directory can't be written, and that decides the
// exit code only where the verdict has nothing to say.
func TestReportsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancel(t.Context())
	end()
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	for name, c := range map[string]struct {
		ctx    context.Context
		status judge.Status
		want   int
	}{"failed": {t.Context(), judge.Fail, codeFailed}, "interrupted": {over, judge.Pass, codeInterrupted}, "passed": {t.Context(), judge.Pass, codeFailure}} {
		var out, errs strings.Builder
		e := &env{out: &out, err: &errs, getenv: func(string) string { return "" }}
		err := printer{&view{}, false}.finish(c.ctx, e, filepath.Join(file, "run"), report.Result{Status: c.status})
		x, _ := errors.AsType[exit](err)
		said := errs.String() + x.msg
		if x.code != c.want || !strings.Contains(said, "--out: ") || !strings.Contains(out.String(), string(c.status)+" · ") || strings.Contains(said, "run directory") || strings.Contains(said, "so far are in") {
			t.Errorf("%s: got exit %d, %q and %q, want %d, the verdict and what is wrong with --out", name, x.code, out.String(), said, c.want)
		}
	}
}

// TestQuietLoad: --quiet leaves one line on stdout and nothing on stderr, whatever a load starts by itself.
func TestQuietLoad(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "few.yaml")
	must.OK(t, os.WriteFile(plan, []byte("rate: 20\nduration: 500ms\nmaxLag: 10s\n"), 0o600))
	code, out, errs := runQuietly(t.Context(), "load", plan, "--boards", "2", "--quiet", "--out", filepath.Join(t.TempDir(), "run"))
	if code != codeOK && code != codeInvalid || errs != "" || strings.Count(out, "\n") != 1 { // INVALID: a machine too busy to send in time
		t.Errorf("got exit %d, stdout\n%s\nstderr\n%s\nwant one line", code, out, errs)
	}
}
