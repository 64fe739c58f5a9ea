package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

// The tools are this program's own commands: what a model reads is what a person
// would, and nothing can be done here that the command line can't do.

func mcpCommand(e *env) *cobra.Command {
	f := &labFlags{}
	c := &cobra.Command{
		Use: "mcp", Short: "Offer doorlab to language models over the Model Context Protocol (stdin and stdout)", Args: noArgs,
		Example: `  doorlab mcp                                    # lint and run scenarios, explain verdicts
  doorlab mcp --control http://127.0.0.1:8081    # also faults, boards and journals of a running lab`,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := f.client(); err != nil {
				return err
			}
			dir, err := os.MkdirTemp("", "doorlab-mcp-*")
			if err != nil {
				return failf("%s", reason(err))
			}
			defer func() { _ = os.RemoveAll(dir) }()
			server := mcpServer(&toolbox{f: f, dir: dir})
			in := &stdin{env: e}
			s := &session{IOTransport: mcp.IOTransport{Reader: in, Writer: stdout{e}}}
			err = server.Run(c.Context(), s)
			switch {
			case c.Context().Err() != nil:
				return nil
			case s.misread.Load():
				return failf("mcp: the input is not a JSON-RPC message; a client of the Model Context Protocol sends one per line")
			case err != nil && !in.ended.Load():
				return failf("mcp: %s", err)
			}
			return nil
		},
	}
	f.add(c)
	return c
}

// toolbox runs commands for a model, several at the same time if it asks for that.
type toolbox struct {
	f   *labFlags
	dir string // of its scenarios and runs, removed at the end

	mu   sync.Mutex // of last
	last string     // directory of the run that ended last; "" = none has
}

// command runs a command line and returns what it printed. A usage error or an
// unreachable server is an error of the tool; a failed expectation is a result.
func (b *toolbox) command(ctx context.Context, args ...string) (*mcp.CallToolResult, any, error) {
	code, out, errs := runQuietly(ctx, args...)
	text := strings.TrimSpace(out + "\n" + errs)
	if code != codeOK {
		text += "\nexit code " + strconv.Itoa(code)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}},
		IsError: code == codeFailure || code == codeUsage || code == codeUnreachable || code == codeInterrupted}, nil, nil
}

// lab runs a command over the control API; args begin with the two words of the command.
func (b *toolbox) lab(ctx context.Context, args ...string) (*mcp.CallToolResult, any, error) {
	var where []string
	for flag, value := range map[string]string{"control": b.f.control, "control-token": b.f.token, "control-token-file": b.f.tokenFile, "ca": b.f.trust.ca} {
		if value != "" {
			where = append(where, "--"+flag, value)
		}
	}
	return b.command(ctx, slices.Insert(args, 2, where...)...)
}

// file keeps a scenario for a command to read, in a directory that no other call uses.
func (b *toolbox) file(text string) (string, error) {
	dir, err := os.MkdirTemp(b.dir, "call-*")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "scenario.yaml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

type (
	scenarioIn struct {
		Scenario string `json:"scenario" jsonschema:"the scenario file as YAML text"`
	}
	runIn struct {
		Scenario string `json:"scenario,omitempty" jsonschema:"the scenario file as YAML text"`
		Name     string `json:"name,omitempty" jsonschema:"a built-in scenario instead; doorlab check list names them"`
		Boards   int    `json:"boards,omitempty" jsonschema:"simulated boards, 20 by default"`
	}
	explainIn struct {
		Run string `json:"run,omitempty" jsonschema:"a run directory of doorlab check; the last run of this session by default"`
	}
	faultIn struct {
		Fault  string   `json:"fault" jsonschema:"a fault; the tool faults explains them"`
		Boards []string `json:"boards,omitempty" jsonschema:"board ids"`
		Place  string   `json:"place,omitempty" jsonschema:"every board of this place, by id or name, instead of boards"`
		Share  float64  `json:"share,omitempty" jsonschema:"this share of all boards instead of boards, 0.1 for a tenth"`
		For    string   `json:"for,omitempty" jsonschema:"how long, in the lab's time, such as 10m"`
		Params []string `json:"params,omitempty" jsonschema:"parameters, name=value"`
	}
	placeIn struct {
		Place  string `json:"place,omitempty" jsonschema:"a place, by id or name"`
		Offset int    `json:"offset,omitempty" jsonschema:"skip this many boards: at most 500 are listed, and the answer says how many there are"`
	}
	boardIn struct {
		Board string `json:"board" jsonschema:"a board id; the tool boards lists them"`
	}
	none struct{}
)

// mcpServer offers the tools.
func mcpServer(b *toolbox) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "doorlab", Version: version()}, &mcp.ServerOptions{
		Instructions: "doorlab simulates unattended-store access control and judges its guarantees. Write a scenario, lint it, run it, explain its verdict. " +
			"faults_add, boards and journal need a running lab (doorlab up).",
	})
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	add(s, "lint", "Look for mistakes in a scenario without running it", reads, func(ctx context.Context, in scenarioIn) (*mcp.CallToolResult, any, error) {
		path, err := b.file(in.Scenario)
		if err != nil {
			return nil, nil, err
		}
		return b.command(ctx, "check", "lint", path)
	})
	add(s, "run", "Run a scenario in its own world and judge every guarantee that it touches", nil, b.run)
	add(s, "explain", "Explain the verdict of a run: failures first, with the step, what was expected and what happened instead", reads, b.explain)
	words := func(run func(context.Context, ...string) (*mcp.CallToolResult, any, error), args ...string) func(context.Context, none) (*mcp.CallToolResult, any, error) {
		return func(ctx context.Context, _ none) (*mcp.CallToolResult, any, error) { return run(ctx, args...) }
	}
	add(s, "schema", "The JSON Schema of scenario files", reads, words(b.command, "schema"))
	add(s, "faults", "Explain the faults that boards can have", reads, words(b.command, "fault", "names"))
	add(s, "faults_armed", "List the faults in force in the running lab", reads, words(b.lab, "fault", "list"))
	add(s, "faults_add", "Arm a fault on simulated boards of the running lab", nil, b.addFault)
	add(s, "faults_reset", "Remove every fault of the running lab", nil, words(b.lab, "fault", "reset"))
	add(s, "boards", "List boards of the running lab with phase, outage age and revisions", reads, func(ctx context.Context, in placeIn) (*mcp.CallToolResult, any, error) {
		return b.lab(ctx, "board", "list", "--limit", "500", "--offset", strconv.Itoa(in.Offset), "--place", in.Place)
	})
	add(s, "journal", "Show what a board's relays did, oldest first: the ground truth", reads, func(ctx context.Context, in boardIn) (*mcp.CallToolResult, any, error) {
		return b.lab(ctx, "board", "journal", "--", in.Board)
	})
	return s
}

func add[In any](s *mcp.Server, name, does string, hints *mcp.ToolAnnotations, do func(context.Context, In) (*mcp.CallToolResult, any, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: does, Annotations: hints},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			return do(ctx, in)
		})
}

func (b *toolbox) run(ctx context.Context, in runIn) (*mcp.CallToolResult, any, error) {
	what := in.Name
	if (in.Name == "") == (in.Scenario == "") {
		return nil, nil, usagef("give exactly one of scenario and name")
	}
	if in.Scenario != "" {
		var err error
		if what, err = b.file(in.Scenario); err != nil {
			return nil, nil, err
		}
	}
	in.Boards = cmp.Or(in.Boards, 20)
	out, err := os.MkdirTemp(b.dir, "run-*")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if _, err := os.Stat(filepath.Join(out, "verdicts.json")); err == nil { // else it was rejected, and the run before is the last
			b.last = out
		}
	}()
	return b.command(ctx, "check", "--boards", strconv.Itoa(in.Boards), "--out", out, "--", what)
}

func (b *toolbox) explain(ctx context.Context, in explainIn) (*mcp.CallToolResult, any, error) {
	if in.Run == "" {
		b.mu.Lock()
		in.Run = b.last
		b.mu.Unlock()
	}
	if in.Run == "" {
		return nil, nil, usagef("nothing has been run in this session; give the run directory of a doorlab check")
	}
	judged, _, err := b.command(ctx, "judge", "--", in.Run)
	if err != nil || judged.IsError {
		return judged, nil, err
	}
	summary, err := os.ReadFile(filepath.Join(in.Run, "summary.md"))
	if err != nil {
		return nil, nil, err
	}
	judged.Content = append([]mcp.Content{&mcp.TextContent{Text: string(summary)}}, judged.Content...)
	return judged, nil, nil
}

func (b *toolbox) addFault(ctx context.Context, in faultIn) (*mcp.CallToolResult, any, error) {
	args := []string{"fault", "add"}
	for _, id := range in.Boards {
		args = append(args, "--board", id)
	}
	for _, p := range in.Params {
		args = append(args, "--param", p)
	}
	if in.Place != "" {
		args = append(args, "--place", in.Place)
	}
	if in.Share != 0 {
		args = append(args, "--share", strconv.FormatFloat(in.Share, 'g', -1, 64))
	}
	if in.For != "" {
		args = append(args, "--for", in.For)
	}
	if strings.HasPrefix(in.Fault, "-") {
		return nil, nil, usagef("%q is not a fault; the tool faults lists them", in.Fault)
	}
	return b.lab(ctx, append(args, in.Fault)...)
}
