package loadtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/client"
)

// diskOf fakes a server's control API about its disk.
type diskOf struct {
	mu   sync.Mutex
	is   string
	said []string
	hits int
}

func (d *diskOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch r.Method {
	case http.MethodPost:
		body, _ := io.ReadAll(r.Body)
		d.is, d.said = "bad", append(d.said, string(body))
	case http.MethodDelete:
		d.is = "ok"
	}
	reply(w, 200, fmt.Sprintf(`{"success":true,"data":{"state":%q,"hits":%d}}`, d.is, d.hits))
}

// now is the disk's state, and what was said about it.
func (d *diskOf) now() (is, said string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.is, strings.Join(d.said, " ")
}

// TestBadDiskInAPlan: a plan's bad disk is bad when it is due and repaired afterwards, also if the load is over sooner; one that
// nobody wrote to, and one that somebody else has broken, make the run INVALID. A fleet's listener has none.
func TestBadDiskInAPlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		disk, before  string
		over          time.Duration
		hits          int
		said, problem string
	}{
		"slow":         {"slow 300ms", "ok", 10 * time.Second, 3, `{"delayMs":300,"state":"slow"}`, ""},
		"full":         {"full", "ok", 10 * time.Second, 3, `{"state":"full"}`, ""},
		"over sooner":  {"stalled", "ok", 3 * time.Second, 3, `{"state":"stalled"}`, ""},
		"nothing":      {"full", "ok", 10 * time.Second, 0, `{"state":"full"}`, "the fault disk full at 2 s never acted"},
		"not yet due":  {"full", "ok", time.Second, 0, "", "the fault disk full at 2 s: the load was over before it was due"},
		"already full": {"slow 1s", "full", 10 * time.Second, 3, "", "the fault disk slow 1s at 2 s: somebody else has made the disk full"},
	} {
		bubbleRun(t, name, func(t *testing.T) {
			d := &diskOf{is: c.before, hits: c.hits}
			fleet := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply(w, 404, `{"error":"not_found"}`) })
			at := func(h http.Handler) listener {
				return listener{Client: client.Client{Base: "http://127.0.0.1:1", HTTP: &http.Client{Transport: memory{h}}}}
			}
			r := &runner{plan: Plan{Faults: []PlannedFault{{At: Duration(2 * time.Second), For: Duration(4 * time.Second), Disk: c.disk}}},
				control: []listener{at(fleet), at(d)}}
			end := r.disturb(t.Context(), allUsed)
			time.Sleep(min(c.over, 2500*time.Millisecond))
			if is, _ := d.now(); c.over > 2*time.Second && c.said != "" && is != "bad" {
				t.Errorf("when it is due, the disk is %s, want bad", is)
			}
			time.Sleep(max(0, c.over-2500*time.Millisecond))
			uses := end()
			if is, said := d.now(); said != c.said || is != c.before || uses[0].Hits != int64(c.hits) && c.said != "" {
				t.Errorf("the server heard %q, its disk is %s, got %+v; want %q, %s and %d hits", said, is, uses, c.said, c.before, c.hits)
			}
			res := Result{Verdict: Pass, Faults: uses}
			if res.judgeFaults(newCollector()); strings.Join(res.Reasons, " ") != c.problem {
				t.Errorf("the run's reasons are %q, want %q", res.Reasons, c.problem)
			}
		})
	}
}

func bubbleRun(t *testing.T, name string, f func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { t.Parallel(); synctest.Test(t, f) })
}

// TestMistakesInBadDisks: a disk needs a state, has no boards, and isn't bad in two ways at a time; whoever calls it a fault
// hears how it is written.
func TestMistakesInBadDisks(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]string{
		"{at: 1s, for: 1s, disk: slow 300ms}, {at: 2s, disk: full}": "",
		"{at: 1s, disk: slow}":                                                "needs a delay from 1ms to 1m",
		"{at: 1s, disk: slow 2m}":                                             "needs a delay from 1ms to 1m",
		"{at: 1s, disk: ful}":                                                 `did you mean "full"?`,
		"{at: 1s, disk: full 3s}":                                             "not a valid state of a disk",
		"{at: 1s, disk: full, share: 20%}":                                    "the disk is the server's, not the boards'",
		"{at: 1s, disk: full, fault: offline}":                                "disk takes its place",
		"{at: 1s, disk: full}, {at: 5s, disk: stalled}":                       "already full at that time",
		"{at: 5s, for: 1s, disk: full}, {at: 1s, for: 5s, disk: slow 10ms}":   "already full at that time",
		"{at: 1s, fault: stalled, share: 10%}":                                "write disk: full, disk: stalled or disk: slow 300ms",
		"{at: 1s, disk: full}, {at: 1s, for: 2s, fault: offline, share: 10%}": "",
	} {
		plan := "rate: 10/s\nduration: 10s\nfaults: [" + of + "]\n"
		_, err := parse("p.yaml", []byte(plan))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", of, err, want)
		}
	}
}

// TestBadDiskInReport: the reports say how the disk was bad and how many writes that hit, and the chart of faults shows when.
func TestBadDiskInReport(t *testing.T) {
	t.Parallel()
	r := Result{Seconds: 20, Lab: &Lab{Seconds: []LabSecond{{}}}, Faults: []FaultUse{{PlannedFault: PlannedFault{At: Duration(5 * time.Second), For: Duration(10 * time.Second), Disk: "slow 300ms"}, Hits: 41}}}
	const said = "disk slow 300ms from 5 s for 10 s: 41 writes failed or waited"
	if got := r.Setting(); len(got) != 1 || got[0] != said {
		t.Errorf("the setting is %q, want %q", got, said)
	}
	spans := r.badDisks(20)
	if len(spans) != 1 || spans[0].From != 5 || spans[0].To != 15 || spans[0].Title != said {
		t.Errorf("the disk was bad %+v, want from 5 to 15 s", spans)
	}
}
