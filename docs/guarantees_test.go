package docs_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// TestDocsClauses: the README lists the clauses; guarantees.md says where each one is decided, what judges it and
// which scenarios exercise it.
func TestDocsClauses(t *testing.T) {
	var table strings.Builder
	table.WriteString("| clause | guarantee |\n|---|---|\n")
	for _, c := range judge.Clauses() {
		fmt.Fprintf(&table, "| %s | %s |\n", c, judge.Promise(c))
	}
	hold(t, "../README.md", "clauses", table.String())

	var product, tests []string
	for _, f := range goFiles(t, "server", "boardsim", "internal", "testbed") {
		switch {
		case strings.HasPrefix(f, "internal/judge/"), strings.Contains(f, "/gen/"):
		case strings.HasSuffix(f, "_test.go"):
			tests = append(tests, f)
		default:
			product = append(product, f)
		}
	}
	var checkers []string
	for _, f := range goFiles(t, "internal/judge") {
		if !strings.HasSuffix(f, "_test.go") {
			checkers = append(checkers, f)
		}
	}
	onCode(t, append(slices.Clone(product), checkers...))
	decided, judged, tested, played := tagged(t, product), tagged(t, checkers), tagged(t, tests), scenariosOf(t)
	var page strings.Builder
	for _, c := range judge.Clauses() {
		fmt.Fprintf(&page, "### %s: %s\n\n", c, judge.Promise(c))
		if len(decided[c]) == 0 {
			t.Errorf("no line of the product carries the tag [%s]; the line that decides it should", c)
		}
		if len(judged[c]) == 0 || len(played[c]) == 0 {
			t.Errorf("%s has %d tagged lines in checkers and %d scenarios, want at least one of each", c, len(judged[c]), len(played[c]))
		}
		for _, part := range []struct {
			name string
			refs []string
		}{
			{"Decided in", decided[c]},
			{"Judged by", judged[c]},
			{"Scenarios", played[c]},
			{"Tests with the tag", tested[c]},
		} {
			words := strings.Fields("- " + part.name + ":")
			for i, ref := range part.refs {
				words = append(words, "`"+ref+"`"+strings.Repeat(",", min(1, len(part.refs)-1-i)))
			}
			if len(part.refs) == 0 {
				continue
			}
			page.WriteString(wrap(words, "  ") + "\n")
		}
		page.WriteString("\n")
	}
	hold(t, "guarantees.md", "by clause", page.String())
}

// onCode checks that a tag follows code, because it marks the line that decides. A comment on a line of its own says
// "see CMD-5" instead.
func onCode(t *testing.T, files []string) {
	t.Helper()
	for _, f := range files {
		text := must.Get(os.ReadFile(filepath.Join("..", f)))(t)
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "//") && tag.MatchString(line) {
				t.Errorf("%s:%d: got a tag in a comment of its own, want it on the line that decides and \"see %s\" here", f, i+1, tag.FindStringSubmatch(line)[1])
			}
		}
	}
}

// scenariosOf maps each clause to the built-in scenarios that name it.
func scenariosOf(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d scenarios (%v), want some", len(files), err)
	}
	out := map[string][]string{}
	for _, f := range files {
		text := must.Get(os.ReadFile(f))(t)
		name := "scenarios/" + path.Base(filepath.ToSlash(f))
		for _, c := range clausesOf(string(text)) {
			if !slices.Contains(out[c], name) {
				out[c] = append(out[c], name)
			}
		}
	}
	return out
}

// clausesOf returns the clauses that a scenario names, for the whole file or at a step.
func clausesOf(text string) (out []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if _, list, ok := strings.Cut(line, "clauses:"); ok {
			out = append(out, clause.FindAllString(list, -1)...)
		}
	}
	return out
}
