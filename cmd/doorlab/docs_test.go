package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/must"
)

var update = flag.Bool("update", false, "rewrite the flag tables of docs/cli.md")

const cliDoc = "../../docs/cli.md"

// families are commands that share flags: docs/cli.md has one table of what they
// share, and one per command with the rest.
var families = [][]string{{"up", "serve"}, {"check", "load"}, {"keys create", "keys list", "keys revoke"},
	{"fault add", "fault list", "fault remove", "fault reset", "disk show", "disk full", "disk stalled", "disk slow", "disk ok", "board list", "board show", "board journal", "board tail", "board detach", "board attach", "board tell",
		"clock show", "clock advance", "clock freeze", "clock run", "person call", "person present", "person leaf", "place list", "place show", "place set", "place door", "audit", "why", "inbox list", "inbox show", "inbox curl", "inbox scenario", "inbox clear", "go-live"}}

// TestDocsNameEveryFlag: docs/cli.md has a table of exactly the flags of every
// command, with their defaults.
func TestDocsNameEveryFlag(t *testing.T) {
	b := must.Get(os.ReadFile(cliDoc))(t)
	doc := string(b)
	for name, want := range flagTables() {
		begin, end := "<!-- flags: "+name+" -->\n", "<!-- end -->\n"
		i := strings.Index(doc, begin)
		if i < 0 && want == noFlags {
			continue
		}
		if i < 0 {
			t.Errorf("docs/cli.md: want a section for %q that contains %q", name, begin)
			continue
		}
		i += len(begin)
		j := i + strings.Index(doc[i:], end)
		if *update {
			doc = doc[:i] + want + doc[j:]
			continue
		}
		if got := doc[i:j]; got != want {
			t.Errorf("docs/cli.md, flags of %s: run `make docs`\n got %s\nwant %s", name, got, want)
		}
	}
	head, rest, _ := strings.Cut(doc, "<!-- commands -->\n")
	got, tail, marked := strings.Cut(rest, "<!-- end -->\n")
	if want := commandTable(doc); !marked || got != want && !*update {
		t.Errorf("docs/cli.md, table of commands: run `make docs`\n got %s\nwant %s", got, want)
	} else if *update {
		doc = head + "<!-- commands -->\n" + want + "<!-- end -->\n" + tail
		must.OK(t, os.WriteFile(cliDoc, []byte(doc), 0o644))
	}
	for _, code := range []int{codeOK, codeFailure, codeUsage, codeBadScenario, codeFailed, codeUnreachable, codeInvalid, codeThreshold, codeInterrupted} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^\| %d \| `, code)).MatchString(doc) {
			t.Errorf("docs/cli.md: want a row that explains exit code %d", code)
		}
	}
}

// commandTable is the table that docs/cli.md begins with: the commands in their groups, each with a link to its section if it
// has one.
func commandTable(doc string) string {
	root := newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv})
	var b strings.Builder
	b.WriteString("| command | does |\n|---|---|\n")
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "| **%s** | |\n", strings.TrimSuffix(g.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID != g.ID || c.Hidden {
				continue
			}
			name := "`" + c.Name() + "`"
			if strings.Contains(doc, "\n## "+c.Name()+"\n") {
				name = "[" + name + "](#" + c.Name() + ")"
			} else if strings.Contains(doc, "\n## fault, disk, board, ") && c.GroupID == "Work with a running lab:" {
				name = "[" + name + "](#fault-disk-board-clock-person-place-audit-why-inbox-and-go-live)"
			}
			fmt.Fprintf(&b, "| %s | %s |\n", name, c.Short)
		}
	}
	return b.String()
}

// noFlags is what a section says of a command without flags; it may have none.
const noFlags = "No flags of its own.\n"

// flagTables are the tables of docs/cli.md by the name of their section.
func flagTables() map[string]string {
	rows := map[string][]string{}
	for _, c := range everyCommand(newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv})) {
		rows[strings.TrimPrefix(c.CommandPath(), "doorlab ")] = flagRows(c)
	}
	for _, family := range families {
		shared := rows[family[0]]
		for _, name := range family[1:] {
			shared = slices.DeleteFunc(slices.Clone(shared), func(row string) bool { return !slices.Contains(rows[name], row) })
		}
		for _, name := range family {
			rows[name] = slices.DeleteFunc(rows[name], func(row string) bool { return slices.Contains(shared, row) })
		}
		rows[strings.Join(family, ", ")] = shared
	}
	tables := map[string]string{}
	for name, rows := range rows {
		tables[name] = noFlags
		if len(rows) > 0 {
			tables[name] = "| flag | default | meaning |\n|---|---|---|\n" + strings.Join(rows, "")
		}
	}
	return tables
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

func flagRows(c *cobra.Command) (rows []string) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			value = " " + value
		}
		def := ""
		if f.DefValue != "" && f.DefValue != "[]" {
			def = "`" + f.DefValue + "`"
		}
		if name, rest, ok := strings.Cut(usage, " (default: "); ok {
			usage, def = name, strings.TrimSuffix(rest, ")")
			if strings.Contains(def, "<") {
				def = "`" + def + "`"
			}
		}
		rows = append(rows, fmt.Sprintf("| `--%s%s` | %s | %s |\n", f.Name, value, def, strings.ReplaceAll(usage, "|", `\|`)))
	})
	return rows
}

// TestEveryFlagHasAVariable: the environment fills every flag that was not given.
func TestEveryFlagHasAVariable(t *testing.T) {
	t.Parallel()
	for _, c := range everyCommand(newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv})) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Name == "config" {
				return
			}
			value := map[string]string{"bool": "true", "int": "7", "int64": "7", "float64": "7", "duration": "7s", "stringToString": "a=b", "days": "records=70d,audit=70d,grants=70d", "share": "0.7"}[f.Value.Type()]
			if value == "" {
				value = "seven"
			}

			e := &env{getenv: func(name string) string {
				if name == variable(f.Name) {
					return value
				}
				return ""
			}}
			if err := readSettings(c, e); err != nil {
				t.Errorf("%s %s: %v", c.CommandPath(), f.Name, err)
			}
			if got := strings.Trim(f.Value.String(), "[]"); got != value || !f.Changed {
				t.Errorf("%s: %s=%s gives %q", c.CommandPath(), variable(f.Name), value, got)
			}
		})
	}
}

// TestCommandsReadSettings: commands take their flags from the environment, not only those that start a server.
func TestCommandsReadSettings(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"up"}, {"age"}, {"explore"}, {"check"}} {
		var errs strings.Builder
		e := &env{out: io.Discard, err: &errs, getenv: func(name string) string { return map[string]string{"DOORLAB_SEED": "x"}[name] }}
		if code := run(t.Context(), args, e); code != codeUsage || !strings.Contains(errs.String(), "DOORLAB_SEED") {
			t.Errorf("%s with DOORLAB_SEED=x: exit code %d, %q, want %d and the variable's name", args, code, errs.String(), codeUsage)
		}
	}
}

// TestPrecedence: flag beats environment beats file beats default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/config.yaml"
	must.OK(t, os.WriteFile(file, []byte("boards: 20\nseed: 20\nhttp: file:1\ntrusted-proxies: [10.0.0.0/8, 127.0.0.1]\ncontrol: \"\"\n"), 0o600))
	c, _, err := newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv}).Find([]string{"up"})
	if err != nil {
		t.Fatal(err)
	}
	must.OK(t, c.ParseFlags([]string{"--config", file, "--boards", "40"}))
	vars := map[string]string{"DOORLAB_BOARDS": "30", "DOORLAB_SEED": "30"}
	must.OK(t, readSettings(c, &env{getenv: func(name string) string { return vars[name] }}))
	for name, want := range map[string]string{"boards": "40", "seed": "30", "http": "file:1", "mqtt": "127.0.0.1:1883", "control": "", "trusted-proxies": "[10.0.0.0/8,127.0.0.1]"} {
		if got := c.Flags().Lookup(name).Value.String(); got != want {
			t.Errorf("--%s is %q, want %q", name, got, want)
		}
	}
}
