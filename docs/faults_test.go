package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/must"
)

// TestDocsFaults: faults.md is generated from internal/faults.
func TestDocsFaults(t *testing.T) {
	t.Parallel()
	want := faultsPage(t)
	if *update {
		must.OK(t, os.WriteFile("faults.md", []byte(want), 0o644))
	}
	got := must.Get(os.ReadFile("faults.md"))(t)
	if string(got) != want {
		t.Error("faults.md is not what internal/faults says; run `make docs`")
	}
}

const faultsHead = `# Faults

<!-- generated from internal/faults by make docs: edit the list there -->

This page lists everything that the lab can break, and what a caller then sees: use it to write scenarios, or to break a running lab by hand.
There are four ways to arm a fault; each of these makes a tenth of the boards refuse every command:

| where | how |
|---|---|
| command line | ` + "`doorlab fault add refuse --share 10% --param code=jammed`" + ` |
| scenario | ` + "`cohort: {name: some, share: 10%}`" + `, then ` + "`fault: {fault: refuse, of: some, params: {code: jammed}}`" + ` |
| HTTP | ` + "`POST /lab/v1/faults`" + ` on the control listener with ` + "`{\"fault\":\"refuse\",\"share\":0.1,\"params\":{\"code\":\"jammed\"}}`" + `; the answer has the ` + "`faultId`" + ` |
| console | the page Faults |

- Name the boards in exactly one way: ` + "`boards`, `placeId` or `share`" + `. Detached boards and the boards of test places take no faults.
- ` + "`for`" + ` ends a fault after that much of the lab's time, such as ` + "`\"10m\"`" + `. ` + "`DELETE /lab/v1/faults/{id}`" + ` ends it at once, and ` + "`POST /lab/v1/faults/reset`" + ` ends all.
- Faults on commands also accept ` + "`doorIds`, `commands` and `nth`" + ` (only the n-th matching command). If several apply to one command,
  those further up on this page act first.
- ` + "`GET /lab/v1/faults`" + ` counts ` + "`hits`" + `: how often each fault acted.

These faults are the boards' and their lines'. The server's disk can be full, stalled or slow (` + "`doorlab disk`" + `, the verb
[` + "`disk`" + `](scenarios.md#disk), ` + "`disk: full`" + ` in a [load plan](load-testing.md#plan), ` + "`POST /lab/v1/disk`" + `), and the server can
die at any step of a command ([` + "`crash`" + `](scenarios.md#crash)).
`

func faultsPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(faultsHead + faultsTable())
	for _, f := range faults.All {
		fmt.Fprintf(&b, "\n## %s\n\n%s %s\n\n", f.Name, f.Does, map[faults.Acts]string{faults.OnCommand: "Acts on commands.", faults.OnLine: "Acts on the network line.",
			faults.OnClock: "Acts on the board's clock.", faults.AtOnce: "Acts once, immediately; nothing stays armed."}[f.Acts])
		for _, p := range f.Params {
			fmt.Fprintf(&b, "- `params.%s`: %s.\n", p.Name, p.Text())
		}
		if len(f.Params) > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Outcome of a door command: %s. Journal: %s.\n\n```json\n%s\n```\n", f.Outcome, f.Journal, example(t, f))
	}
	return b.String()
}

// faultsTable is the overview: neighbours with the same outcome share a row.
func faultsTable() string {
	var b strings.Builder
	b.WriteString("\n| fault | acts on | the caller of a door command sees |\n|---|---|---|\n")
	for rest := faults.All; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Acts == rest[0].Acts && rest[n].Outcome == rest[0].Outcome {
			n++
		}
		var names []string
		for _, f := range rest[:n] {
			names = append(names, fmt.Sprintf("[`%s`](#%[1]s)", f.Name))
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(names, ", "), map[faults.Acts]string{faults.OnCommand: "commands", faults.OnLine: "the network line",
			faults.OnClock: "the board's clock", faults.AtOnce: "the board, once"}[rest[0].Acts], rest[0].Outcome)
		rest = rest[n:]
	}
	return b.String()
}

// example is a request body that arms the fault with every parameter at its default.
func example(t *testing.T, f faults.Fault) string {
	t.Helper()
	v := must.Get(f.Values(nil))(t)
	raw := must.Get(json.Marshal(struct {
		Fault  string         `json:"fault"`
		Share  float64        `json:"share"`
		Params map[string]any `json:"params,omitempty"`
	}{f.Name, 0.1, v.All()}))(t)
	return string(raw)
}
