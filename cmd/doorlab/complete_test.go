package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestCompletions: what the shell offers for each kind of name.
func TestCompletions(t *testing.T) {
	t.Parallel()
	tb, w, run := byHand(t)
	board, place := w.Places[1].Boards[0].ID, tb.Ready.Places[1]
	for line, want := range map[string]string{
		"fault add off":                   "offline",
		"fault add offline ":              "",
		"check outage_3":                  "outage_36h",
		"check list outage_3":             "outage_36h",
		"load door-":                      "door-commands",
		"check --clause OFF-":             "OFF-2",
		"check --require-clause al":       "all",
		"up --clock v":                    "virtual",
		"why --link mem":                  "",
		"board show brd_":                 board,
		"board list --place plc_":         place.PlaceID,
		"place show " + place.Name[:2]:    place.Name,
		"keys create --place " + "plc_":   place.PlaceID,
		"keys create --scope device":      "device:door",
		"fault add refuse --command o":    "open",
		"fault remove ":                   "",
		"board rotate " + board + " brd_": "",
	} {
		args := strings.Split(line, " ")
		out, _ := run(codeOK, append([]string{"__complete"}, args...)...)
		offered := strings.Split(out, "\n")
		typed := args[len(args)-1]
		found := slices.ContainsFunc(offered, func(l string) bool { name, _, _ := strings.Cut(l, "\t"); return name == want })
		if want == "" {
			found = strings.HasPrefix(out, ":")
		}
		if !found {
			t.Errorf("%q: got %q, want %q offered", line, out, want)
		}
		for _, l := range offered {
			if l != "" && !strings.HasPrefix(l, ":") && !strings.HasPrefix(l, typed) {
				t.Errorf("%q offers %q, which doesn't begin with what was typed", line, l)
			}
		}
	}
	if code, out, _ := runQuietly(t.Context(), "__complete", "board", "show", "--control", "http://127.0.0.1:1", ""); code != codeOK || !strings.HasPrefix(out, ":") {
		t.Errorf("without a server: got %d %q, want nothing offered", code, out)
	}
}

// TestManPages: every command has a page that man can read.
func TestManPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := &env{in: strings.NewReader(""), out: io.Discard, err: io.Discard, getenv: os.Getenv}
	if code := run(t.Context(), []string{"man", dir}, e); code != codeOK {
		t.Fatalf("exit code %d, want 0", code)
	}
	for _, c := range everyCommand(newRoot(e)) {
		page := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Errorf("%s has no page: %v", c.CommandPath(), err)
			continue
		}
		if !strings.Contains(strings.ReplaceAll(string(text), `\`, ""), c.Short) {
			t.Errorf("%s doesn't say %q", page, c.Short)
		}
	}
	man := must.Have(t, "man", "man-db")
	out, err := exec.CommandContext(t.Context(), man, "--warnings", "-l", filepath.Join(dir, "doorlab-fault-add.1")).CombinedOutput()
	if err != nil || strings.Contains(string(out), "warning") || !strings.Contains(string(out), "SYNOPSIS") {
		t.Errorf("man: %v, want a page without warnings:\n%s", err, out)
	}
}

func TestCommitOfABuild(t *testing.T) {
	t.Parallel()
	const full = "0123456789abcdef0123456789abcdef01234567"
	for want, settings := range map[string][]debug.BuildSetting{
		"":                     {{Key: "GOOS", Value: "linux"}, {Key: "vcs.modified", Value: "true"}},
		"0123456789ab":         {{Key: "vcs.revision", Value: full}, {Key: "vcs.modified", Value: "false"}},
		"0123456789ab+changes": {{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: full}},
	} {
		if got := commitOf(settings); got != want {
			t.Errorf("commitOf(%v) = %q, want %q", settings, got, want)
		}
	}
	if got := build(); !strings.Contains(got, "(commit ") || !strings.Contains(got, "go1.") {
		t.Errorf("build() = %q, want a commit and Go's version", got)
	}
}
