package scenarios_test

import (
	"testing"

	"github.com/doorlab/doorlab/internal/scenario"
	"github.com/doorlab/doorlab/scenarios"
)

// TestFiles: every file loads, says what it shows, and names its guarantees.
func TestFiles(t *testing.T) {
	t.Parallel()
	files, err := scenario.LoadFS(scenarios.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Doc.Name == "" || f.Doc.Description == "" || len(f.Doc.Clauses) == 0 {
			t.Errorf("%s: needs a name, a description and clauses", f.Base())
		}
	}
}
