package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite the flag tables of docs/cli.md")

const cliDoc = "../../docs/cli.md"

// TestDocsNameEveryFlag: docs/cli.md has a section for every command, and in it
// a table of exactly its flags with their environment variables and defaults.
func TestDocsNameEveryFlag(t *testing.T) {
	b, err := os.ReadFile(cliDoc)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	for _, c := range everyCommand(newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv})) {
		name := strings.TrimPrefix(c.CommandPath(), "doorlab ")
		begin, end := "<!-- flags: "+name+" -->\n", "<!-- end -->\n"
		i := strings.Index(doc, begin)
		if i < 0 {
			t.Errorf("docs/cli.md has no section of %q with %q", name, begin)
			continue
		}
		i += len(begin)
		j := i + strings.Index(doc[i:], end)
		want := flagTable(c)
		if *update {
			doc = doc[:i] + want + doc[j:]
			continue
		}
		if got := doc[i:j]; got != want {
			t.Errorf("docs/cli.md, flags of %s: go test ./internal/cli -run Docs -update\n got %s\nwant %s", name, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(cliDoc, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, code := range []int{OK, Failure, Usage, BadScenario, Failed, Unreachable, Invalid, Threshold, Interrupted} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^\| %d \| `, code)).MatchString(doc) {
			t.Errorf("docs/cli.md does not explain exit code %d", code)
		}
	}
}

func everyCommand(c *cobra.Command) (all []*cobra.Command) {
	for _, s := range c.Commands() {
		if s.Hidden || s.Name() == "help" || s.Name() == "completion" {
			continue
		}
		all = append(append(all, s), everyCommand(s)...)
	}
	return all
}

func flagTable(c *cobra.Command) string {
	var b strings.Builder
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		if b.Len() == 0 {
			b.WriteString("| flag | environment | default | |\n|---|---|---|---|\n")
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			value = " " + value
		}
		def := f.DefValue
		if def != "" && def != "[]" {
			def = "`" + def + "`"
		} else {
			def = ""
		}
		fmt.Fprintf(&b, "| `--%s%s` | `%s` | %s | %s |\n", f.Name, value, variable(f.Name), def, strings.ReplaceAll(usage, "|", `\|`))
	})
	if b.Len() == 0 {
		return "No flags.\n"
	}
	return b.String()
}

// TestEveryFlagHasAVariable: the environment fills every flag that was not given.
func TestEveryFlagHasAVariable(t *testing.T) {
	t.Parallel()
	for _, c := range everyCommand(newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv})) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Name == "config" {
				return
			}
			value := map[string]string{"bool": "true", "int": "7", "int64": "7", "duration": "7s", "stringToString": "a=b"}[f.Value.Type()]
			if value == "" {
				value = "seven"
			}
			e := &env{getenv: func(name string) string {
				if name == variable(f.Name) {
					return value
				}
				return ""
			}}
			if err := settle(c, e); err != nil {
				t.Errorf("%s %s: %v", c.CommandPath(), f.Name, err)
			}
			if got := strings.Trim(f.Value.String(), "[]"); got != value || !f.Changed {
				t.Errorf("%s: %s=%s gives %q", c.CommandPath(), variable(f.Name), value, got)
			}
		})
	}
}

// TestPrecedence: flag beats environment beats file beats default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/config.yaml"
	if err := os.WriteFile(file, []byte("boards: 20\nseed: 20\nhttp: file:1\ntrusted-proxies: [10.0.0.0/8, 127.0.0.1]\ncontrol: \"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv}).Find([]string{"up"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ParseFlags([]string{"--config", file, "--boards", "40"}); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"DOORLAB_BOARDS": "30", "DOORLAB_SEED": "30"}
	if err := settle(c, &env{getenv: func(name string) string { return vars[name] }}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"boards": "40", "seed": "30", "http": "file:1", "mqtt": "127.0.0.1:1883", "control": "", "trusted-proxies": "[10.0.0.0/8,127.0.0.1]"} {
		if got := c.Flags().Lookup(name).Value.String(); got != want {
			t.Errorf("--%s is %q, want %q", name, got, want)
		}
	}
}
