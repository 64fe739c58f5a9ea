package docs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// TestConformanceDocs: the table of what each key shows matches the suite.
func TestConformanceDocs(t *testing.T) {
	t.Parallel()
	files := must.Get(engine.LoadFS(scenarios.Files))(t)
	var b strings.Builder
	b.WriteString("| guarantee | in words | checks | with a key only |\n|---|---|--:|--:|\n")
	possible := 0
	for _, s := range engine.Conformance(files) {
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", s.Clause, judge.Promise(s.Clause), s.Checks, s.Possible)
		possible += s.Possible
	}
	hold(t, "conformance.md", "conformance", b.String())
	if possible == 0 {
		t.Error("nothing is possible with a key only")
	}
	for _, f := range files {
		if slices.Contains(f.Doc.Labels, "key-only") && !f.KeysDo() {
			t.Errorf("%s is labelled key-only, but needs more", f.Path)
		}
	}
}
