package boardsync

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/doorlab/doorlab/server/board"
)

func TestWhatDiffersIsRepaired(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*lab){
		"a grant is missing":      func(l *lab) { l.board.grants = l.board.grants[:1] },
		"the flash was lost":      func(l *lab) { *l.board = fakeBoard{} },
		"ahead of the server":     func(l *lab) { l.board.rev += 7 },
		"behind":                  func(l *lab) { l.board.rev, l.board.grants = 1, l.board.grants[:1] },
		"behind and not the same": func(l *lab) { l.board.rev, l.board.grants = 1, nil },
	} {
		for _, how := range []string{"hello", "digest"} {
			t.Run(name+" at "+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					l := newLab(t)
					l.content.add()
					l.connect()
					l.deliver()
					spoil(l)
					if how == "hello" {
						l.line.epoch++
						l.connect()
					} else if l.says() {
						t.Error("said to be equal")
					}
					if n := l.deliver(); n == 0 || n > 3 || !l.converged() {
						t.Errorf("%d pushes, converged %v; want 1 to 3 and true", n, l.converged())
					}
					if !l.says() {
						t.Error("equal at last, but not said so")
					}
				})
			})
		}
	}
}

func TestAnotherEpochChangesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.connect()
	l.line.epoch = 2
	l.connect()
	l.s.Acked(someBoard, 1, 9, "x")
	l.s.Gone(someBoard, 1)
	if equal, wrong := l.s.Digest(someBoard, 1, 1, ""); equal || wrong != "" || l.line.status.AppliedRevision != 0 {
		t.Error("an old connection was listened to")
	}
	l.s.Gone(someBoard, 2)
	if len(l.s.boards) != 0 || l.s.place(somePlace).connected.Load() != 0 {
		t.Error("a gone board is still there")
	}
}

func TestABoardThatNamesNoDigest(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.s.Connected(board.Hello{BoardID: someBoard, PlaceID: somePlace, Epoch: 1, Revision: 1})
	if equal, _ := l.s.Digest(someBoard, 1, 1, ""); !equal || l.line.pushes != 0 {
		t.Error("only the revision counts for a simple board")
	}
}

func TestABoardThatCannotHoldTheContentIsNotFlooded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.connect()
		for range 100 {
			y, ok := l.line.take()
			if !ok {
				break
			}
			l.s.Acked(someBoard, 1, y.To, "wrong")
		}
		if l.line.pushes > 3 {
			t.Errorf("got %d pushes, want at most 3", l.line.pushes)
		}
	})
}

func TestStoreAwayIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.content.err = errors.New("away")
		l.connect()
		l.content.err = nil
		l.advance(t, 2*defaultResend)
		if l.deliver(); !l.converged() {
			t.Error("never sent")
		}
	})
}
