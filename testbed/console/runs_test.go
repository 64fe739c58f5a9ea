package console

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestRuns: the page lists the results of check and load, newest first, with verdict and link to the report. A file
// that is still being written is left out.
func TestRuns(t *testing.T) {
	t.Parallel()
	c, _ := newTestConsole(t)
	c.cfg.Runs = t.TempDir()
	for _, want := range []string{"No runs in " + c.cfg.Runs + " yet.", "doorlab check --smoke --out " + c.cfg.Runs + "/first"} {
		if page := c.ask(ask{method: http.MethodGet, path: "/runs", in: true}).Body.String(); !strings.Contains(page, want) {
			t.Errorf("without a run the page doesn't say %q", want)
		}
	}
	for i, run := range []struct{ dir, file, text string }{
		{"a-check", "verdicts.json", `{"status":"PASS","seed":7,"started":"2026-11-02T03:00:00Z","seconds":2,"files":[{"status":"PASS"},{"status":"SKIPPED"}]}`},
		{"load-b", "result.json", `{"verdict":"FAIL","reasons":["p99_reported is 900ms, the limit is 100ms"],"seed":8,"plan":{"name":"evening"},"sent":12345,"sentRate":299.7,"seconds":41,"started":"2026-11-02T03:01:00Z"}`},
		{"load-c", "result.json", `{"verdict":"INV`},
	} {
		file := filepath.Join(c.cfg.Runs, run.dir, run.file)
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.OK(t, os.WriteFile(file, []byte(run.text), 0o600))
		at := time.Date(2026, 11, 2, 3, i, 0, 0, time.UTC)
		must.OK(t, os.Chtimes(file, at, at))
	}
	must.OK(t, os.WriteFile(filepath.Join(c.cfg.Runs, "load-b", "report.html"), []byte("the report"), 0o600))
	rows := regexp.MustCompile(`(?s)<tr data-row>.*?</tr>`).FindAllString(c.ask(ask{method: http.MethodGet, path: "/runs", in: true}).Body.String(), -1)
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2:\n%s", len(rows), rows)
	}
	for i, want := range [][]string{
		{`<a href="/runs/load-b">FAIL</a>`, "load evening", "12,345 requests, 300 per second", "41 s", "the limit is 100ms"},
		{`<a href="/runs/a-check">PASS</a>`, "check", "1 of 2 scenarios passed", "2 s"},
	} {
		for _, w := range want {
			if !strings.Contains(rows[i], w) {
				t.Errorf("row %d lacks %q:\n%s", i+1, w, rows[i])
			}
		}
	}
	if got := c.ask(ask{method: http.MethodGet, path: "/runs/load-b", in: true}); got.Code != http.StatusOK || got.Body.String() != "the report" {
		t.Errorf("the report: %d %q, want it as it is", got.Code, got.Body)
	}
	if v := c.health(); v.Run == nil || v.Run.Status != "FAIL" {
		t.Errorf("the start page's last run is %+v, want the load", v.Run)
	}
}

// TestRunOfAnyName: a run's report opens by its link, whatever its directory is called; a browser may escape the address in
// lower case. Signed out, the link leads to the page to sign in, and from there to the report.
func TestRunOfAnyName(t *testing.T) {
	t.Parallel()
	c, _ := newTestConsole(t)
	c.cfg.Runs = t.TempDir()
	href := regexp.MustCompile(`<a href="(/runs/[^"]*)">`)
	for _, name := range []string{"한글", "a#b", "a?b", "50%", "a%41", "a b+c&d", `"<'`} {
		dir := filepath.Join(c.cfg.Runs, name)
		must.OK(t, os.MkdirAll(dir, 0o700))
		must.OK(t, os.WriteFile(filepath.Join(dir, "verdicts.json"), []byte(`{"status":"PASS"}`), 0o600))
		must.OK(t, os.WriteFile(filepath.Join(dir, "report.html"), []byte(name), 0o600))
		links := href.FindStringSubmatch(c.ask(ask{method: http.MethodGet, path: "/runs", in: true}).Body.String())
		must.OK(t, os.RemoveAll(filepath.Join(dir, "verdicts.json")))
		if links == nil {
			t.Errorf("%s: no link on the page", name)
			continue
		}
		link := html.UnescapeString(links[1])
		for _, path := range []string{link, regexp.MustCompile(`%..`).ReplaceAllStringFunc(link, strings.ToLower)} {
			if got := c.ask(ask{method: http.MethodGet, path: path, in: true}); got.Code != http.StatusOK || got.Body.String() != name {
				t.Errorf("%s: %s answers %d %q, want its report", name, path, got.Code, got.Body)
			}
		}
		out := c.ask(ask{method: http.MethodGet, path: link})
		if to, err := url.Parse(out.Header().Get("Location")); err != nil || out.Code != http.StatusSeeOther || to.Path != "/login" || to.Query().Get("next") != link || inside(link) != link {
			t.Errorf("%s, signed out: %d to %s, want 303 to sign in for %s", name, out.Code, to, link)
		}
	}
	for _, path := range []string{"/runs/..%2Frun", "/runs/%2e%2e", "/runs/.hidden", "/runs/none"} {
		if got := c.ask(ask{method: http.MethodGet, path: path, in: true}); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, got.Code)
		}
	}
}
