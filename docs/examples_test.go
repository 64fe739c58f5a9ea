package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// shown marks a block that isn't an example to run: output, or what something looks like.
const shown = ""

// times assigns one test to n examples in a row.
func times(n int, test string) []string { return slices.Repeat([]string{test}, n) }

// examples maps each page to the tests that run its examples, one per block, in the order of the page.
var examples = map[string][]string{
	"../README.md":       {"paths.sh", shown, "TestReadmeCurls", "TestReadmeScenario", "TestReadme"},
	"../ARCHITECTURE.md": {shown},
	"board-protocol.md":  slices.Concat(times(8, "TestPage"), times(2, "TestBoardPage")),
	"ci.md":              slices.Concat(times(3, "TestCIPage"), []string{"TestContainersExample"}, times(2, "TestCIPage"), []string{"TestMatrixWorkflow"}),
	"cli.md": {"TestConfigPage", "TestSmallExamples", "TestCheckExamples", "TestApartExample", "TestCheckExamples", "TestRouterPages",
		"TestCommandLinePage", "TestCommandLinePage", "TestSmallExamples", "TestSmallExamples", "TestSmallExamples"},
	"conformance.md":  {"TestConformancePage", shown},
	"control-api.md":  {"TestControlPage"},
	"explore.md":      {"TestExplorePage"},
	"faults.md":       times(21, "TestFaultsPage"),
	"load-testing.md": {"TestLoadPage", "TestSearchPage", "TestLoadPage", "TestLoadPage"},
	"operations.md":   {"TestServicePage"},
	"partners.md":     times(7, "TestPartnersPage"),
	"performance.md":  times(2, "TestPages"),
	"scale.md":        {"TestScalePage", "TestScalePage", "TestRouterOfScalePage"},
	"scenarios.md":    slices.Concat(times(2, "TestScenariosPage"), times(44, "TestScenarioExamples"), []string{shown}),
	"tutorial.md":     times(5, "TestTutorialPage"),
	"world.md":        times(2, "TestWorldPage"),
}

// TestEveryExampleRuns: every block on every page has a test that runs it, so a new block can't be forgotten.
func TestEveryExampleRuns(t *testing.T) {
	t.Parallel()
	var tests bytes.Buffer
	must.OK(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(path, "_test.go") || d.Name() == "paths.sh") {
			tests.WriteString(d.Name() + "\n")
			tests.Write(must.Get(os.ReadFile(path))(t))
		}
		return err
	}))
	for _, page := range append(must.Get(filepath.Glob("*.md"))(t), must.Get(filepath.Glob("../*.md"))(t)...) {
		got := strings.Count(string(must.Get(os.ReadFile(page))(t)), "\n```") / 2
		if want := len(examples[page]); got != want {
			t.Errorf("%s has %d examples, %d of them with a test here; want all", page, got, want)
		}
		for _, test := range examples[page] {
			if test != shown && !bytes.Contains(tests.Bytes(), []byte("func "+test+"(")) && !bytes.Contains(tests.Bytes(), []byte(test+"\n")) {
				t.Errorf("%s: there is no %s", page, test)
			}
		}
	}
}
