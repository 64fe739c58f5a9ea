package boardsync

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

const someBoard = "brd_a"

// lab is a service with one board, in virtual time.
type lab struct {
	s       *Service
	content *fakeContent
	line    *fakeLine
	board   *fakeBoard
	clk     *clock.Virtual
	flight  *clock.Flight
	took    []time.Duration
	applied []history.Event
}

func newLab(t *testing.T) *lab {
	l := &lab{content: &fakeContent{}, line: &fakeLine{epoch: 1}, board: &fakeBoard{}, flight: clock.NewFlight()}
	l.clk = clock.NewVirtual(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), l.flight)
	l.clk.Freeze()
	l.content.add()
	l.s = New(Config{Content: l.content, Line: l.line, Clock: l.clk, Flight: l.flight,
		History: func(e history.Event) { l.applied = append(l.applied, e) },
		Observe: func(_ bool, d time.Duration) { l.took = append(l.took, d) }})
	t.Cleanup(l.s.Stop)
	return l
}

func (l *lab) connect() {
	l.s.Connected(board.Hello{BoardID: someBoard, PlaceID: somePlace, Epoch: l.line.epoch, Revision: l.board.rev, Digest: l.board.digest(), Partial: l.board.partial()})
}

func (l *lab) change() { l.s.Moved(somePlace, l.content.add()) }

// deliver delivers everything that is queued and returns the number of messages.
func (l *lab) deliver() (n int) {
	for {
		y, ok := l.line.take()
		if !ok {
			return n
		}
		n++
		l.hand(y)
	}
}

// hand gives a message to the board, and the board's answer to the service.
func (l *lab) hand(y wire.Sync) {
	switch acked, pages := l.board.apply(y); {
	case acked:
		l.s.Acked(someBoard, l.line.epoch, l.board.rev, l.board.digest())
	case pages > 0 || y.Pages > 1 && y.Snapshot:
		l.s.Paged(someBoard, l.line.epoch, y.To, pages)
	default:
		l.s.Digest(someBoard, l.line.epoch, l.board.rev, l.board.digest())
	}
}

func (l *lab) advance(t *testing.T, d time.Duration) {
	t.Helper()
	must.OK(t, l.clk.Advance(l.clk.Now().Add(d)))
}

func (l *lab) converged() bool {
	return l.board.rev == l.content.rev && l.board.digest() == digestOf(l.content.grants) && l.line.Status("").AppliedRevision == l.content.rev
}

func TestSnapshotThenDeltas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.connect()
		y, _ := l.line.take()
		if !y.Snapshot || y.To != 1 {
			t.Fatalf("a board without content got %+v, want a snapshot to revision 1", y)
		}
		l.board.apply(y)
		l.s.Acked(someBoard, 1, l.board.rev, l.board.digest())
		l.change()
		l.change()
		if n := l.deliver(); n != 0 {
			t.Fatalf("%d pushes before the changes were coalesced, want 0", n)
		}
		time.Sleep(defaultCoalesce) // the bubble's time
		synctest.Wait()
		y, ok := l.line.take()
		if !ok || y.Snapshot || y.From != 1 || y.To != 3 || len(y.Upsert) != 2 {
			t.Fatalf("two changes went out as %+v, want one delta from 1 to 3", y)
		}
		l.board.apply(y)
		l.s.Acked(someBoard, 1, l.board.rev, l.board.digest())
		if !l.converged() || len(l.took) != 2 || len(l.applied) != 2 {
			t.Errorf("converged %v, observed %v, told %v; want true and two each", l.converged(), l.took, l.applied)
		}
		if n := l.deliver(); n != 0 {
			t.Errorf("got %d pushes more, want 0", n)
		}
	})
}

// Changes that arrive before an acknowledgement don't go out right after it. They wait for the next planned push,
// together with later ones, and are encoded once for all boards.
func TestAcknowledgementWaitsForThePlannedPush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.connect()
		y, _ := l.line.take()
		l.change()
		l.board.apply(y)
		l.s.Acked(someBoard, 1, l.board.rev, l.board.digest())
		if n := l.deliver(); n != 0 {
			t.Errorf("%d pushes before the changes were coalesced, want 0", n)
		}
		l.change()
		time.Sleep(defaultCoalesce) // the bubble's time
		synctest.Wait()
		if n := l.deliver(); n != 1 || !l.converged() {
			t.Errorf("two changes went out in %d pushes, converged %v; want 1, true", n, l.converged())
		}
	})
}

// TestBusyPlace: a place that keeps changing sends fewer, larger deltas, each within a second and none larger than a
// snapshot. A single change goes out without delay.
func TestBusyPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		each   time.Duration // interval between changes
		deltas int64         // within two seconds
	}{{10 * time.Millisecond, 2}, {50 * time.Millisecond, 8}, {500 * time.Microsecond, 8}} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.connect()
			l.deliver()
			for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(c.each) {
				l.change()
				l.deliver()
			}
			time.Sleep(defaultCoalesce)
			synctest.Wait()
			l.deliver()
			if n := l.s.Counts().Deltas.Load(); n < c.deltas-1 || n > c.deltas+1 || !l.converged() {
				t.Errorf("changes each %s: %d deltas, converged %v; want about %d, true", c.each, n, l.converged(), c.deltas)
			}
			if n := l.s.Counts().Snapshots.Load(); n != 1 {
				t.Errorf("changes each %s: %d snapshots, want 1", c.each, n)
			}
		})
	}
}

// TestLag: how far behind the board is, counted from the commit of the oldest change it lacks, or from its hello if
// that was later.
func TestLag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		want := func(when string, lag time.Duration, behind int) {
			t.Helper()
			if got, n := l.s.Lag(); got != lag || n != behind {
				t.Errorf("%s: lag %s of %d boards, want %s of %d", when, got, n, lag, behind)
			}
		}
		want("nobody is connected", 0, 0)
		l.connect()
		l.advance(t, 2*time.Second)
		want("2 s after hello, the snapshot under way", 2*time.Second, 1)
		l.deliver()
		want("applied", 0, 0)
		l.change()
		l.advance(t, 7*time.Second)
		want("7 s after a commit", 7*time.Second, 1)
		l.change()
		l.advance(t, 294*time.Second)
		want("the oldest change counts", 301*time.Second, 1)
		l.deliver()
		want("all applied", 0, 0)
	})
}

func TestAJumpWaitsForTheChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.connect()
		l.deliver()
		l.change()
		l.advance(t, time.Hour)
		if l.line.pushes < 2 {
			t.Error("the jump ended before the change went out")
		}
	})
}

func TestLostPushIsSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.connect()
		if _, ok := l.line.take(); !ok { // lost on the way
			t.Fatal("nothing was sent")
		}
		var at []time.Duration
		for i := range 200 {
			l.advance(t, time.Second)
			if _, ok := l.line.take(); ok { // lost again
				at = append(at, time.Duration(i+1)*time.Second)
			}
		}
		if len(at) < 4 || at[0] > 6*time.Second || at[len(at)-1]-at[len(at)-2] > defaultResendMax+defaultResend {
			t.Errorf("sent again after %v, want at least 4 times, first within 6s, at last about every %s", at, defaultResendMax)
		}
		l.advance(t, time.Minute+defaultResend)
		if l.deliver(); !l.converged() {
			t.Error("not converged after the line came back")
		}
		if l.took[0] < 200*time.Second {
			t.Errorf("observed %v, want at least 200s", l.took)
		}
	})
}

func TestBoardsOfAPlaceShareOneEncoding(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, b := range []string{"brd_1", "brd_2", "brd_3", "brd_4"} {
		l.s.Connected(board.Hello{BoardID: b, PlaceID: somePlace, Epoch: 1})
	}
	if l.content.reads != 1 || l.line.pushes != 4 {
		t.Errorf("got %d reads for %d pushes, want 1 and 4", l.content.reads, l.line.pushes)
	}
}

// Whatever is lost, repeated or cut, the board has the content in the end [OFF-4].
func TestConverges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.connect()
			steps := rapid.SliceOfN(rapid.SampledFrom([]string{"change", "deliver", "lose", "ackLost", "cut", "wipe", "spoil", "digest", "time", "jump"}), 1, 40).Draw(rt, "steps")
			for _, step := range steps {
				switch step {
				case "change":
					l.change()
				case "deliver":
					l.deliver()
				case "lose":
					l.line.take()
				case "ackLost":
					if y, ok := l.line.take(); ok {
						l.board.apply(y)
					}
				case "cut":
					l.s.Gone(someBoard, l.line.epoch)
					l.line.queue = nil
					l.line.epoch++
					l.connect()
				case "wipe":
					*l.board = fakeBoard{}
				case "spoil":
					if len(l.board.grants) > 0 {
						l.board.grants = l.board.grants[1:]
					}
				case "digest":
					l.s.Digest(someBoard, l.line.epoch, l.board.rev, l.board.digest())
				case "time":
					time.Sleep(defaultCoalesce)
					synctest.Wait()
				case "jump":
					l.advance(t, 7*time.Second)
				}
			}
			for range 4 { // like a healthy board
				l.advance(t, 2*time.Minute)
				l.deliver()
				l.s.Digest(someBoard, l.line.epoch, l.board.rev, l.board.digest())
				l.deliver()
			}
			if !l.converged() {
				rt.Fatalf("after %v: board %d %s, server %d %s, known %d", steps, l.board.rev, l.board.digest(), l.content.rev,
					digestOf(l.content.grants), l.line.Status("").AppliedRevision)
			}
		})
	})
}
