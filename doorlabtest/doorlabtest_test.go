package doorlabtest_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/doorlabtest"
	"github.com/doorlab/doorlab/internal/must"
)

// open sends a door command the way a partner's code would, using only net/http.
func open(t *testing.T, lab *doorlabtest.Lab, p doorlabtest.Place, door, key string) int {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, lab.URL+"/device/v1/devices/"+door+"/commands",
		strings.NewReader(`{"capability":"door","command":"open"}`)))(t)
	req.Header.Set("Authorization", "Bearer "+lab.Token(p))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	res := must.Get(http.DefaultClient.Do(req))(t)
	_ = res.Body.Close()
	return res.StatusCode
}

// TestLab is what a partner's test looks like: it plays an outage and checks what the relay did.
func TestLab(t *testing.T) {
	t.Parallel()
	lab := doorlabtest.Start(t)
	shop := lab.Live()[0]
	board := shop.Boards[0]
	if got := open(t, lab, shop, board.Doors[0], "first"); got != http.StatusOK {
		t.Fatalf("a connected door answers %d, want 200", got)
	}
	lab.Freeze()
	before := lab.Now()
	back := lab.Fault("offline", board.ID)
	lab.Advance(36*time.Hour + time.Millisecond)
	if got := lab.Now().Sub(before); got != 36*time.Hour+time.Millisecond {
		t.Errorf("the clock moved by %s, want 36h0m0.001s", got)
	}
	if got := open(t, lab, shop, board.Doors[0], "second"); got != http.StatusConflict {
		t.Errorf("a door without a line answers %d, want 409", got)
	}
	if result, reason := lab.Present(board.Doors[0], "01011112222"); result != "denied" || reason != "outage_limit" {
		t.Errorf("after 36 h: %s %s, want denied outage_limit", result, reason)
	}
	back()
	lab.Run()
	if result, reason := lab.Call(shop.EntryPhone, "01011112222"); result != "denied" || reason != "no_valid_grant" {
		t.Errorf("a stranger's call: %s %s, want denied no_valid_grant", result, reason)
	}
	pulses := 0
	for _, e := range lab.Journal(board.ID) {
		if e.Action == "pulse" && e.Cause == "command" {
			pulses++
		}
	}
	if pulses != 1 {
		t.Errorf("%d pulses by commands, want 1", pulses)
	}
}

// TestReadme is the README's example; the page shows exactly these lines.
func TestReadme(t *testing.T) {
	t.Parallel()
	// begin
	lab := doorlabtest.Start(t)
	lab.Fault("offline", lab.Live()[0].Boards[0].ID)
	lab.Advance(36 * time.Hour)
	// end
	code := func(file, begin, end string) string {
		_, rest, found := strings.Cut(string(must.Get(os.ReadFile(file))(t)), begin)
		block, _, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has nothing between %q and %q", file, begin, end)
		}
		return regexp.MustCompile(`(?m)^\s+|\s+//.*$`).ReplaceAllString(block, "")
	}
	if page, here := code("../README.md", "```go\n", "```"), code("doorlabtest_test.go", "// begin\n", "\t// end\n"); page != here {
		t.Errorf("README.md has\n%s\nwant\n%s", page, here)
	}
}

// TestSeed: labs with one seed have the same ids and keys, also those of live places; a fault can be removed in a cleanup,
// when the test's context has ended.
func TestSeed(t *testing.T) {
	t.Parallel()
	a, b, other := doorlabtest.Start(t, doorlabtest.Seed(7)), doorlabtest.Start(t, doorlabtest.Seed(7)), doorlabtest.Start(t, doorlabtest.Seed(8))
	if diff := cmp.Diff(a.Places, b.Places); diff != "" {
		t.Errorf("two labs with seed 7 (-first +second):\n%s", diff)
	}
	if a.Live()[0].APIKey == other.Live()[0].APIKey {
		t.Error("labs with different seeds have the same key, want different ones")
	}
	t.Cleanup(a.Fault("offline", a.Live()[0].Boards[0].ID))
}
