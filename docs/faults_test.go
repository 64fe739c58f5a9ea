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

*Generated from internal/faults by ` + "`make docs`" + `; edit the list there.*

Arm a fault with ` + "`doorlab fault add NAME`" + `, on the console's page Faults, with a scenario's verb ` + "`fault`" + `, or with ` + "`POST /lab/v1/faults`" + ` on
the control listener, which returns ` + "`{faultId}`" + `. Name the boards with exactly one of ` + "`boards`, `placeId` and `share`" + `; detached boards and the boards of
test places take no faults. ` + "`for`" + ` (in the lab's time, such as ` + "`\"10m\"`" + `) ends it; ` + "`DELETE /lab/v1/faults/{id}`" + ` and ` + "`POST /lab/v1/faults/reset`" + `
undo it. Faults on commands also accept ` + "`doorIds`, `commands` and `nth`" + ` (only the n-th matching command); if several apply to
one command, those further up on this page act first. ` + "`GET /lab/v1/faults`" + ` counts ` + "`hits`" + `: how often each fault acted.
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
		Boards []string       `json:"boards"`
		Params map[string]any `json:"params,omitempty"`
	}{f.Name, []string{"brd_front"}, v.All()}))(t)
	return string(raw)
}
