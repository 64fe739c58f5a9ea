// Command doorlab is the command line: subcommands, flags, configuration and
// exit codes. It puts the components together and contains no rules of its own.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
)

// Exit codes, as in docs/cli.md.
const (
	codeOK          = 0
	codeFailure     = 1
	codeUsage       = 2
	codeBadScenario = 3
	codeFailed      = 4
	codeUnreachable = 5
	codeInvalid     = 6
	codeThreshold   = 99
	codeInterrupted = 130
)

// exit is an error with its exit code. An empty message prints nothing.
type exit struct {
	code int
	msg  string
}

func (e exit) Error() string { return e.msg }

func usagef(format string, a ...any) error { return exit{codeUsage, fmt.Sprintf(format, a...)} }
func failf(format string, a ...any) error  { return exit{codeFailure, fmt.Sprintf(format, a...)} }

// trouble is a failure with what the words say; nil if err is.
func trouble(what string, err error) error {
	if err == nil {
		return nil
	}
	return failf("%s: %s", what, reason(err))
}

// exitCode ends a command whose verdict was printed; nil for 0.
func exitCode(code int) error {
	if code == codeOK {
		return nil
	}
	return exit{code, ""}
}

// env is everything a command uses besides its flags.
type env struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	environ  func() []string   // every variable, as name=value; nil = none
	from     map[string]string // where flags got their values that weren't given as flags, see readSettings
	noHelp   error             // why --help showed nothing, see helps
}

// output is stdout, and the first error of writing to it: commands that print don't look.
type output struct {
	io.Writer
	mu  sync.Mutex
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = cmp.Or(o.err, err)
	return n, err
}

// told is the error of writing to stdout, if there was one: whoever waits for a ready line would wait forever.
func (e *env) told() error {
	o, ok := e.out.(*output)
	if !ok {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return exit{codeFailure, "cannot write to stdout: " + bare(o.err)}
}

// runUntilSignal runs one command line and returns its exit code. SIGINT and SIGTERM end it, and so does the end of its
// terminal unless it was started with nohup.
func runUntilSignal(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	defer hurry(ctx, args, stderr, stop, os.Exit)()
	return run(ctx, args, &env{in: stdin, out: stdout, err: stderr, getenv: getenv, environ: os.Environ})
}

// run is runUntilSignal with a context in place of signals: what tests call.
func run(ctx context.Context, args []string, e *env) int {
	out := &output{Writer: e.out}
	e = &env{in: e.in, out: out, err: e.err, getenv: e.getenv, environ: e.environ}
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(e.in)
	root.SetErr(e.err)
	err := root.ExecuteContext(ctx)
	err = cmp.Or(err, e.noHelp)
	x, ours := errors.AsType[exit](err)
	switch {
	case !ours && out.err != nil:
		x = exit{codeFailure, "cannot write to stdout: " + bare(out.err)}
	case err == nil:
		return codeOK
	case !ours: // cobra's own: an unknown command or flag
		x = exit{codeUsage, err.Error()}
	}
	if x.msg != "" {
		e.complain(x.msg)
	}
	return x.code
}

// complain prints an error, or several of a file: one to a line, with the source below if it is shown.
func (e *env) complain(msg string) {
	lines := strings.Split(e.named(msg), "\n")
	for i, line := range lines {
		if i == 0 || !strings.HasPrefix(line, " ") {
			line = "doorlab: " + line
		}
		fmt.Fprintln(e.err, line)
	}
}

// runQuietly is run without input and environment, and returns what was written.
func runQuietly(ctx context.Context, args ...string) (code int, out, errs string) {
	var o, e strings.Builder
	code = run(ctx, args, &env{in: strings.NewReader(""), out: &o, err: &e, getenv: func(string) string { return "" }})
	return code, o.String(), e.String()
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use: "doorlab", Annotations: aGroup,
		Short: "Simulate, load-test and judge unattended-store access control",
		Long: `doorlab runs an unattended store on your machine: the access-control API server, its
MQTT broker and thousands of simulated door boards, on a clock you can move. It breaks
things, applies load, and checks every promise against the relays' own journals.`,
		Example: strings.TrimLeft(`
  doorlab up                                # server and 200 boards; prints keys and commands to paste
  doorlab check                             # check every guarantee on 1,000 boards
  doorlab check my-outage.yaml              # run your own scenario
  doorlab load door-commands                # load-test door commands
  doorlab up --clock virtual --json         # for CI: one JSON line when ready, movable clock`, "\n"),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q%s ('doorlab --help' lists them)", args[0], near.Hint(args[0], commandNames(c)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := readSettings(c, e); err != nil {
				return err
			}
			idle(c, e)
			misspelled(c.Root(), e)
			return nil
		},
	}
	root.SetOut(e.out)
	root.Version = build()
	root.SetVersionTemplate("doorlab {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	groupUsages()
	root.SetHelpTemplate(helpTemplate)
	root.SetFlagErrorFunc(flagError)
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Start a lab:", []*cobra.Command{upCommand(e), serveCommand(e), boardsCommand(e), waitCommand(e), worldCommand(e), doctorCommand(e)}},
		{"Check and measure:", []*cobra.Command{checkCommand(e), loadCommand(e), exploreCommand(e), ageCommand(e), judgeCommand(e), mergeRunsCommand(e)}},
		{"Work with a running lab:", []*cobra.Command{faultCommand(e), diskCommand(e), clockCommand(e), personCommand(e), boardCommand(e), placeCommand(e), keysCommand(e),
			auditCommand(e), whyCommand(e), inboxCommand(e), goLiveCommand(e)}},
		{"More:", []*cobra.Command{renewCommand(e), routerCommand(e), mcpCommand(e), schemaCommand(e), versionCommand(e), noticeCommand(e), manCommand(e)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	decimals(root)
	completions(root, e)
	shells(root)
	helps(root, e)
	return root
}

// helps has the help command and --help refuse a command that doesn't exist. Cobra's own show the help of the nearest level above, as a
// success.
func helps(root *cobra.Command, e *env) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if given := c.Flags().Args(); len(given) > 0 && c.HasSubCommands() {
			e.noHelp = c.ValidateArgs(given)
		}
		if e.noHelp == nil {
			show(c, args)
		}
	})
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.RunE = func(_ *cobra.Command, args []string) error {
		about, rest, err := root.Find(args)
		switch {
		case err != nil || len(rest) > 0 && about == root:
			return root.Args(root, args)
		case len(rest) > 0 && about.HasSubCommands():
			return subcommand(commandPath(about))(about, rest)
		case len(rest) > 0:
			return usagef("%s has no commands of its own, got %q", commandPath(about), rest[0])
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
}

// shells has the completion command name its shells when it is given another.
func shells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()                                 // it will write to where root writes now
	if c, _, err := root.Find([]string{"completion"}); err == nil { // man pages go without
		c.Annotations, c.Args, c.RunE = aGroup, subcommand("completion"), func(c *cobra.Command, _ []string) error { return c.Help() }
	}
}

// commandPath is a command's name as it is typed after doorlab; "" for doorlab itself.
func commandPath(c *cobra.Command) string {
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	return name
}

// flagError suggests the nearest flag, or the nearest command if it stands after a word that is none.
func flagError(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); len(words) > 0 && c.HasAvailableSubCommands() {
		if wrong := c.ValidateArgs(words); wrong != nil {
			return wrong
		}
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		name := unknown.GetSpecifiedName()
		hint := ""
		best := near.Name(name, flagNames(c))
		if best == "" || name == "target" { // "target" is the name of --url at check and load
			best = elsewhere(c, name)
		}
		if best != "" {
			hint = ", did you mean --" + best + "?"
		} else if owner := ownerOf(c, name); owner != nil {
			return usagef("--%s stands before its command, write it after: %s --%s ...", name, owner.CommandPath(), name)
		}
		return usagef("%s ('%s --help' lists them)", of(c, "unknown flag --"+name+hint), c.CommandPath())
	}
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usagef("--%s %q: %s", value.GetFlag().Name, value.GetValue(), flagReason(err))
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return usagef("%s ('%s --help' lists them)", of(c, "unknown flag -"+unknown.GetSpecifiedName()), c.CommandPath())
	}
	return usagef("%s", of(c, err.Error()))
}

// others are names that flags have in other tools, or at other commands of ours, with ours.
var others = map[string][]string{
	"url": {"target"}, "target": {"base-url", "host"}, "http": {"address", "addr", "port", "listen"},
	"out":  {"junit", "report-junit", "report", "report-html", "report-json", "report-tap", "html", "output", "output-dir", "summary-export"},
	"rate": {"vus", "users", "qps", "rps", "concurrency", "connections"},
	"json": {"format"}, "control-token": {"token", "api-key"}, "only": {"filter", "grep", "run", "glob"}, "label": {"tag", "tags"}, "var": {"variable", "env"},
}

// elsewhere is the flag of a command that does what a flag of that name does elsewhere; "" = none.
func elsewhere(c *cobra.Command, name string) string {
	for ours, theirs := range others {
		if c.Flags().Lookup(ours) != nil && slices.Contains(theirs, name) {
			return ours
		}
	}
	return ""
}

// of puts a command's name before what is wrong with its arguments.
func of(c *cobra.Command, wrong string) string {
	return strings.TrimPrefix(commandPath(c)+": "+wrong, ": ")
}

// helpTemplate puts the examples before usage and flags.
const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}{{end}}
{{if .HasExample}}
Examples:
{{.Example}}
{{end}}
Usage:
  {{if and .Runnable (not (index .Annotations "group"))}}{{.UseLine}}{{else}}{{.CommandPath}} COMMAND{{end}}
{{if .HasAvailableSubCommands}}
{{if .Groups}}{{$all := .Commands}}Commands:
{{range $g := .Groups}}
{{.Title}}{{range $all}}{{if and .IsAvailableCommand (eq .GroupID $g.ID)}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}
{{end}}
'doorlab COMMAND --help' shows examples first. The manual is in docs/, beginning with docs/README.md.
{{else}}Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}
{{end}}{{end}}{{if .HasAvailableLocalFlags}}
{{flagUsages .}}
{{end}}{{if .HasAvailableLocalFlags}}
Every flag can be set by an environment variable: --http is DOORLAB_HTTP. Flags override the
environment{{if .LocalFlags.Lookup "config"}}, which overrides the --config file{{end}}.
{{end}}`

func commandNames(c *cobra.Command) []string { return each.Of(c.Commands(), (*cobra.Command).Name) }
