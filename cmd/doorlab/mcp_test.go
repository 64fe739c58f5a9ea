package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/doorlab/doorlab/internal/must"
)

// speaking connects the SDK's client to a server of ours, in memory.
func speaking(t *testing.T, b *toolbox) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mcpServer(b).Run(ctx, there) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s := must.Get(client.Connect(ctx, here, nil))(t)
	t.Cleanup(func() { _ = s.Close(); stop(); <-ended })
	return s
}

// ask calls a tool and returns its text.
func ask(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any, wantError bool) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var all []string
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	out := strings.Join(all, "\n")
	if r.IsError != wantError {
		t.Errorf("%s %v: error is %v, want %v:\n%s", tool, args, r.IsError, wantError, out)
	}
	return out
}

const good = `name: a permit opens
setup:
  - cohort: {name: store, boards: 1}
  - permit: {person: ann, place: store}
  - synced: {of: store}
steps:
  - name: ann gets in
    present: {person: ann, door: store, result: opened}
`

// TestMCPScenarios: a model lints, runs and has a verdict explained.
func TestMCPScenarios(t *testing.T) {
	t.Parallel()
	s := speaking(t, &toolbox{f: &labFlags{}, dir: t.TempDir()})
	contains(t, ask(t, s, "schema", nil, false), "doorlab scenario")
	contains(t, ask(t, s, "faults", nil, false), "halfopen")
	contains(t, ask(t, s, "explain", nil, true), "nothing has been run in this session")
	contains(t, ask(t, s, "explain", map[string]any{"run": t.TempDir()}, true), "run directory")
	ask(t, s, "lint", map[string]any{"scenario": good}, false)
	wrong := ask(t, s, "lint", map[string]any{"scenario": strings.Replace(good, "steps", "stpes", 1)}, false)
	contains(t, wrong, `did you mean "steps"`)
	contains(t, wrong, "exit code 3")
	contains(t, ask(t, s, "run", map[string]any{"scenario": good, "name": "outage_36h"}, true), "exactly one of")
	contains(t, ask(t, s, "run", map[string]any{"scenario": good, "boards": 1}, false), "PASS")
	bad := ask(t, s, "run", map[string]any{"scenario": strings.Replace(good, "opened", "denied", 1), "boards": 1}, false)
	contains(t, bad, "exit code 4")
	says := ask(t, s, "explain", nil, false)
	contains(t, says, "ann gets in")
	contains(t, says, "FAIL")
}

// TestMCPCallsAtTheSameTime: a client may ask many things at once, and each answer is about its own scenario.
func TestMCPCallsAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := speaking(t, &toolbox{f: &labFlags{}, dir: t.TempDir()})
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			name := fmt.Sprintf("mistake%02d", i)
			if says := ask(t, s, "lint", map[string]any{"scenario": "name: x\n" + name + ": []\n"}, false); !strings.Contains(says, name) {
				t.Errorf("got %q, want what is wrong with %s", says, name)
			}
		})
	}
	for i := range 2 {
		calls.Go(func() {
			name := fmt.Sprintf("permit %d opens", i)
			says := ask(t, s, "run", map[string]any{"scenario": strings.NewReplacer("a permit opens", name, "ann gets in", name, "opened", "denied").Replace(good), "boards": 1}, false)
			if !strings.Contains(says, name) {
				t.Errorf("got %q, want the verdict of %q", says, name)
			}
		})
	}
	calls.Wait()
}

// TestMCPLab: faults, boards and journals of a running lab.
func TestMCPLab(t *testing.T) {
	t.Parallel()
	tb, w, run := byHand(t)
	f := &labFlags{}
	f.control, f.token = tb.Ready.Control, tb.Ready.ControlToken
	s := speaking(t, &toolbox{f: f, dir: t.TempDir()})
	board := w.Places[1].Boards[0]
	contains(t, ask(t, s, "boards", map[string]any{"place": w.Places[1].Name}, false), board.ID)
	contains(t, ask(t, s, "faults_add", map[string]any{"fault": "refuse", "boards": []string{board.ID}, "for": "10m", "params": []string{"code=jammed"}}, false), "flt_")
	contains(t, ask(t, s, "faults_armed", nil, false), "refuse")
	contains(t, ask(t, s, "faults_add", map[string]any{"fault": "refus", "share": 0.5}, true), `did you mean "refuse"`)
	contains(t, ask(t, s, "faults_add", map[string]any{"fault": "--json"}, true), "is not a fault")
	contains(t, ask(t, s, "faults_reset", nil, false), "1 removed")
	run(codeOK, "person", "present", board.Doors[0].ID, "01012345678")
	contains(t, ask(t, s, "journal", map[string]any{"board": board.ID}, false), "deny")
	contains(t, ask(t, s, "journal", map[string]any{"board": "--help"}, true), "no simulated board")

	nobody := speaking(t, &toolbox{f: &labFlags{keysFlags: keysFlags{control: "http://127.0.0.1:1"}}, dir: t.TempDir()})
	contains(t, ask(t, nobody, "faults_armed", nil, true), "is the server running there?")
	tools, err := nobody.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 10 {
		t.Errorf("tools: %v, %d of them, want 10", err, len(tools.Tools))
	}
	for _, tool := range tools.Tools {
		if changes := tool.Name == "run" || tool.Name == "faults_add" || tool.Name == "faults_reset"; changes == (tool.Annotations != nil && tool.Annotations.ReadOnlyHint) {
			t.Errorf("%s: read-only is %v, want %v", tool.Name, !changes, !changes)
		}
	}
}

// TestMCPOverPipes: the command speaks on stdin and stdout, and nothing else is written there.
func TestMCPOverPipes(t *testing.T) {
	t.Parallel()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	var errs strings.Builder
	in, asks := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan int)
	go func() {
		code := run(t.Context(), []string{"mcp"}, &env{in: in, out: out, err: &errs, getenv: func(string) string { return "" }})
		_ = out.Close()
		ended <- code
	}()
	must.Get(io.WriteString(asks, hello))(t)
	lines := bufio.NewScanner(answers)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"jsonrpc":"2.0","id":1,"result":`) {
		t.Errorf("got %q, want the answer to initialize", lines.Text())
	}
	must.OK(t, asks.Close()) // the client is done
	if lines.Scan() {
		t.Errorf("got %q after the answer, want nothing", lines.Text())
	}
	if code := <-ended; code != codeOK || errs.String() != "" {
		t.Errorf("exit code %d, stderr %q, want 0 and nothing", code, errs.String())
	}
}

// TestMCPAnswersBeforeTheEnd: every request of a file has its answer, although the input ends, or stops being JSON, right after it.
func TestMCPAnswersBeforeTheEnd(t *testing.T) {
	t.Parallel()
	const asks = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"two","method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"faults","arguments":{}}}
{"jsonrpc":"2.0","id":4,"method":"nope"}
`
	for _, c := range []struct {
		end  string
		code int
	}{{"", codeOK}, {"nope\n", codeFailure}} {
		var out, errs strings.Builder
		code := run(t.Context(), []string{"mcp"}, &env{in: strings.NewReader(asks + c.end), out: &out, err: &errs, getenv: func(string) string { return "" }})
		if code != c.code {
			t.Errorf("input ends with %q: exit code %d, stderr %q, want %d", c.end, code, errs.String(), c.code)
		}
		for _, id := range []string{"1", `"two"`, "3", "4"} {
			if !strings.Contains(out.String(), `"id":`+id+`,`) {
				t.Errorf("input ends with %q: got %s, want an answer to request %s", c.end, out.String(), id)
			}
		}
	}
}

// TestMCPRefusesOtherInput: input other than messages ends the session with a sentence, whatever is wrong with it and
// however soon the input ends.
func TestMCPRefusesOtherInput(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"nope", "5", "[]", "{}", "null", `"x"`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":5}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0"`} {
		var errs strings.Builder
		code := run(t.Context(), []string{"mcp"}, &env{in: strings.NewReader(in + "\n"), out: io.Discard, err: &errs, getenv: func(string) string { return "" }})
		if want := "doorlab: mcp: the input is not a JSON-RPC message; a client of the Model Context Protocol sends one per line\n"; code != codeFailure || errs.String() != want {
			t.Errorf("%s: got exit code %d and %q, want %d and %q", in, code, errs.String(), codeFailure, want)
		}
	}
}
