package docs_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// TestMuseumDocs: docs/museum.md lists every planted bug under its first clause.
func TestMuseumDocs(t *testing.T) {
	t.Parallel()
	const page = "museum.md"
	want := museumPage(judge.Museum())
	if *update {
		must.OK(t, os.WriteFile(page, []byte(want), 0o644))
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != want {
		t.Fatalf("%s: %v, the museum says something else; run `make docs`\n%s", page, err, difference(string(got), want))
	}
}

const museumHead = `# The museum of planted bugs

*Generated from internal/judge/museum.json by 'make docs'; 'make museum' runs the bugs and writes that file.*

A check is only as good as the bugs that it catches. Each promise of the contract has bugs that break it; a build tag puts them into
the real server and the simulated boards. 'make museum' runs each of them against the scenarios, the load or the Go test that
should catch it, and fails if one survives. There are %d bugs: %d are caught by 'doorlab check', %d by 'doorlab load',
%d by a Go test.

A bug is listed under the first clause that it breaks. "Failed" names what the verdict blamed: the clause, or the step when the bug
already broke the set-up.
`

func museumPage(all []judge.Exhibit) string {
	var b strings.Builder
	by := map[string]int{}
	for _, e := range all {
		by[e.By]++
	}
	fmt.Fprintf(&b, strings.ReplaceAll(museumHead, "'", "`"), len(all), by["check"], by["load"], by["test"])
	for _, c := range judge.Clauses() {
		of := slices.DeleteFunc(slices.Clone(all), func(e judge.Exhibit) bool { return e.Clauses[0] != c })
		caught, planted := judge.Planted(c)
		fmt.Fprintf(&b, "\n## %s: %s\n\n%d of %d planted bugs that break it are caught.\n", c, judge.Promise(c), caught, planted)
		if len(of) > 0 {
			b.WriteString("\n| promise | bug | caught by | failed |\n|---|---|---|---|\n")
		}
		for _, e := range of {
			where := e.By
			if len(e.With) > 0 {
				where += " `" + strings.Join(e.With, " ") + "`"
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", e.Promise, e.Name, where, e.Failed)
		}
	}
	return b.String()
}
