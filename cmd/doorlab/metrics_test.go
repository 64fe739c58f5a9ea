package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/internal/must"
)

// TestMetricsFail: metrics that can't be kept end a run that was fine with 1; the code of any other run stays, and the
// trouble is said. A run that ended before it had a directory has nothing to keep.
func TestMetricsFail(t *testing.T) {
	t.Parallel()
	broken := errors.New("threshold broken")
	dir := t.TempDir()
	file := filepath.Join(dir, "a file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	for name, x := range map[string]struct {
		dir  string
		run  error
		want string
		said bool
	}{
		"fine":          {dir, nil, "", false},
		"no directory":  {filepath.Join(dir, "none"), nil, "metrics.prom: ", false},
		"broken before": {filepath.Join(dir, "none"), broken, "threshold broken", false},
		"broken both":   {filepath.Join(file, "in it"), broken, "threshold broken", true},
	} {
		var said bytes.Buffer
		f := metricsFlag{addr: "127.0.0.1:0"}
		end := must.Get(f.serve(&env{err: &said}, prometheus.NewRegistry()))(t)
		got := ""
		if err := end(x.dir, x.run); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, x.want) || x.want == "" && got != "" || strings.Contains(said.String(), "doorlab: metrics.prom: ") != x.said {
			t.Errorf("%s: got %q and said %q, want %q, said %v", name, got, said.String(), x.want, x.said)
		}
	}
	taken := metricsFlag{addr: "127.0.0.1:0"}
	var said bytes.Buffer
	end := must.Get(taken.serve(&env{err: &said}, prometheus.NewRegistry()))(t)
	addr, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(said.String()), "metrics: http://"), "/")
	if _, err := (&metricsFlag{addr: addr}).serve(&env{err: &said}, prometheus.NewRegistry()); err == nil || !strings.Contains(err.Error(), "--metrics") {
		t.Errorf("a second listener on %s: %v, want an error that names --metrics", addr, err)
	}
	must.OK(t, end(dir, nil))
}
