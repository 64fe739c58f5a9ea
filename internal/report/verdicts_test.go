package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// TestChangedVerdictsAreRefused: a verdicts.json with another version or other content isn't judged, and a FAIL in it
// stays one in a merge. Other formatting, or no digest, as earlier builds wrote it, changes nothing.
func TestChangedVerdictsAreRefused(t *testing.T) {
	t.Parallel()
	swap := func(old, new string) func([]byte) []byte {
		return func(raw []byte) []byte {
			if !bytes.Contains(raw, []byte(old)) {
				t.Errorf("verdicts.json lacks %s, which is to be changed", old)
			}
			return bytes.Replace(raw, []byte(old), []byte(new), 1)
		}
	}
	without := func(field string) func([]byte) []byte {
		return func(raw []byte) []byte {
			var all map[string]any
			must.OK(t, json.Unmarshal(raw, &all))
			delete(all, field)
			return must.Get(json.Marshal(all))(t)
		}
	}
	for name, c := range map[string]struct {
		change func([]byte) []byte
		want   string // "" = it is judged
	}{
		"as written":         {func(raw []byte) []byte { return raw }, ""},
		"formatted":          {func(raw []byte) []byte { b := bytes.Buffer{}; must.OK(t, json.Compact(&b, raw)); return b.Bytes() }, ""},
		"no digest":          {without("digest"), "has no digest, which every run with a history has"},
		"a later version":    {swap(`"schema": 1`, `"schema": 2`), "has schema 2, but this doorlab reads schema 1"},
		"no version":         {without("schema"), "has schema 0, but this doorlab reads schema 1"},
		"a status":           {swap(`"status": "FAIL"`, `"status": "PASS"`), "was changed after the run"},
		"a field":            {without("seed"), "was changed after the run"},
		"a field of its own": {swap(`"schema": 1,`, `"schema": 1, "extra": true,`), "was changed after the run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			must.OK(t, report.WriteDir(dir, sample()))
			path := filepath.Join(dir, "verdicts.json")
			must.OK(t, os.WriteFile(path, c.change(must.Get(os.ReadFile(path))(t)), 0o600))
			res, err := report.Judge(dir)
			switch {
			case c.want == "" && (err != nil || res.Status != judge.Fail):
				t.Errorf("got %s, %v, want FAIL as before", res.Status, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), path+" "+c.want)):
				t.Errorf("got %v, want that it %s", err, c.want)
			}
			if m := report.Merge(dir); c.want != "" && name != "a status" && m.Status != judge.Fail {
				t.Errorf("merged: %s, want FAIL", m.Status)
			}
		})
	}
}

// TestNothingPlayedIsNoPass: a run without scenarios shows nothing, and says so without empty brackets.
func TestNothingPlayedIsNoPass(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	res := report.Result{Seed: 3}
	res.Settle(nil)
	must.OK(t, report.WriteDir(dir, res))
	again := must.Get(report.Judge(dir))(t)
	line := report.Line(again)
	if again.ExitCode() != 6 || !strings.HasPrefix(line, "SKIPPED · 0 scenarios · ") || !strings.HasSuffix(line, "\nthe run has no scenarios, so nothing was tested") {
		t.Errorf("exit %d, %s\nwant 6, SKIPPED, and that it has no scenarios", again.ExitCode(), line)
	}
	for name := range writers {
		if text := string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t)); strings.Contains(text, "scenarios ()") {
			t.Errorf("%s has empty brackets", name)
		}
	}
	if line := report.Line(report.Result{Status: judge.Blocked, Unreached: true}); strings.Contains(line, "guarantees") {
		t.Errorf("got %q of a target that nobody reached, want nothing about guarantees", line)
	}
	if merged := report.Line(report.Merge(filepath.Join(dir, "nowhere"))); !strings.HasPrefix(merged, "INVALID · 0 scenarios · ") {
		t.Errorf("a merge of nothing: %s, want INVALID without brackets", merged)
	}
}

// TestFieldsAreDocumented: the table in docs/reports.md has every field of a result, of its files and of their steps.
func TestFieldsAreDocumented(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(string(must.Get(os.ReadFile("../../docs/reports.md"))(t)), "## verdicts.json")
	told := map[string]bool{}
	for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(text, -1) {
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(quoted, -1) {
			told[word] = true
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[report.Result](), reflect.TypeFor[report.FileResult](), reflect.TypeFor[report.Step](),
		reflect.TypeFor[report.Shard](), reflect.TypeFor[judge.Row]()} {
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" && name != "-" && !told[name] {
				t.Errorf("docs/reports.md doesn't tell the field %s of %s", name, of)
			}
		}
	}
}
