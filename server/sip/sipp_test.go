package sip

import (
	_ "embed"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

//go:embed testdata/call.xml
var callScenario string

// TestSipp lets Debian's sipp place calls over UDP, including retransmissions.
func TestSipp(t *testing.T) {
	t.Parallel()
	sipp := must.Have(t, "sipp", "sip-tester")
	s := must.Get(Start(Config{Addr: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Caller: calls{
		"05012345678 01011112222": {Answered: true, Result: "opened"},
		"05012345678 01033334444": {Answered: true, Result: "denied"},
	}}))(t)
	t.Cleanup(func() { _ = s.Stop() })
	for _, c := range []struct{ name, to, from, status string }{
		{"opened", "05012345678", "01011112222", "486"},
		{"denied", "05012345678", "01033334444", "603"},
		{"wrong number", "05088887777", "01011112222", "404"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "call.xml")
			text := strings.NewReplacer("$from$", c.from, "$status$", c.status).Replace(callScenario)
			must.OK(t, os.WriteFile(file, []byte(text), 0o600))
			cmd := exec.Command(sipp, "-sf", file, "-s", c.to, "-m", "1", "-i", "127.0.0.1", "-nostdin", "-timeout", "20s", "-timeout_error", s.Addr())
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "TERM=dumb")
			if out, err := cmd.CombinedOutput(); err != nil {
				tail := string(out)
				t.Errorf("sipp: %v\n%s", err, tail[max(0, len(tail)-1500):])
			}
		})
	}
}
