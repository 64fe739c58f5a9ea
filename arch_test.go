package doorlab

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

const module = "github.com/doorlab/doorlab/"

var update = flag.Bool("update", false, "rewrite the table of layers in ARCHITECTURE.md")

type layer struct {
	name string
	may  []string
	why  string
}

// layers are the top-level folders from the top down, with those that each may
// import. No arrow runs up.
var layers = []layer{
	{"cmd", []string{"testbed", "scenarios", "loadtest", "internal"}, "commands put the parts together"},
	{"doorlabtest", []string{"testbed", "internal"}, "a lab for other people's Go tests"},
	{"examples", nil, "partners don't have our code, so their clients import none of it; only the test that runs them does"},
	{"testbed", []string{"server", "boardsim", "internal"}, "a whole world in one process"},
	{"scenarios", []string{"loadtest", "internal"}, "a scenario may play a load; it reaches the rest over HTTP, over MQTT in a board's place, or over SIP as a caller"},
	{"loadtest", []string{"internal"}, "load reaches its target over HTTP"},
	{"server", []string{"internal"}, "it must work with real boards"},
	{"boardsim", []string{"internal"}, "a board knows only what was synchronized to it"},
	{"internal", nil, "what everybody may import"},
}

// never lists imports that must not exist, with the reason. A prefix that ends
// in "/..." covers everything below it.
var never = []struct{ from, to, why string }{
	{"internal/judge/...", "internal/access", "the judge has its own reference of the decision"},
	{"internal/judge/...", "internal/wire", "the judge shares nothing with what it judges"},
	{"scenarios/explore", "internal/access", "the model has its own reference of the decision"},
	{"scenarios/explore", "internal/wire", "the model knows what is promised, not how it is said"},
	{"scenarios/evidence", "scenarios/engine", "whether something is evidence is decided by values alone; the engine asks the target"},
	{"scenarios/evidence", "internal/client", "what a target might have answered isn't asked from one"},
	{"scenarios/expression", "scenarios/evidence", "the language doesn't know what its expressions prove"},
	{"server/...", "internal/judge", "what is judged can't import the judge"},
	{"boardsim/...", "internal/judge", "what is judged can't import the judge"},
	{"internal/access/...", "internal/clock", "the decision takes now as a value"},
	{"internal/wire/...", "internal/clock", "wire types read no clock"},
	{"boardsim/firmware", "internal/clock", "the firmware takes now as a value"},
	{"server/auth", "server/store", "rules know no SQL"},
	{"server/grant", "server/store", "rules know no SQL"},
	{"server/place", "server/store", "rules know no SQL"},
	{"server/entry", "server/store", "rules know no SQL"},
	{"server/command", "server/store", "rules know no SQL"},
	{"server/boardsync", "server/store", "rules know no SQL"},
	{"server/board", "server/store", "rules know no SQL"},
	{"server/record", "server/store", "rules know no SQL"},
	{"server/api", "server/store", "adapters never import each other"},
	{"server/api", "server/gateway", "adapters never import each other"},
	{"server/api/gen/...", "server/fail", "generated types hold no rules"},
	{"server/api", "internal/wire", "the edge speaks to the rules, not to boards"},
	{"server/api/openapi", "server/place", "the reading of the documents is a leaf"},
	{"server/gateway", "server/api", "adapters never import each other"},
	{"server/gateway", "server/store", "adapters never import each other"},
	{"server/store", "server/api", "adapters never import each other"},
	{"server/store", "internal/wire", "the store stores what the rules hand it"},
	{"server/api/...", "internal/wire", "what boards say reaches the edge as the rules' types"},
	{"server/store", "server/gateway", "adapters never import each other"},
}

// onlyIn says which package alone may use a library.
var onlyIn = []struct{ lib, where, why string }{
	{"github.com/mochi-mqtt/server", "server/gateway", "any broker must be able to replace it"},
	{module + "server/store/db", "server/store", "SQL is made by sqlc and used by the store"},
	{"github.com/mattn/go-sqlite3", "server/store", "only the store touches SQL"},
	{"github.com/eclipse/paho.mqtt.golang", "boardsim/mqtt", "the boards' MQTT client"},
	{"github.com/goccy/go-yaml/parser", "internal/strictyaml", "one strict decoder for every file that a person writes"},
	{module + "server/api/gen", "server/api", "what goes over HTTP takes its shape at the edge"},
	{module + "server/api/stamp", "server/api", "the rules know times, not how they are written"},
	{"github.com/spf13/cobra", "cmd/doorlab", "the command line"},
}

// theFloor is measured with the same libraries and nothing of ours in between.
const theFloor, codec = "testbed/bench", "github.com/mochi-mqtt/server/v2/packets"

// byCodec are the clients that are made of the broker's packet codec.
var byCodec = []string{"boardsim/mqtt", "internal/byhand"}

// plantedOnly are the packages of planted bugs: the files that a build tag
// guards may import them, and they one another.
var plantedOnly = []string{"internal/bug", "server/planted", "boardsim/planted"}

// TestBugsStayOutside: no product code asks for a planted bug.
func TestBugsStayOutside(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "plant_on.go" || slices.Contains(plantedOnly, filepath.ToSlash(filepath.Dir(file))) {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))(t)
		for _, imp := range f.Imports {
			if to, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module); ours && slices.Contains(plantedOnly, to) {
				t.Errorf("%s imports %s: bugs are put in by plant_on.go behind the build tag, product code never asks for them", file, to)
			}
		}
	}
}

// rulesWithout: packages of rules import no HTTP, SQL or MQTT.
var rulesWithout = struct {
	packages, libs []string
}{
	[]string{"server/auth", "server/place", "server/grant", "server/entry", "server/command", "server/board", "server/record", "server/boardsync", "server/age", "boardsim/firmware", "internal/access"},
	[]string{"net/http", "database/sql", "github.com/mochi-mqtt/server", "github.com/eclipse/paho.mqtt.golang"},
}

func TestImportRules(t *testing.T) {
	t.Parallel()
	for dir, imports := range importsByPackage(t) {
		for imp, file := range imports {
			for _, r := range never {
				if to, ours := strings.CutPrefix(imp, module); ours && covers(r.from, dir) && covers(r.to, to) {
					t.Errorf("%s: %s imports %s: %s", file, dir, to, r.why)
				}
			}
			for _, r := range onlyIn {
				if strings.HasPrefix(imp, r.lib) && !covers(r.where+"/...", dir) && dir != theFloor && (imp != codec || !slices.Contains(byCodec, dir)) {
					t.Errorf("%s: %s imports %s, only %s may: %s", file, dir, imp, r.where, r.why)
				}
			}
			for _, p := range rulesWithout.packages {
				for _, lib := range rulesWithout.libs {
					if dir == p && strings.HasPrefix(imp, lib) {
						t.Errorf("%s: %s imports %s: rules know no HTTP, SQL or MQTT", file, dir, imp)
					}
				}
			}
		}
	}
}

// TestServerTestsKnowNoBoards: the server's tests work without simulated boards, too.
func TestServerTestsKnowNoBoards(t *testing.T) {
	t.Parallel()
	both := "server/entry/agree_test.go" // asks the server, the firmware and a reference the same questions
	for _, file := range goFiles(t) {
		if !strings.HasPrefix(file, "server/") || file == both {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))(t)
		for _, imp := range f.Imports {
			if to, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module); ours && covers("boardsim/...", to) {
				t.Errorf("%s imports %s: the server must work with real boards; internal/pipe has the connection in memory", file, to)
			}
		}
	}
}

// TestLayers: imports between top-level folders are those of the table, each of
// them is used, and ARCHITECTURE.md shows the table.
func TestLayers(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for dir, imports := range importsByPackage(t) {
		from, _, _ := strings.Cut(dir, "/")
		for imp, file := range imports {
			to, ours := strings.CutPrefix(imp, module)
			if to, _, _ = strings.Cut(to, "/"); !ours || to == from {
				continue
			}
			used[from+" "+to] = true
			if !slices.ContainsFunc(layers, func(f layer) bool { return f.name == from && slices.Contains(f.may, to) }) {
				t.Errorf("%s: %s imports %s: want imports that go down, see the table of layers", file, from, to)
			}
		}
	}
	table := "| layer | may import | because |\n|---|---|---|\n"
	for _, f := range layers {
		may := "nothing of ours"
		if len(f.may) > 0 {
			may = "`" + strings.Join(f.may, "` `") + "`"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", f.name, may, f.why)
		for _, to := range f.may {
			if !used[f.name+" "+to] {
				t.Errorf("%s may import %s but doesn't: remove it from the table", f.name, to)
			}
		}
	}
	const page, begin, end = "ARCHITECTURE.md", "<!-- layers -->\n", "<!-- end -->\n"
	b := must.Get(os.ReadFile(page))(t)
	head, rest, _ := strings.Cut(string(b), begin)
	got, tail, _ := strings.Cut(rest, end)
	if got == table {
		return
	}
	if !*update {
		t.Fatalf("%s: the table of layers is stale; run `make docs`\n got %s\nwant %s", page, got, table)
	}
	must.OK(t, os.WriteFile(page, []byte(head+begin+table+end+tail), 0o644))
}

// TestEveryPackageHasARow: ARCHITECTURE.md says what each package is, and of nothing else.
func TestEveryPackageHasARow(t *testing.T) {
	t.Parallel()
	b := must.Get(os.ReadFile("ARCHITECTURE.md"))(t)
	_, part, _ := strings.Cut(string(b), "\n## Packages\n")
	part, _, _ = strings.Cut(part, "\n## ")
	rows := map[string]bool{}
	for line := range strings.Lines(part) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for path := range strings.FieldsSeq(cell) {
			if strings.HasPrefix(line, "| `") {
				rows[strings.Trim(path, "`")] = true
			}
		}
	}
	dirs := map[string]bool{}
	for _, file := range goFiles(t) {
		dirs[filepath.ToSlash(filepath.Dir(file))] = true
	}
	for path := range rows {
		if !dirs[path] {
			t.Errorf("ARCHITECTURE.md: %s is not a package", path)
		}
	}
	for dir := range dirs {
		if !rows[dir] && dir != "." && !strings.HasPrefix(dir, "tools/") {
			t.Errorf("ARCHITECTURE.md: want a row that says what %s is", dir)
		}
	}
}

func covers(rule, path string) bool {
	if base, ok := strings.CutSuffix(rule, "/..."); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	return rule == path
}

// TestStoreDecidesNothing: the store may name access' types, never ask for a decision.
func TestStoreDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if !strings.HasPrefix(file, "server/store/") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "access" && slices.Contains([]string{"Decide", "Mode", "OutageOver"}, sel.Sel.Name) {
				t.Errorf("%s uses access.%s: decisions are the rules' business", file, sel.Sel.Name)
			}
			return true
		})
	}
}

// TestPackagesHaveComments: each package opens with what it is and who may import it.
func TestPackagesHaveComments(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments))(t)
		text := f.Doc.Text()
		said[filepath.Dir(file)] = said[filepath.Dir(file)] || len(text) > 20
		if text != "" && f.Name.Name != "main" && !strings.HasPrefix(text, "Package "+f.Name.Name+" ") {
			t.Errorf("%s: got the package comment %.40q, want it to begin with Package %s", file, text, f.Name.Name)
		}
		if strings.Contains(text, "imports ") || strings.Contains(text, "may import") || strings.Contains(text, "import it") {
			t.Errorf("%s: the package comment lists imports; this test holds them", file)
		}
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("%s: no package comment", dir)
		}
	}
}

// importsByPackage maps a package's directory to what it imports outside of
// tests, and a file that does.
func importsByPackage(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))(t)
		dir := filepath.ToSlash(filepath.Dir(file))
		if out[dir] == nil {
			out[dir] = map[string]string{}
		}
		for _, imp := range f.Imports {
			out[dir][strings.Trim(imp.Path.Value, `"`)] = file
		}
	}
	return out
}

func goFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(tracked(t), func(f string) bool { return !strings.HasSuffix(f, ".go") })
}

// tracked are the files in git, or all files where there is no git.
func tracked(t *testing.T) (files []string) {
	t.Helper()
	if b, err := exec.Command("git", "ls-files", "-z").Output(); err == nil && len(b) > 0 {
		return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	}
	must.OK(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(path, "bin/") && !strings.HasPrefix(path, "runs/") {
			files = append(files, path)
		}
		return err
	}))
	return files
}
