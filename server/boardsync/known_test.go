package boardsync

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/board"
)

// says returns the answer to a digest of the board's present content.
func (l *lab) says() (equal bool) {
	equal, _ = l.s.Digest(someBoard, l.line.epoch, l.board.rev, l.board.digest())
	return equal
}

// If a place's revision couldn't be read at hello, it is read later; until then the board isn't considered up to
// date.
func TestARevisionThatCouldNotBeReadIsReadLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.board.rev, l.board.grants = 1, l.content.grants[:1]
		l.content.add()
		l.content.lost = 3
		l.line.status.AppliedRevision = 1
		l.connect()
		if l.says() || l.line.status.AppliedRevision != 0 {
			t.Errorf("nobody could look: equal, or known to have revision %d; want unequal and 0", l.line.status.AppliedRevision)
		}
		for range 60 {
			l.advance(t, defaultResend)
			if l.deliver(); !l.converged() && l.says() {
				t.Fatal("said to be equal at another revision")
			}
		}
		if !l.converged() || !l.says() {
			t.Error("never repaired")
		}
		if c := l.s.Counts(); c.ReadFailures.Load() != 3 || c.Retries.Load() != 3 {
			t.Errorf("%d failures and %d retries counted, want 3 and 3", c.ReadFailures.Load(), c.Retries.Load())
		}
	})
}

// If content couldn't be read or sent, or the service has stopped, a board isn't considered up to date: a board that
// was away for more than 36 h would otherwise start deciding again.
func TestWhatCouldNotBeLookedUpIsNotEqual(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*lab){
		"the content can't be read":     func(l *lab) { l.content.err = errors.New("away") },
		"the outbox takes nothing":      func(l *lab) { l.line.down = true },
		"the service has been stopped":  func(l *lab) { l.s.Stop() },
		"the revision can't be read":    func(l *lab) { l.content.lost = 1 },
		"the same content, but no read": func(l *lab) { l.board.rev, l.board.grants, l.content.err = 2, l.content.grants, errors.New("away") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.board.rev, l.board.grants = 1, l.content.grants[:1]
				l.content.add()
				spoil(l)
				l.connect()
				if l.says() {
					t.Error("said to be equal")
				}
				l.content.err, l.line.down = nil, false
				if l.s.closed.Load() {
					return
				}
				l.advance(t, time.Minute)
				if l.deliver(); !l.converged() || !l.says() {
					t.Error("not repaired after it was back")
				}
			})
		})
	}
}

// From a wrong acknowledgement until the repair is acknowledged, the board doesn't count as synchronized.
func TestAWrongAcknowledgementIsNotSynced(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(l *lab){
		"wrong digest":               func(l *lab) { l.s.Acked(someBoard, 1, l.content.rev, strings.Repeat("0", 32)) },
		"wrong digest, unasked":      func(l *lab) { l.deliver(); l.s.Acked(someBoard, 1, l.content.rev, strings.Repeat("0", 32)) },
		"a digest that differs":      func(l *lab) { l.deliver(); l.s.Digest(someBoard, 1, l.content.rev, strings.Repeat("0", 32)) },
		"a revision that never was":  func(l *lab) { l.deliver(); l.s.Acked(someBoard, 1, 1<<62, "") },
		"a digest of such":           func(l *lab) { l.deliver(); l.s.Digest(someBoard, 1, 1<<62, "") },
		"an old revision once more":  func(l *lab) { l.deliver(); l.s.Acked(someBoard, 1, 1, "") },
		"never was, with one on way": func(l *lab) { l.s.Acked(someBoard, 1, 1<<62, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.connect()
				l.deliver()
				l.change()
				time.Sleep(defaultCoalesce)
				synctest.Wait()
				lie(l)
				if at := l.line.status.AppliedRevision; at >= l.content.rev {
					t.Errorf("after the wrong word the board counts as synced to %d, want less than %d", at, l.content.rev)
				}
				l.advance(t, 2*time.Minute)
				if l.deliver(); !l.converged() {
					t.Error("not repaired")
				}
			})
		})
	}
}

// One board can't request content without limit, be it by hellos, acknowledgements or digests, and what is kept for
// it is bounded.
func TestOneBoardCannotOrderContentWithoutBound(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(l *lab, i int){
		"hellos": func(l *lab, _ int) { l.line.epoch++; *l.board = fakeBoard{}; l.connect() },
		"hellos of many revisions": func(l *lab, i int) {
			l.line.epoch++
			l.s.Connected(board.Hello{BoardID: someBoard, PlaceID: somePlace, Epoch: l.line.epoch, Revision: int64(1 + i%200)})
		},
		"acknowledgements of nothing": func(l *lab, _ int) { l.s.Acked(someBoard, 1, 1<<62, "x") },
		"acknowledged, then wiped": func(l *lab, _ int) {
			l.s.Acked(someBoard, 1, l.content.rev, l.board.digest())
			l.s.Digest(someBoard, 1, 0, "")
		},
		"digests": func(l *lab, i int) { l.s.Digest(someBoard, 1, int64(i%200), "x") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				for range 300 {
					l.content.add()
				}
				l.connect()
				for i := range 1000 {
					say(l, i)
				}
				snapshot := 301 * len(`{"id":"pmt_100","kind":"","phoneHash":"","doors":null,"startsAt":0},`)
				if l.line.bytes > 6*snapshot || l.s.Cached() > 5*snapshot {
					t.Errorf("1000 messages drew %d bytes in %d pushes and keep %d; a snapshot has %d, want at most %d and at most %d", l.line.bytes, l.line.pushes, l.s.Cached(), snapshot, 6*snapshot, 5*snapshot)
				}
				l.line.queue = nil
				l.line.epoch++
				l.connect()
				for range 12 {
					l.advance(t, 30*time.Second)
					l.deliver()
				}
				if !l.converged() || l.s.Cached() != 0 {
					t.Errorf("a board that behaves again: converged %v, %d bytes kept; want true and 0", l.converged(), l.s.Cached())
				}
			})
		})
	}
}

// A place's encoded changes are bounded in bytes, however many different revisions its boards have.
func TestEncodedChangesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		for range 200 {
			l.content.add()
			l.content.grants[len(l.content.grants)-1].Doors = []string{strings.Repeat("d", 10_000)}
		}
		for i := range 150 {
			l.s.Connected(board.Hello{BoardID: "brd_" + strings.Repeat("x", i), PlaceID: somePlace, Epoch: 1, Revision: int64(1 + i)})
		}
		if n := l.s.Cached(); n > maxMade {
			t.Errorf("%d bytes kept, want at most %d", n, maxMade)
		}
	})
}

// A board that is too far behind gets a snapshot.
func TestAnOldRevisionGetsASnapshot(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for range maxBehind + 5 {
		l.content.grants, l.content.revs = nil, nil
		l.content.add()
	}
	l.board.rev, l.board.grants = 3, []access.Grant{{ID: "gone"}}
	l.connect()
	if y, ok := l.line.take(); !ok || !y.Snapshot {
		t.Errorf("got %+v, want a snapshot", y)
	}
}

// A revision that was never sent isn't believed, even with the right digest: it is counted, and a snapshot follows.
func TestARevisionThatWasNeverSentIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(*lab, int64) string{
		"acknowledged": func(l *lab, rev int64) string { return l.s.Acked(someBoard, 1, rev, l.board.digest()) },
		"in a digest": func(l *lab, rev int64) string {
			_, wrong := l.s.Digest(someBoard, 1, rev, l.board.digest())
			return wrong
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.connect()
				l.deliver()
				known := len(l.applied)
				if wrong := say(l, l.content.rev); wrong != "" {
					t.Errorf("the revision that the board has: wrong is %q, want nothing", wrong)
				}
				if wrong := say(l, l.content.rev+1); wrong != "revision" {
					t.Errorf("wrong is %q, want the revision", wrong)
				}
				if got := l.s.Counts().Impossible.Load(); got != 1 {
					t.Errorf("got %d counted, want 1", got)
				}
				if n := l.line.Status("").AppliedRevision; n != 0 {
					t.Errorf("the board is shown at revision %d, want 0: what it has isn't known", n)
				}
				y, ok := l.line.take()
				if !ok || !y.Snapshot {
					t.Errorf("got %v to send, %v, want a snapshot", y, ok)
				}
				if say(l, l.content.rev+1); l.line.pushes > 2 {
					t.Errorf("%d messages, want one snapshot however often it is said", l.line.pushes)
				}
				l.hand(y)
				l.change()
				time.Sleep(defaultCoalesce) // the bubble's time
				synctest.Wait()
				if l.deliver(); !l.converged() {
					t.Errorf("the board has revision %d, want %d", l.board.rev, l.content.rev)
				}
				for _, e := range l.applied[known:] {
					if e.Revision > l.content.rev {
						t.Errorf("the history has revision %d, want at most %d", e.Revision, l.content.rev)
					}
				}
			})
		})
	}
}

// A board that lacks the same changes as another did earlier gets the newest change, not the one cached for the other
// board.
func TestAKeptChangeEndsWithItsRevision(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.s.place(somePlace)
	for _, to := range []int64{2, 3} {
		p.moved(l.content.add(), l.clk.Now())
		if m := must.Get(p.change(l.content, 1, 0, l.clk.Now()))(t); m.to != to {
			t.Errorf("from revision 1 the change goes to %d, want %d", m.to, to)
		}
	}
}
