package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/doorlab/doorlab/internal/bug"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios"
)

// TestAlerts ('make alerts-test', a minute) causes what the alerts of
// dashboards/prometheus/rules.yml are for, on a server and boards in processes of
// their own, and keeps what their metrics pages show meanwhile. Prometheus' own
// promtool evaluates the rules over these series: each alert fires while its cause
// lasts and no longer, and none fires in the calm part of the suite. Only time is
// stretched: the scrapes follow each other at once and count as 15 s apart.
func TestAlerts(t *testing.T) {
	if os.Getenv("DOORLAB_ALERTS") == "" {
		t.Skip("causes every alert on real processes (a minute); run it with 'make alerts-test'")
	}
	bin := buildPlanted(t)
	var fired sync.Map
	t.Run("all", func(t *testing.T) {
		for name, play := range map[string]func(*alertLab){"calm": calmSuite, "sync lag": syncLag, "boards offline": boardsOffline,
			"double actuation": doubleActuation, "disk full": fullDisk, "boards say nothing": silentBoards, "process down": processDown} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				env := []string(nil)
				if name == "double actuation" {
					env = []string{"DOORLAB_BUG=" + bug.BoardActsTwice}
				}
				l := newAlertLab(t, bin, env)
				play(l)
				l.evaluate()
				for _, p := range l.phases {
					for _, alert := range p.fires {
						fired.Store(alert, true)
					}
				}
			})
		}
	})
	// rules_test.yml fires these on series made by hand
	byHand := []string{"BrokerPanic", "RecordsLost", "CertificateEnds"}
	for _, alert := range alertNames(t) {
		if _, ok := fired.Load(alert); !ok && !slices.Contains(byHand, alert) && !t.Failed() {
			t.Errorf("%s: nothing caused it", alert)
		}
	}
}

const rulesFile = "../../dashboards/prometheus/rules.yml"

func alertNames(t *testing.T) (names []string) {
	t.Helper()
	raw := must.Get(os.ReadFile(rulesFile))(t)
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllSubmatch(raw, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// Scrapes: more than the longest window of the rules (5 min) and wait (5 min).
const (
	calmScrapes = 24
	badScrapes  = 44
	wellScrapes = 28
)

// calmSuite plays the scenarios that break nothing and move no time, and a load.
func calmSuite(l *alertLab) {
	files := must.Get(scenarios.Files.ReadDir("."))(l.t)
	loud := regexp.MustCompile(`\b(fault|clock|server|power|kill|crash|load)\b`)
	target := []string{"--target", l.public.Base, "--control", l.lab.Base, "--control", l.boards.Base, "--control-token", "t"}
	check := append([]string{"check", "--out", filepath.Join(l.t.TempDir(), "run")}, target...)
	n := 0
	for _, f := range files {
		raw, err := scenarios.Files.ReadFile(f.Name())
		if err == nil && strings.HasSuffix(f.Name(), ".yaml") && !loud.Match(raw) {
			check, n = append(check, strings.TrimSuffix(f.Name(), ".yaml")), n+1
		}
	}
	if n < 8 {
		l.t.Fatalf("%d calm scenarios, want at least 8", n)
	}
	load := append([]string{"load", "door-commands", "--out", filepath.Join(l.t.TempDir(), "load")}, target...)
	done := make(chan string, 1)
	go func() {
		for _, args := range [][]string{check, load} {
			if code, out, errs := runQuietly(l.t.Context(), args...); code != codeOK {
				done <- fmt.Sprintf("doorlab %s: exit code %d\n%s%s", args[0], code, out, errs)
				return
			}
		}
		done <- ""
	}()
	tick := time.NewTicker(200 * time.Millisecond) // how often it is looked at
	defer tick.Stop()
	for {
		select {
		case failed := <-done:
			if failed != "" {
				l.t.Fatal(failed)
			}
			l.phase(calmScrapes, nil)
			return
		case <-tick.C:
			l.phase(1, nil)
		}
	}
}

func syncLag(l *alertLab) {
	l.phase(calmScrapes, nil)
	l.fault(map[string]any{"fault": "lossy", "boards": []string{l.board}, "params": map[string]any{"percent": 100}}) // connected all the same
	l.permit()
	l.advance("6m")
	l.phase(badScrapes, nil, "SyncLag")
	l.mend("doorlab_sync_lag_seconds", "0", "SyncLag")
}

func boardsOffline(l *alertLab) {
	l.phase(calmScrapes, nil)
	l.fault(map[string]any{"fault": "offline", "share": 0.5})
	l.phase(badScrapes, nil, "BoardsOffline")
	l.advance("37h")
	l.phase(badScrapes, nil, "BoardsOffline", "BoardsStopped")
	l.mend("doorlab_boards_online", l.value("doorlab_boards"), "BoardsOffline", "BoardsStopped")
}

func doubleActuation(l *alertLab) {
	l.phase(calmScrapes, nil)
	l.command("once", http.StatusOK)
	l.phase(4, nil, "DoubleActuation")
	l.mend("doorlab_store_writable", "1", "DoubleActuation")
}

func fullDisk(l *alertLab) {
	l.phase(calmScrapes, func(i int) { l.command(fmt.Sprint("before", i), http.StatusOK) })
	l.disk.turn(diskFull, 0)
	l.phase(badScrapes, func(i int) { l.command(fmt.Sprint("full", i), http.StatusServiceUnavailable) }, "DatabaseTakesNoWrites", "RequestsFailing")
	l.disk.turn(diskFine, 0)
	l.mend("doorlab_store_writable", "1", "DatabaseTakesNoWrites", "RequestsFailing")
}

func silentBoards(l *alertLab) {
	l.phase(calmScrapes, func(i int) { l.command(fmt.Sprint("before", i), http.StatusOK) })
	l.fault(map[string]any{"fault": "silent", "share": 1})
	var all sync.WaitGroup
	for i := range 8 { // each is waited for 8 s
		all.Go(func() { l.command(fmt.Sprint("silent", i), http.StatusGatewayTimeout) })
	}
	all.Wait()
	l.phase(12, nil, "CommandsWithoutAnswer")
	l.mend("doorlab_commands_running", "0", "CommandsWithoutAnswer")
}

func processDown(l *alertLab) {
	l.phase(calmScrapes, nil)
	l.fleet.kill()
	l.phase(badScrapes, nil, "ProcessDown", "BoardsOffline")
}

// alertPhase is a series of scrapes. At its end the alerts in fires are firing;
// no other alert fires, except those of earlier phases.
type alertPhase struct {
	from, to      int
	fires, before []string
}

// evaluate has promtool play the rules over the recorded series.
func (l *alertLab) evaluate() {
	type sample struct {
		Labels string  `yaml:"labels"`
		Value  float64 `yaml:"value"`
	}
	type query struct {
		Expr    string   `yaml:"expr"`
		At      string   `yaml:"eval_time"`
		Samples []sample `yaml:"exp_samples,omitempty"`
	}
	type series struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	}
	type test struct {
		Interval string   `yaml:"interval"`
		Series   []series `yaml:"input_series"`
		Queries  []query  `yaml:"promql_expr_test"`
	}
	rules := must.Get(filepath.Abs(rulesFile))(l.t)
	one := test{Interval: "15s"}
	for name, values := range l.series {
		one.Series = append(one.Series, series{name, strings.Join(values, " ")})
	}
	at := func(tick int) string { return fmt.Sprintf("%ds", 15*tick) }
	for _, p := range l.phases {
		allowed := strings.Join(append(slices.Clone(p.fires), p.before...), "|")
		for tick := p.from; tick < p.to; tick++ {
			one.Queries = append(one.Queries, query{Expr: fmt.Sprintf(`count by (alertname) (ALERTS{alertstate="firing",alertname!~"%s"})`, allowed), At: at(tick)})
		}
		for _, alert := range p.fires {
			one.Queries = append(one.Queries, query{fmt.Sprintf(`count(ALERTS{alertstate="firing",alertname="%s"}) > bool 0`, alert), at(p.to - 1), []sample{{"{}", 1}}})
		}
		if len(p.fires) == 0 {
			one.Queries = append(one.Queries, query{Expr: `count by (alertname) (ALERTS{alertstate="firing"})`, At: at(p.to - 1)})
		}
	}
	raw := must.Get(yaml.Marshal(map[string]any{"rule_files": []string{rules}, "evaluation_interval": "15s", "tests": []test{one}}))(l.t)
	file := filepath.Join(l.t.TempDir(), "recorded.yml")
	must.OK(l.t, os.WriteFile(file, raw, 0o600))
	ctx, cancel := context.WithTimeout(l.t.Context(), 5*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "promtool", "test", "rules", file).CombinedOutput(); err != nil {
		l.t.Errorf("promtool over %d scrapes of %d series: %v\n%.4000s", l.ticks, len(l.series), err, out)
	}
}

// permit changes the content of the boards.
func (l *alertLab) permit() {
	l.t.Helper()
	now := time.Now()
	body := map[string]string{"externalRef": "alerts", "phone": "01000000001", "name": "T", "startsAt": now.Format(time.RFC3339), "endsAt": now.Add(time.Hour).Format(time.RFC3339)}
	clienttest.Do(l.t, l.public, http.MethodPost, "/space/v1/partner/entry-permits", body, nil)
}
