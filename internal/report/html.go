package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/plot"
)

//go:embed page/layout.html
var layout string

//go:embed page/check.html
var checkPage string

//go:embed page/style.css
var style string

//go:embed page/page.js
var script string

// Page makes a template of a self-contained page in the reports' style: body defines "title", "head" (the verdict) and
// "main". It loads nothing, and a content security policy forbids that.
func Page(body string, funcs template.FuncMap) *template.Template {
	sum := sha256.Sum256([]byte(script))
	policy := "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	text := strings.NewReplacer("/*style*/", style, "/*script*/", script, "/*policy*/", policy).Replace(layout)
	return template.Must(template.Must(template.New("report").Funcs(shared).Funcs(funcs).Parse(text)).Parse(body))
}

// shared are the functions that every page can use.
var shared = template.FuncMap{
	"lower": func(s judge.Status) string { return strings.ToLower(string(s)) },
	"first": FirstLine, "rest": func(s string) string { _, r, _ := strings.Cut(s, "\n"); return r },
	"time": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") },
	"num":  amount.Number[int],
	"many": amount.Many, "took": took, "tookMs": func(ms float64) string { return took(ms / 1000) },
	"pretty": pretty, "lanes": lanes, "exercised": exercised, "idle": idle,
	"routine": history.Routine, "caught": caught,
	"last": func(i, n int) bool { return i == n-1 },
}

// caught is what a ledger says about planted bugs, for a column whose head says what the numbers are.
func caught(planted string) string {
	numbers, _, _ := strings.Cut(strings.TrimPrefix(planted, "its checks catch "), " planted")
	return numbers
}

// took writes a duration in seconds for people.
func took(s float64) string {
	if r := rounded(s); r > 0 {
		return amount.Duration(r)
	}
	return "under 1 ms"
}

// rounded rounds seconds to what people want to know.
func rounded(s float64) float64 {
	switch {
	case s < 1:
		return float64(int(s*1000+.5)) / 1000
	case s < 60:
		return float64(int(s*10+.5)) / 10
	}
	return float64(int(s + .5))
}

// pretty indents a text that is JSON.
func pretty(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	switch v.(type) {
	case map[string]any, []any:
	default:
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(v) != nil {
		return text
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var checkTemplate = Page(checkPage, template.FuncMap{"stem": stem, "sentence": sentence, "columns": columns})

// checkView is what the page of a run shows.
type checkView struct {
	Result
	Failures []Failure
	Course   []plot.Chart
	Spreads  []plot.Chart
	kinds    map[string]int
}

// WriteHTML writes a self-contained page: failures first, then the run on one time axis, distributions, the guarantees
// with their evidence, the scenarios.
func WriteHTML(w io.Writer, res Result) error {
	d := draw(res)
	if len(res.Shards) > 0 {
		d = overlay(res)
	}
	v := checkView{Result: res, Failures: Failures(res), Course: perBar(d.telling(), d.seconds), kinds: d.kinds}
	addAxes(res, v.Failures)
	for _, s := range []struct {
		id, title string
		values    []float64
		limit     float64
	}{{"latency", "Request latency", d.latencies, 0}, {"sync-lag", "Synchronization lag", d.lags, 300_000}} {
		if len(s.values) >= fewValues {
			v.Spreads = append(v.Spreads, plot.Spread(s.id, s.title, s.values, s.limit))
		}
	}
	return checkTemplate.Execute(w, v)
}

// fewValues is how many values a picture needs to show more than the list of them.
const fewValues = 20

// telling are the tracks without those of so few requests, openings or hits that they are a few dots.
func (d drawn) telling() []plot.Chart {
	return slices.DeleteFunc(slices.Clone(d.tracks), func(c plot.Chart) bool {
		if !strings.HasPrefix(c.Unit, rate) || len(c.Lines) == 0 {
			return false
		}
		sum := 0.0
		for _, p := range c.Lines[0].Points { // all of them; the others are parts
			sum += p.Y * d.seconds / bins
		}
		return sum < fewValues-.5
	})
}

// counted is the number of events of a kind.
type counted struct {
	Kind string
	N    int
}

// Counts are the numbers of events, by kind.
func (v checkView) Counts() []counted {
	return each.Of(slices.Sorted(maps.Keys(v.kinds)), func(kind string) counted { return counted{kind, v.kinds[kind]} })
}

// String is the count beside the kind of event.
func (c counted) String() string { return fmt.Sprintf("%s %s", amount.Number(c.N), c.Kind) }

// exercised are the rows of a ledger that were exercised.
func exercised(rows []judge.Row) []judge.Row {
	return each.If(rows, func(r judge.Row) bool { return !untouched(r) })
}

// idle are the rows that weren't.
func idle(rows []judge.Row) []judge.Row { return each.If(rows, untouched) }

// untouched: nothing put it to the test, and no step claimed it.
func untouched(r judge.Row) bool { return r.Status == judge.Skipped && r.Checked == r.Judged }
