package console

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
)

// runsView lists the runs whose directories are in Config.Runs.
func (c *Console) runsView(*http.Request) (any, error) {
	return runsView{Dir: c.cfg.Runs, Runs: c.runs(keepRuns)}, nil
}

const keepRuns = 100

type runsView struct {
	Dir  string // "" = nowhere
	Runs []runRow
}

// Example is a directory for a first run.
func (v runsView) Example() string { return filepath.Join(v.Dir, "first") }

// runRow is one run: of check, or of load, which has a plan and no files.
type runRow struct {
	Name    string    `json:"-"`
	Status  string    `json:"status"`
	Verdict string    `json:"verdict"` // of a load
	Reason  string    `json:"reason"`
	Reasons []string  `json:"reasons"` // of a load
	Seed    int64     `json:"seed"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Files   []struct {
		Status string `json:"status"`
	} `json:"files"`
	Plan struct {
		Name string `json:"name"`
	} `json:"plan"`
	Sent     int64   `json:"sent"`
	SentRate float64 `json:"sentRate"`

	What                    string `json:"-"` // check, or load with its plan's name
	Took, When, Class, Sign string `json:"-"`
	Passed, Count           int    `json:"-"`
}

// Link is the address of its report, whatever its directory is called.
func (r runRow) Link() string { return "/runs/" + url.PathEscape(r.Name) }

// Load reports whether it is a load's.
func (r runRow) Load() bool { return r.Verdict != "" }

// Requests and Rate are a load's.
func (r runRow) Requests() string { return amount.Number(r.Sent) }
func (r runRow) Rate() string     { return amount.Number(int64(r.SentRate + .5)) }

// runCache keeps what was read: a run's verdicts don't change.
type runCache struct {
	mu   sync.Mutex
	rows map[string]runRow // by file
	at   map[string]time.Time
}

// runs are the latest n, newest first.
func (c *Console) runs(n int) (out []runRow) {
	if c.cfg.Runs == "" {
		return nil
	}
	type dated struct {
		path string
		at   time.Time
	}
	var files []dated
	for _, name := range []string{"verdicts.json", "result.json"} { // of check, of load
		some, _ := fs.Glob(os.DirFS(c.cfg.Runs), "*/"+name) // the directory itself is no pattern
		for _, path := range some {
			path = filepath.Join(c.cfg.Runs, path)
			if info, err := os.Stat(path); err == nil {
				files = append(files, dated{path, info.ModTime()})
			}
		}
	}
	slices.SortFunc(files, func(a, b dated) int { return b.at.Compare(a.at) })
	for _, f := range files {
		if len(out) == n {
			break
		}
		if row, ok := c.ran.read(f.path, f.at); ok { // otherwise it is still being written
			out = append(out, row)
		}
	}
	return out
}

func (k *runCache) read(path string, at time.Time) (row runRow, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at[path].Equal(at) {
		return k.rows[path], true
	}
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &row) != nil {
		return row, false
	}
	row.Name = filepath.Base(filepath.Dir(path))
	row.Took, row.When = span(time.Duration(row.Seconds*float64(time.Second))), when(row.Started)
	row.What, row.Class, row.Sign = "check", "bad", "✕"
	if row.Load() {
		row.What, row.Status, row.Reason = "load "+row.Plan.Name, row.Verdict, strings.Join(row.Reasons, "; ")
	}
	switch row.Status {
	case "PASS":
		row.Class, row.Sign = "ok", "✓"
	case "INVALID", "BLOCKED", "SKIPPED":
		row.Class, row.Sign = "wait", "?"
	}
	row.Count = len(row.Files)
	for _, f := range row.Files {
		if f.Status == "PASS" {
			row.Passed++
		}
	}
	row.Files = nil
	if k.rows == nil {
		k.rows, k.at = map[string]runRow{}, map[string]time.Time{}
	}
	k.rows[path], k.at[path] = row, at
	return row, true
}

// reportPolicy lets a report use only what is in its own file; it can't reach the console either.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; sandbox allow-scripts"

// report serves a run's report.
func (c *Console) report(w http.ResponseWriter, r *http.Request) {
	if !c.session.open(r) {
		c.toLogin(w, r)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/runs/") // decoded, whatever the browser escaped
	if c.cfg.Runs == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		c.nowhere(w, r)
		return
	}
	b, err := os.ReadFile(filepath.Join(c.cfg.Runs, name, "report.html"))
	if err != nil {
		c.nowhere(w, r)
		return
	}
	guard(w.Header())
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b)
}
