package main

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script: what a person types, what they get to read,
// the exit code, and that a refused start has changed nothing.
func TestScripts(t *testing.T) {
	t.Parallel()
	bin := releaseDir(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+":"+e.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits,
			"oneline":   oneLine,
			"freeport":  freePorts,
			"taken":     takenPort,
			"remember":  remember,
			"unchanged": unchanged,
			"newer":     newer,
			"private":   private,
		},
	})
}

// exits CODE doorlab args... runs a command and checks its exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		code = ended.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// oneline checks that nothing but one line was written, to stderr.
func oneLine(ts *testscript.TestScript, _ bool, _ []string) {
	if got := ts.ReadFile("stderr"); strings.Count(got, "\n") != 1 {
		ts.Fatalf("stderr is not one line: %q", got)
	}
	if got := ts.ReadFile("stdout"); got != "" {
		ts.Fatalf("stdout: %q", got)
	}
}

// private FILE checks that only its owner can read a file.
func private(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := info.Mode().Perm(); got != 0o600 {
		ts.Fatalf("%s has mode %04o, want 0600", args[0], got)
	}
}

// freeport NAME... sets each to a free address.
func freePorts(ts *testscript.TestScript, _ bool, names []string) {
	for _, name := range names {
		addr, err := freePort()
		ts.Check(err)
		ts.Setenv(name, addr)
	}
}

// taken NAME sets it to an address that is in use.
func takenPort(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv(args[0], l.Addr().String())
}

// remember DIR notes what is in it, for unchanged DIR.
func remember(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv("REMEMBERED", contents(ts, args[0]))
}

func unchanged(ts *testscript.TestScript, _ bool, args []string) {
	if got := contents(ts, args[0]); got != ts.Getenv("REMEMBERED") {
		ts.Fatalf("%s has changed: %s\nwas %s", args[0], got, ts.Getenv("REMEMBERED"))
	}
}

func contents(ts *testscript.TestScript, dir string) string {
	var out []string
	root := ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out = append(out, fmt.Sprintf("%s:%x", strings.TrimPrefix(path, root), sha256.Sum256(b)))
		return err
	}))
	return strings.Join(out, " ")
}

// newer DIR makes its database one of a later version of the program.
func newer(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite3", ts.MkAbs(filepath.Join(args[0], "doorlab.db")))
	ts.Check(err)
	_, err = db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	ts.Check(err)
	ts.Check(db.Close())
}
