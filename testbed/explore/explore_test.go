package explore

import (
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/bug"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/command"
)

// check checks the state against CMD-1 to CMD-6.
func (w *state) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	pulses := map[string]int{}
	all := 0
	for _, p := range w.journal {
		if p.id == "" {
			continue // on site
		}
		pulses[p.id]++
		all++
		if r := w.row(p.id); r != nil && p.at > r.acceptd-w.start+command.DefaultNotAfter {
			w.fail("CMD-4: %s opened %s after it was accepted", w.name(p.id), p.at-(r.acceptd-w.start))
		}
	}
	if all > 1 {
		w.fail("CMD-5: one key, %d pulses", all)
	}
	keys := 0
	for _, r := range w.rows {
		if r.in.Key == key {
			keys++
		}
	}
	if keys > 1 {
		w.fail("CMD-5: one key, %d commands", keys)
	}
	first := ""
	for _, c := range w.calls {
		if !c.done || c.err != nil {
			continue
		}
		id := c.a.Result.CommandID
		r := w.row(id)
		if first == "" {
			first = string(c.a.Body)
		}
		switch {
		case string(c.a.Body) != first:
			w.fail("CMD-5: the key answered %q and %q", first, c.a.Body)
		case r == nil || r.st == nil && c.a.Status != 504:
			w.fail("CMD-6: %d was answered and is not durable", c.a.Status)
		case c.a.Status == 200 && r.in.Command == wire.CmdOpen && pulses[id] != 1:
			w.fail("CMD-1: reported, and %d pulses", pulses[id])
		case c.a.Status == 409 && w.sent[id] > 0:
			w.fail("CMD-2: answered offline, and it was sent")
		case c.a.Status == 502 && pulses[id] > 0:
			w.fail("CMD-3: answered refused, and it opened")
		}
	}
}

// end finishes a path: everything is written and delivered, time passes, and a last caller repeats the key.
func (w *state) end() {
	settle := func() {
		for n := 0; n < 40 && w.bad == ""; n++ {
			if !w.online {
				w.act("connect")
			}
			switch {
			case len(w.ops) > 0:
				w.act("write 0")
			case len(w.down) > 0:
				w.act("down 0")
			case len(w.up) > 0:
				w.act("up 0")
			default:
				return
			}
		}
	}
	w.armed = ""
	for range 6 {
		settle()
		w.fence()
		time.Sleep(tickLen)
		w.rest()
	}
	w.call("last")
	w.rest()
	for range 4 {
		settle()
		w.fence()
		time.Sleep(tickLen)
		w.rest()
	}
	for _, c := range w.calls {
		if !c.done {
			w.fail("CMD-4: a caller (%s) was never answered", c.kind)
		}
	}
	if last := w.calls[len(w.calls)-1]; last.done && last.err != nil && !errors.Is(last.err, command.ErrReused) {
		w.fail("CMD-5: in the end the key answers %v", last.err)
	}
	for _, r := range w.rows {
		if r.st == nil {
			w.fail("CMD-6: %s was never settled", w.name(r.in.CommandID))
		}
	}
}

func (w *state) close() {
	w.svc.Kill()
	w.fence()
	synctest.Wait()
	w.mu.Lock()
	w.lives++
	ops := w.ops
	w.mu.Unlock()
	for _, o := range ops {
		o.res <- errDisk
	}
	w.svc.Stop()
}

// explored is what a search has covered.
type explored struct {
	states, transitions int
	bad                 string
	path                []string
}

// search tries every order of actions within a budget. It doesn't continue from a state that it has already seen. A
// world is followed as long as it reaches new states; the alternatives along the way are queued as paths from the
// start.
type search struct {
	explored
	bug   string
	b     budget
	seen  map[[sha256.Size]byte]bool
	queue [][]string
}

// explore stops at the first breach.
func explore(t *testing.T, name string, b budget) explored {
	s := search{bug: name, b: b, seen: map[[sha256.Size]byte]bool{}, queue: [][]string{nil}}
	synctest.Test(t, func(*testing.T) {
		for len(s.queue) > 0 && s.bad == "" {
			path := s.queue[0]
			s.queue = s.queue[1:]
			s.follow(path)
		}
	})
	s.states = len(s.seen)
	return s.explored
}

// follow follows one world along a path and continues from there.
func (s *search) follow(path []string) {
	w := newState(s.bug)
	w.call("first")
	w.rest()
	for _, a := range path {
		w.act(a)
	}
	for w.bad == "" {
		s.transitions++
		h := sha256.Sum256([]byte(w.hash()))
		if s.seen[h] {
			break
		}
		s.seen[h] = true
		next := w.actions(s.b)
		ends := w.still() || len(next) == 0
		for i, a := range next {
			if i > 0 || ends {
				s.queue = append(s.queue, append(slices.Clone(path), a))
			}
		}
		if ends {
			w.end()
			break
		}
		path = append(slices.Clone(path), next[0])
		w.act(next[0])
	}
	s.bad, s.path = w.bad, path
	w.close()
}

// still: nothing is pending that end would begin with. From any other state, end only repeats the end of a state that
// is visited anyway, because the first thing it does is one of the free actions.
func (w *state) still() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.armed != "" || w.online && len(w.ops)+len(w.down)+len(w.up) == 0
}

// mishaps are the searches. Together they cover every order of deliveries, losses, duplicates, timeouts and deaths
// around one command, its repeat, another request under its key, and a revocation.
var mishaps = map[string]budget{
	"deaths":     {"repeat": 1, "crash": 1, "reboot": 1, "time": 2},
	"line":       {"repeat": 1, "lose": 1, "duplicate": 1, "cut": 1, "time": 4},
	"disk":       {"repeat": 1, "other": 1, "fail": 1, "time": 5},
	"revocation": {"revoke": 1, "present": 1, "reboot": 1, "cut": 1, "duplicate": 1, "lose": 1},
}

// together allows all mishaps at once, but no more than so many of them on one path.
func together(any int) budget {
	return budget{"repeat": 1, "other": 1, "crash": 1, "reboot": 1, "lose": 1, "duplicate": 1, "cut": 1, "fail": 1, "revoke": 1, "present": 1, "time": 5, "any": any}
}

// TestMishapsTogether [CMD-1] [CMD-2] [CMD-3] [CMD-4] [CMD-5] [CMD-6]: make interleavings
func TestMishapsTogether(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("DOORLAB_INTERLEAVINGS"))
	if err != nil {
		t.Skip("takes minutes; make interleavings sets DOORLAB_INTERLEAVINGS to how many mishaps there are on one path at most")
	}
	got := explore(t, "", together(n))
	t.Logf("at most %d mishaps of %d kinds on one path: %d states, %d transitions", n, len(together(n))-2, got.states, got.transitions)
	if got.bad != "" {
		t.Errorf("%s\nafter %s", got.bad, strings.Join(got.path, ", "))
	}
}

// TestEveryInterleaving [CMD-1] [CMD-2] [CMD-3] [CMD-4] [CMD-5] [CMD-6]
func TestEveryInterleaving(t *testing.T) {
	t.Parallel()
	for name, b := range mishaps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := explore(t, "", b)
			t.Logf("%s: %d states, %d transitions", name, got.states, got.transitions)
			if got.bad != "" {
				t.Errorf("%s\nafter %s", got.bad, strings.Join(got.path, ", "))
			}
		})
	}
}

// Each planted command bug is found by a search.
func TestInterleavingsFindBugs(t *testing.T) {
	t.Parallel()
	for name, search := range map[string]string{
		bug.PublishBeforeCommit: "disk", bug.MemoryOnlyLedger: "deaths", bug.ConflictAfterSend: "disk",
		bug.UnfinishedSentAgain: "deaths", bug.RecoverSends: "deaths", bug.NotAfterFromSend: "disk", bug.OfflineButSent: "line",
		bug.SettleForgotten: "line", bug.LateChangesAnswer: "line",
		bug.BoardIgnoresNotAfter: "line", bug.BoardActsTwice: "line", bug.BoardForgetsCommands: "line",
		bug.BoardReportsOnly: "line", bug.BoardRefusesAndOpens: "line",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := explore(t, name, mishaps[search])
			if got.bad == "" {
				t.Fatalf("not found in %d states, %d transitions of %s", got.states, got.transitions, search)
			}
			t.Logf("found after %d states: %s\nby %s", got.states, got.bad, strings.Join(got.path, ", "))
		})
	}
}
