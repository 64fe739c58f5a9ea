package boardsync

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/server/board"
)

// A snapshot that another board of the place still waits for is not for a board that already has a later revision: the
// board would refuse it, or bring back what has been revoked since, and get no further change [SYNC-2].
func TestABoardGetsNoSnapshotOlderThanWhatItHas(t *testing.T) {
	t.Parallel()
	for size, fill := range map[string]func(*lab){"one message": func(*lab) {}, "many pages": (*lab).large} {
		for when, differ := range map[string]func(*lab){
			"its digest differs": func(l *lab) {
				l.s.Digest(someBoard, l.line.epoch, l.board.rev, strings.Repeat("0", 32))
			},
			"it acknowledges a wrong digest": func(l *lab) {
				l.s.Acked(someBoard, l.line.epoch, l.board.rev, strings.Repeat("0", 32))
			},
			"its hello has a wrong digest": func(l *lab) {
				l.s.Gone(someBoard, l.line.epoch)
				l.s.Connected(board.Hello{BoardID: someBoard, PlaceID: somePlace, Epoch: l.line.epoch, Revision: l.board.rev, Digest: strings.Repeat("0", 32)})
			},
		} {
			t.Run(size+", "+when, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					l := newLab(t)
					fill(l)
					l.line.only = someBoard
					l.s.Connected(board.Hello{BoardID: "brd_waits", PlaceID: somePlace, Epoch: 1}) // and never acknowledges
					l.connect()
					l.deliver()
					l.change()
					time.Sleep(defaultCoalesce) // the bubble's time
					synctest.Wait()
					if l.deliver(); !l.converged() {
						t.Fatal("not converged after a change, want that the board has it")
					}
					has := l.board.rev
					differ(l)
					if y, ok := l.line.take(); !ok || !y.Snapshot || y.To < has {
						t.Errorf("a board that has revision %d was sent snapshot %v to %d (%v), want one that is no older", has, y.Snapshot, y.To, ok)
					}
				})
			})
		}
	}
}

// The same holds for a board whose acknowledgement was lost: it may have everything that was sent.
func TestABoardGetsNoSnapshotOlderThanWhatItWasSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		add := func(n int64) { // changes of what is there, so that each message is one page
			l.content.mu.Lock()
			defer l.content.mu.Unlock()
			l.content.rev += n
		}
		l.connect()
		l.deliver()
		add(near + 1)
		l.line.only = someBoard
		l.s.Connected(board.Hello{BoardID: "brd_waits", PlaceID: somePlace, Epoch: 1}) // and never acknowledges
		add(1)
		l.s.Moved(somePlace, l.content.rev)
		time.Sleep(defaultCoalesce) // the bubble's time
		synctest.Wait()
		for y, ok := l.line.take(); ok; y, ok = l.line.take() {
			l.board.apply(y) // and no acknowledgement arrives
		}
		if l.board.rev != near+3 {
			t.Fatalf("the board has revision %d, want %d", l.board.rev, near+3)
		}
		add(near - 1) // now the board lacks too much for a delta, as far as the server knows
		l.s.Moved(somePlace, l.content.rev)
		l.advance(t, 2*defaultResend)
		for y, ok := l.line.take(); ok; y, ok = l.line.take() {
			if y.Snapshot && y.To < l.board.rev {
				t.Errorf("a board that was sent revision %d got a snapshot to %d, want one that is no older", l.board.rev, y.To)
			}
			if l.board.rev < y.To {
				l.hand(y)
			}
		}
		if !l.converged() {
			t.Errorf("the board has revision %d, want %d", l.board.rev, l.content.rev)
		}
	})
}
