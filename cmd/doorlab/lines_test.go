package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/must"
)

// offered is a command line that a page or a help text shows.
type offered struct{ where, line string }

var (
	fenced = regexp.MustCompile("(?ms)^ *```[a-z]*\n(.*?)^ *```")
	inline = regexp.MustCompile("`(doorlab [^`]+)`")
	ours   = regexp.MustCompile(`(?:^|[ "(|]|bin/)doorlab ([a-z-].*)`)
)

// ourLines are the calls of doorlab in a block of shell.
func ourLines(where, block string) (out []offered) {
	for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "$ "), " # ")
		line, _, _ = strings.Cut(line, "   #")
		m := ours.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "doorlab: ") {
			continue
		}
		rest := m[1]
		for _, end := range []string{" | ", " > ", " >", " && ", " || ", " 2>", "; ", " &", ")"} {
			rest, _, _ = strings.Cut(rest, end)
		}
		out = append(out, offered{where, strings.TrimSpace(rest)})
	}
	return out
}

// offers are all lines of all pages and of every --help.
func offers(t *testing.T) (out []offered) {
	t.Helper()
	pages := must.Get(filepath.Glob("../../docs/*.md"))(t)
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		raw := must.Get(os.ReadFile(page))(t)
		for _, m := range fenced.FindAllStringSubmatch(string(raw), -1) {
			out = append(out, ourLines(filepath.Base(page), m[1])...)
		}
		for _, m := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(string(raw), ""), -1) {
			out = append(out, ourLines(filepath.Base(page), strings.ReplaceAll(m[1], "\n", " "))...)
		}
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		out = append(out, ourLines(c.CommandPath()+" --help", c.Example)...)
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv}))
	return out
}

// wrong says what a command line asks for that there isn't; "" for nothing. A page may name
// a command without what it takes, so how many arguments there are isn't held against it.
func wrong(line string) string {
	words := strings.Fields(line)
	root := newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv})
	root.InitDefaultCompletionCmd(words...)
	c, rest, err := root.Find(words)
	switch {
	case err != nil:
		return err.Error()
	case c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-"):
		return "no command " + rest[0]
	}
	switch err := c.ParseFlags(rest); {
	case err != nil && !errors.Is(err, pflag.ErrHelp) && !strings.HasPrefix(err.Error(), "flag needs an argument"):
		return err.Error()
	case c.HasSubCommands() && c.Flags().NArg() > 0:
		if err := c.ValidateArgs(c.Flags().Args()); err != nil {
			return err.Error()
		}
	}
	return ""
}

// TestOfferedLines: whatever line a page or a help text offers, its command and its flags exist.
func TestOfferedLines(t *testing.T) {
	t.Parallel()
	all := offers(t)
	if len(all) < 200 {
		t.Errorf("%d lines were found, want at least 200: are they still recognized?", len(all))
	}
	for _, o := range all {
		if why := wrong(o.line); why != "" {
			t.Errorf("%s: doorlab %s: %s", o.where, o.line, why)
		}
	}
	for _, bad := range []string{"chek", "fault ad offline", "up --bords 3", "up --boards many", "nothing at all"} {
		if wrong(bad) == "" {
			t.Errorf("doorlab %s: nothing is wrong with it, want the mistake to be found", bad)
		}
	}
}
