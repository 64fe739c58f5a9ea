package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// block is the README's first fenced block of a language that holds a mark.
func block(t *testing.T, lang, mark string) string {
	t.Helper()
	raw := must.Get(os.ReadFile("../../README.md"))(t)
	for _, part := range strings.Split(string(raw), "```"+lang+"\n")[1:] {
		code, _, _ := strings.Cut(part, "```")
		if strings.Contains(code, mark) {
			return code
		}
	}
	t.Fatalf("README.md has no %s block with %q", lang, mark)
	return ""
}

// The commands that the README offers to paste work as they are.
func TestReadmeCurls(t *testing.T) {
	t.Parallel()
	p := start(t, "up", "--json", "--boards", "10", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0")
	code := strings.Replace(block(t, "sh", "accessToken"), "http://127.0.0.1:8080", p.server().HTTP, 1)
	out, err := exec.Command("bash", "-eu", "-c", code).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`"permitId":"pmt_`, `"url":"`, `"outcome":"reported"`, `"result":"opened"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

func TestReadmeScenario(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "outage.yaml")
	must.OK(t, os.WriteFile(file, []byte(block(t, "yaml", "cohort")), 0o600))
	var out, errOut strings.Builder
	if code := runUntilSignal([]string{"check", "--boards", "10", "--out", filepath.Join(dir, "run"), file}, strings.NewReader(""), &out, &errOut, os.Getenv); code != codeOK {
		t.Errorf("exit code %d, want %d\n%s%s", code, codeOK, &out, &errOut)
	}
}

// TestReadmeIsShort: a stranger reads fewer than 150 lines.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	raw := must.Get(os.ReadFile("../../README.md"))(t)
	if got := strings.Count(string(raw), "\n"); got >= 150 {
		t.Errorf("README.md has %d lines, want fewer than 150", got)
	}
}
