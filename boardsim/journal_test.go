package boardsim

import (
	"strconv"
	"testing"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
)

// A fleet with a long journal: lines that are no longer in memory can be read too.
func TestLongJournal(t *testing.T) {
	bubble(t, false, func(r *rig) {
		const n = keepEntries + 100
		for range n {
			r.do("POST", "/people/present", `{"doorId":"dor_one1","phone":"`+phone+`"}`)
		}
		r.sleep(time.Second)
		check := func() {
			r.t.Helper()
			lines := r.do("GET", "/boards/"+one+"/journal", "").([]any)
			r.want("lines", len(lines), n)
			for i, l := range lines {
				if l.(map[string]any)["seq"] != float64(i+1) {
					t.Fatalf("line %d has number %v, want %v", i+1, l.(map[string]any)["seq"], float64(i+1))
				}
			}
		}
		check()
		r.halt()
		r.fleetWithoutLine()
		check()
	})
}

// TestJournalPart: a part of a long journal reads that part's lines from the disk and no others, which are damaged here, and
// a line that a full disk didn't take leaves no gap.
func TestJournalPart(t *testing.T) {
	bubble(t, false, func(r *rig) {
		const n, lost = keepEntries + 100, 40
		b := r.fleet.boards[0]
		b.mu.Lock()
		for i := range n {
			file := b.f.journal.file
			if i == lost {
				b.f.journal.file = nil
			}
			b.write(firmware.Entry{DoorID: "dor_one1", Channel: 1, Action: firmware.ActDeny, Cause: firmware.CauseOnsite})
			if b.f.journal.file = file; i == lost {
				b.jat[len(b.jat)-1] = -1
			}
		}
		b.mu.Unlock()
		part := func(query string, first, count int) {
			r.t.Helper()
			lines := r.do("GET", "/boards/"+b.id+"/journal"+query, "").([]any)
			r.want("lines of "+query, len(lines), count)
			for i, l := range lines {
				r.want("line "+strconv.Itoa(i)+" of "+query, l.(map[string]any)["seq"], float64(first+i))
			}
		}
		part("?limit=40", 1, 40)
		part("?offset=40", 42, n-41) // line 41 is lost
		part("?offset="+strconv.Itoa(n-2)+"&limit=5", n, 1)
		part("?offset="+strconv.Itoa(n-1), 0, 0)
		part("?offset=2147483647&limit=2147483647", 0, 0)
		b.mu.Lock()
		for i := range len(b.jat) - keepEntries {
			if i != 50 {
				b.jat[i] = b.f.journal.size // nothing is there
			}
		}
		b.mu.Unlock()
		part("?offset=50&limit=1", 52, 1)
		part("?offset="+strconv.Itoa(n-1-keepEntries), n-keepEntries+1, keepEntries)
	})
}
