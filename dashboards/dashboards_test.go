package dashboards

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// expression is one PromQL expression and where it was found. legend lists the labels used in its panel's legend or
// its alert's text.
type expression struct {
	where, text string
	legend      []string
}

var named = regexp.MustCompile(`{{\s*(?:\$labels\.)?(\w+)\s*}}`)

func legendOf(text string) (out []string) {
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

type rule struct {
	Record, Alert, Expr string
	For                 string
	Labels, Annotations map[string]string
}

func rules(t *testing.T) (out []rule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	read(t, "prometheus/rules.yml", func(b []byte) error { return yaml.UnmarshalWithOptions(b, &file, yaml.Strict()) })
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	if len(out) == 0 {
		t.Fatal("prometheus/rules.yml has no rules")
	}
	return out
}

type board struct {
	UID, Title string
	Panels     []struct {
		ID         int
		Type       string
		Title      string
		Datasource source
		GridPos    struct{ X, Y, W, H int }
		Targets    []struct {
			Expr, LegendFormat string
			Datasource         source
		}
	}
}

type source struct{ Type, UID string }

func boards(t *testing.T) map[string]board {
	t.Helper()
	files, err := filepath.Glob("grafana/boards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no boards in grafana/boards: %v", err)
	}
	out := map[string]board{}
	for _, f := range files {
		var b board
		read(t, f, func(raw []byte) error { return json.Unmarshal(raw, &b) })
		out[f] = b
	}
	return out
}

func read(t *testing.T, file string, decode func([]byte) error) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err == nil {
		err = decode(raw)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// expressions collects every expression in rules and panels.
func expressions(t *testing.T) (out []expression) {
	t.Helper()
	for _, r := range rules(t) {
		e := expression{where: "rule " + r.Record + r.Alert, text: r.Expr}
		for _, text := range r.Annotations {
			e.legend = append(e.legend, legendOf(text)...)
		}
		out = append(out, e)
	}
	for file, b := range boards(t) {
		for _, p := range b.Panels {
			for _, target := range p.Targets {
				out = append(out, expression{file + ": " + p.Title, target.Expr, legendOf(target.LegendFormat)})
			}
		}
	}
	return out
}

// ofPrometheus are the series and labels that the scraper adds to ours.
var (
	seriesOfPrometheus = map[string][]string{"up": {"job", "instance"}}
	labelsOfPrometheus = []string{"job", "instance", "le"}
)

// TestExpressions: every expression parses, and every metric it selects is exported by the running server or fleet,
// with each label it names. For equality matches, the label must also have that value.
func TestExpressions(t *testing.T) {
	t.Parallel()
	have := scrape(t)
	recorded := map[string][]string{}
	for _, r := range rules(t) {
		if r.Record != "" {
			recorded[r.Record] = labelsOf(t, r.Expr)
		}
	}
	for _, e := range expressions(t) {
		expr, err := parser.ParseExpr(strings.ReplaceAll(e.text, "$__rate_interval", "1m"))
		if err != nil {
			t.Errorf("%s: %s: %v", e.where, e.text, err)
			continue
		}
		known := slices.Clone(labelsOfPrometheus)
		parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			names, isRecorded := recorded[s.Name]
			if !isRecorded {
				names, ok = seriesOfPrometheus[s.Name]
				isRecorded = ok
			}
			if m, ours := have[s.Name]; ours {
				known = append(known, slices.Collect(maps.Keys(m))...)
				checkMatchers(t, e, s, m)
			} else if isRecorded {
				known = append(known, names...)
			} else {
				t.Errorf("%s: %s is not exported by the server or the fleet", e.where, s.Name)
			}
			return nil
		})
		for _, l := range append(labelsOf(t, e.text), e.legend...) {
			if l != "value" && !slices.Contains(known, l) {
				t.Errorf("%s: no metric of %s has the label %q, they have %q", e.where, e.text, l, known)
			}
		}
	}
}

func checkMatchers(t *testing.T, e expression, s *parser.VectorSelector, have map[string][]string) {
	t.Helper()
	for _, m := range s.LabelMatchers {
		values, ok := have[m.Name]
		switch {
		case m.Name == labels.MetricName || slices.Contains(labelsOfPrometheus, m.Name):
		case !ok:
			t.Errorf("%s: %s has no label %q", e.where, s.Name, m.Name)
		case m.Type == labels.MatchEqual && !slices.Contains(values, m.Value):
			t.Errorf("%s: label %s of %s has no value %q, it has %q", e.where, m.Name, s.Name, m.Value, values)
		}
	}
}

// labelsOf returns the labels that an expression groups or joins by.
func labelsOf(t *testing.T, text string) (out []string) {
	t.Helper()
	expr, err := parser.ParseExpr(strings.ReplaceAll(text, "$__rate_interval", "1m"))
	if err != nil {
		return nil // TestExpressions reports it
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.AggregateExpr:
			out = append(out, n.Grouping...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				out = append(out, n.VectorMatching.MatchingLabels...)
			}
		}
		return nil
	})
	return out
}

// TestBoards checks what Grafana needs to load a dashboard unchanged.
func TestBoards(t *testing.T) {
	t.Parallel()
	uids := map[string]string{}
	for file, b := range boards(t) {
		if b.UID == "" || b.Title == "" || uids[b.UID] != "" {
			t.Errorf("%s: uid %q and title %q must be given, and the uid be nobody else's (%q)", file, b.UID, b.Title, uids[b.UID])
		}
		uids[b.UID] = file
		if want := "grafana/boards/" + b.UID + ".json"; file != want {
			t.Errorf("%s: the file of %q should be %s", file, b.UID, want)
		}
		ids := map[int]bool{}
		for _, p := range b.Panels {
			if ids[p.ID] || p.ID == 0 {
				t.Errorf("%s: panel %q has id %d, want a unique one that isn't 0", file, p.Title, p.ID)
			}
			ids[p.ID] = true
			if !slices.Contains([]string{"timeseries", "stat"}, p.Type) || len(p.Targets) == 0 || p.Title == "" {
				t.Errorf("%s: panel %q of type %q with %d targets: want a title, timeseries or stat, and a target", file, p.Title, p.Type, len(p.Targets))
			}
			if g := p.GridPos; g.W <= 0 || g.H <= 0 || g.X < 0 || g.X+g.W > 24 {
				t.Errorf("%s: panel %q at %+v doesn't fit into the 24 columns", file, p.Title, g)
			}
			for _, target := range p.Targets {
				if target.Datasource != (source{"prometheus", "prometheus"}) {
					t.Errorf("%s: panel %q asks %+v, want the provisioned data source prometheus", file, p.Title, target.Datasource)
				}
			}
		}
	}
}

// TestAlertsAreTested: each alert has a unit test in which it fires and one in which it stays silent.
func TestAlertsAreTested(t *testing.T) {
	t.Parallel()
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert  string `yaml:"alertname"`
				Expect []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	read(t, "prometheus/rules_test.yml", func(b []byte) error { return yaml.Unmarshal(b, &file) })
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		for _, c := range test.Cases {
			fires[c.Alert] = fires[c.Alert] || len(c.Expect) > 0
			silent[c.Alert] = silent[c.Alert] || len(c.Expect) == 0
		}
	}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		if !fires[r.Alert] || !silent[r.Alert] {
			t.Errorf("alert %s: fires in a test: %v, stays silent in one: %v; want both", r.Alert, fires[r.Alert], silent[r.Alert])
		}
		if r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
			t.Errorf("alert %s lacks a severity or a summary, want both", r.Alert)
		}
	}
}
