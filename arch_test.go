package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/doorlab/doorlab/"

// never lists imports that must not exist, with the reason. A prefix that ends
// in "/..." covers everything below it.
var never = []struct{ from, to, why string }{
	{"boardsim/...", "server/...", "a board knows only what was synchronized to it"},
	{"server/...", "boardsim/...", "the server must work with real boards"},
	{"loadtest/...", "server/...", "load speaks HTTP, so it runs against any deployment"},
	{"loadtest/...", "boardsim/...", "load speaks HTTP, so it runs against any deployment"},
	{"internal/scenario/...", "server/...", "scenarios speak HTTP and the control API"},
	{"internal/scenario/...", "boardsim/...", "scenarios speak HTTP and the control API"},
	{"internal/history/...", "server/...", "the judge stands apart"},
	{"internal/history/...", "boardsim/...", "the judge stands apart"},
	{"internal/history/...", "internal/access", "the judge has its own reference of the decision"},
	{"internal/history/...", "internal/wire", "the judge stands apart"},
	{"internal/access/...", "internal/clock", "the decision takes now as a value"},
	{"internal/wire/...", "internal/clock", "wire types read no clock"},
	{"boardsim/firmware", "internal/clock", "the firmware takes now as a value"},
	{"server/auth", "server/store", "rules know no SQL"},
	{"server/grant", "server/store", "rules know no SQL"},
	{"server/place", "server/store", "rules know no SQL"},
	{"server/entry", "server/store", "rules know no SQL"},
	{"server/device", "server/store", "rules know no SQL"},
	{"server/boardsync", "server/store", "rules know no SQL"},
	{"server/api", "server/store", "adapters never import each other"},
	{"server/api", "server/gateway", "adapters never import each other"},
	{"server/api/gen/...", "server/rule", "generated types hold no rules"},
	{"server/gateway", "server/api", "adapters never import each other"},
	{"server/gateway", "server/store", "adapters never import each other"},
	{"server/store", "server/api", "adapters never import each other"},
	{"server/store", "server/gateway", "adapters never import each other"},
}

// onlyIn says which package alone may use a library.
var onlyIn = []struct{ lib, where, why string }{
	{"github.com/mochi-mqtt/server", "server/gateway", "any broker must be able to replace it"},
	{module + "server/store/db", "server/store", "SQL is made by sqlc and used by the store"},
	{"github.com/mattn/go-sqlite3", "server/store", "only the store touches SQL"},
	{"github.com/eclipse/paho.mqtt.golang", "boardsim", "the boards' MQTT client"},
	{module + "server/api/gen", "server/api", "what goes over HTTP takes its shape at the edge"},
	{module + "server/api/stamp", "server/api", "the rules know times, not how they are written"},
	{"github.com/spf13/cobra", "internal/cli", "the command line"},
}

// rulesWithout: packages of rules import no HTTP, SQL or MQTT.
var rulesWithout = struct {
	packages, libs []string
}{
	[]string{"server/auth", "server/place", "server/grant", "server/entry", "server/device", "server/boardsync", "boardsim/firmware", "internal/access"},
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
				if strings.HasPrefix(imp, r.lib) && !covers(r.where+"/...", dir) {
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

func covers(rule, path string) bool {
	if base, ok := strings.CutSuffix(rule, "/..."); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	return rule == path
}

// TestPackagesHaveComments: each package opens with what it is and who may import it.
func TestPackagesHaveComments(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		said[filepath.Dir(file)] = said[filepath.Dir(file)] || f.Doc != nil && len(f.Doc.Text()) > 20
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
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
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

func goFiles(t *testing.T) (files []string) {
	t.Helper()
	if b, err := exec.Command("git", "ls-files", "*.go").Output(); err == nil && len(b) > 0 {
		for f := range strings.FieldsSeq(string(b)) {
			files = append(files, f)
		}
		return files
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
