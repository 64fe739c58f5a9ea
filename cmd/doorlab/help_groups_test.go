package main

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestHelpGroupsManyFlags: the help of a command with many flags has each of them once, under a title that says what it is
// about; only --config and --help belong nowhere. A group names no flag that is gone.
func TestHelpGroupsManyFlags(t *testing.T) {
	t.Parallel()
	const many = 24
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)
	known := map[string]bool{}
	root := newRoot(&env{getenv: func(string) string { return "" }})
	for _, c := range root.Commands() {
		n := 0
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true; n++ })
		if groupsOf[c.Name()] == nil {
			if n > many {
				t.Errorf("%s has %d flags in one list: group them in help_groups.go", c.Name(), n)
			}
			continue
		}
		code, help, _ := runQuietly(context.Background(), c.Name(), "--help")
		_, help, _ = strings.Cut(help, "Usage:\n")
		var got, want []string
		for _, m := range flag.FindAllStringSubmatch(help, -1) {
			got = append(got, m[1])
		}
		c.InitDefaultHelpFlag()
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { want = append(want, f.Name) })
		slices.Sort(got)
		slices.Sort(want)
		if code != codeOK || !slices.Equal(got, want) {
			t.Errorf("%s --help: exit %d, got the flags\n%q, want\n%q", c.Name(), code, got, want)
		}
		_, rest, _ := strings.Cut(help, "Other flags:\n")
		if names := flag.FindAllString(rest, -1); len(names) != 2 || !strings.Contains(rest, "--config") || !strings.Contains(rest, "--help") {
			t.Errorf("%s --help: got %q under Other flags, want --config and --help only", c.Name(), names)
		}
	}
	for name, groups := range groupsOf {
		for _, g := range groups {
			for f := range strings.FieldsSeq(g.flags) {
				if !known[f] {
					t.Errorf("%s: the group %q names --%s, which no command has", name, g.title, f)
				}
			}
		}
	}
}

// TestFlagBeforeItsCommand: doorlab itself has no flags, so one that stands before the command is sent after it.
func TestFlagBeforeItsCommand(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{
		"--clock":  "doorlab: --clock stands before its command, write it after: doorlab up --clock ...\n",
		"--smoke":  "doorlab: --smoke stands before its command, write it after: doorlab check --smoke ...\n",
		"--xyzzy":  "doorlab: unknown flag --xyzzy ('doorlab --help' lists them)\n",
		"--verson": "doorlab: unknown flag --verson, did you mean --version? ('doorlab --help' lists them)\n",
	} {
		if code, _, errs := runQuietly(t.Context(), flag, "x"); code != codeUsage || errs != want {
			t.Errorf("%s: got exit %d and %q, want %d and %q", flag, code, errs, codeUsage, want)
		}
	}
}
