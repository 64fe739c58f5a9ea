package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestAge: a day passes, and its run directory can be judged again.
func TestAge(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	code, out, errs := runQuietly(t.Context(), "age", "--for", "1d", "--boards", "2", "--seed", "5", "--out", dir)
	if code != codeOK || !strings.Contains(out, "CMD-1 ") || !strings.Contains(errs, "run directory: "+dir) {
		t.Fatalf("got exit %d, want 0 and the guarantees\n%s%s", code, out, errs)
	}
	if !strings.Contains(out, "PASS · 1 part (1 pass)") || strings.Contains(out, "scenario") || strings.Contains(out, "has only") {
		t.Errorf("got\n%s\nwant what was judged counted as parts, not as scenarios, and no word of parts without a history: there is one", out)
	}
	if code, out, errs := runQuietly(t.Context(), "judge", dir); code != codeOK || !strings.Contains(out, "PASS") {
		t.Errorf("judged again: got exit %d, want 0\n%s%s", code, out, errs)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "report.html")); err != nil || len(raw) == 0 {
		t.Errorf("report.html: %d bytes, %v", len(raw), err)
	}
}

// TestAgeThatCannotStart: it says why, as any command that can't start, and judges nothing.
func TestAgeThatCannotStart(t *testing.T) {
	t.Parallel()
	data, dir := filepath.Join(t.TempDir(), "a file"), filepath.Join(t.TempDir(), "run")
	must.OK(t, os.WriteFile(data, nil, 0o600))
	code, out, errs := runQuietly(t.Context(), "age", "--for", "1d", "--boards", "2", "--data", data, "--out", dir)
	if code != codeFailure || out != "" || !strings.Contains(errs, data) {
		t.Errorf("got exit %d, want %d and what is wrong with %s\n%s%s", code, codeFailure, data, out, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "verdicts.json")); err == nil {
		t.Error("there are verdicts of a run that never began")
	}
}

func TestAgeFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--boards 0":            "--boards",
		"--doors 17":            "--doors",
		"--entries -1":          "--entries",
		"--boards 2 --worlds 3": "--worlds 3: must be 0 to 2",
		"--seed 0":              "--seed",
		"--for 1h":              "at least 6h",
		"--for soon":            "must be a duration such as 36h, 10d, 2w or 1y",
		"--for xd":              "must be a number of days, weeks or years",
		"--start tomorrow":      "must be a day like 2027-01-01",
		"--start 1969-12-31":    "must be in the years 1971 to 9990",
		"--start 0001-01-01":    "must be in the years 1971 to 9990",
		"--start 9990-12-30":    "must be in the years 1971 to 9990",
		"--retention keys=9":    "records",
		"now":                   "no arguments",
	} {
		if code, _, errs := runQuietly(t.Context(), append([]string{"age"}, strings.Fields(args)...)...); code != codeUsage || !strings.Contains(errs, want) {
			t.Errorf("age %s: got exit %d and %q, want %d and %q", args, code, errs, codeUsage, want)
		}
	}
	for text, want := range map[string]time.Duration{"36h": 36 * time.Hour, "10d": 10 * day, "2w": 14 * day, "1y": 365 * day, "0.5y": 365 * day / 2} {
		var s span
		if err := s.Set(text); err != nil || time.Duration(s) != want {
			t.Errorf("%s: got %s, %v, want %s", text, time.Duration(s), err, want)
		}
	}
}

// TestInterruptedAge: an interrupted run leaves its report.
func TestInterruptedAge(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "run")
	code, _, errs := runQuietly(ctx, "age", "--boards", "2", "--out", dir)
	if code != codeInterrupted || !strings.Contains(errs, "interrupted; the results so far are in "+dir) {
		t.Errorf("got exit %d and %q, want %d and where the report is", code, errs, codeInterrupted)
	}
	if _, err := os.Stat(filepath.Join(dir, "verdicts.json")); err != nil {
		t.Error(err)
	}
}
