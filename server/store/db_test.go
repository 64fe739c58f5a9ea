package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/store/db"
)

var (
	named     = regexp.MustCompile(`(?m)^-- name: (\w+) :\w+$`)
	rewritten = regexp.MustCompile(`\*|sqlc\.\w+\([^)]*\)`)
)

// TestQueriesAreGenerated: package db is exactly what queries/*.sql generates. If it fails: make generate.
func TestQueriesAreGenerated(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("queries"), "*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	methods := reflect.TypeFor[*db.Queries]()
	want := map[string]bool{"WithTx": true}
	for _, file := range files {
		sql := must.Get(os.ReadFile(filepath.Join("queries", file)))(t)
		code, err := os.ReadFile(filepath.Join("db", file+".go"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range named.FindAllStringSubmatchIndex(string(sql), -1) {
			head, name := string(sql[m[0]:m[1]]), string(sql[m[2]:m[3]])
			want[name] = true
			if _, ok := methods.MethodByName(name); !ok || !strings.Contains(string(code), "`"+head+"\n") {
				t.Errorf("%s: %s is not in package db", file, head)
				continue
			}
			body, _, _ := strings.Cut(string(sql[m[1]:]), ";")
			var kept []string // the parts that sqlc doesn't rewrite
			for _, part := range rewritten.Split(strings.TrimSpace(body), -1) {
				kept = append(kept, regexp.QuoteMeta(part))
			}
			if !regexp.MustCompile("`" + head + "\n" + strings.Join(kept, ".+") + "\n`").Match(code) {
				t.Errorf("%s: %s has changed since package db was made", file, name)
			}
		}
	}
	for method := range methods.Methods() {
		if name := method.Name; !want[name] {
			t.Errorf("package db has %s, queries/*.sql has not", name)
		}
	}
}
