package store

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
)

// documented returns a number from docs/operations.md, in bytes per command.
func documented(t *testing.T, pattern string) float64 {
	t.Helper()
	page := must.Get(os.ReadFile("../../docs/operations.md"))(t)
	m := regexp.MustCompile(pattern).FindSubmatch(page)
	if m == nil {
		t.Fatalf("docs/operations.md doesn't say %s", pattern)
	}
	gb := must.Get(strconv.ParseFloat(string(m[1]), 64))(t)
	return gb * 1000
}

// TestSizes checks what docs/operations.md says about the database's growth: bytes per command, and how much is freed
// after 30 days and after the retention.
func TestSizes(t *testing.T) {
	t.Parallel()
	const n = 5000
	dir := t.TempDir()
	s := must.Get(Open(dir, Options{Clock: clock.NewVirtual(epoch, nil)}))(t)
	must.Get(s.Seed(testWorld(), pepper))(t)
	size := func() int64 {
		for !s.checkpoint("TRUNCATE") { // the copier is running
			runtime.Gosched()
		}
		info := must.Get(os.Stat(filepath.Join(dir, "doorlab.db")))(t)
		return info.Size()
	}
	before := size()
	body := []byte(strings.Repeat("b", 430)) // a 200 with its standing
	c := s.Commands()
	var wg sync.WaitGroup
	for w := range 100 {
		wg.Go(func() {
			for i := w; i < n; i += 100 {
				in := intent(id.New(id.Command, epoch), fmt.Sprintf("0190c7e2-8b3a-7c11-9d2e-%012d", i))
				in.PlaceID, in.DoorID, in.BoardID, in.ActorID = "plc_01jc0000000000000000000000", "dor_01jc0000000000000000000000", "brd_01jc0000000000000000000000", "api:key_01jc0000000000000000000000"
				in.Meaning, in.ActorLabel, in.Body = in.DoorID+"\nopen\n0\n", "partner", body
				if _, err := c.Claim(in, epoch); err != nil {
					t.Error(err)
				}
				if err := c.Settle(command.Settlement{Intent: in, Outcome: vocab.Reported, ReportedAt: epoch, Status: 200, Body: body}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all := float64(size()-before) / n
	must.Get(s.writing.Exec("DELETE FROM commands; VACUUM"))(t)
	kept := float64(size()-before) / n
	t.Logf("%.0f bytes a command, %.0f of it in the ledger", all, all-kept)
	for what, pair := range map[string][2]float64{"take": {all, documented(t, `commands take ([\d.]+) GB`)},
		"have in the ledger": {all - kept, documented(t, `([\d.]+) GB of it is the ledger`)}} {
		if got, says := pair[0], pair[1]; got > 1.1*says || got < 0.9*says {
			t.Errorf("a million commands %s %.2f GB, but docs/operations.md says %.1f: want it within 10%%", what, got/1000, says/1000)
		}
	}
	must.OK(t, s.Close())
}
