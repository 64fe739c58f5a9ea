package boardsync

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// During a jump of the clock the tick runs once, at its end. Lost messages are still resent when they are due, so
// that a jump doesn't make a board late.
func TestAJumpSendsAgainOnTheWay(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(l *lab){
		"the change is lost": func(l *lab) { l.line.take() },
		"its acknowledgement is lost": func(l *lab) {
			y, _ := l.line.take()
			l.board.apply(y)
		},
		"the content could not be read": func(l *lab) {
			l.line.take()
			l.content.err = errors.New("away")
			l.clk.AfterFunc(defaultResend+time.Second, func() { l.content.err = nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.connect()
				lose(l)
				for at := defaultResend; at <= 4*defaultResend; at += defaultResend {
					l.clk.AfterFunc(at+time.Millisecond, func() { l.deliver() })
				}
				l.advance(t, 301*time.Second)
				if !l.converged() || len(l.took) == 0 || l.took[0] > 4*defaultResend+time.Millisecond {
					t.Errorf("converged: %v after %v, want it within %v of a jump of 301 s", l.converged(), l.took, 4*defaultResend)
				}
			})
		})
	}
}

// A board that never answers costs one message per minute of a 36-hour jump.
func TestALongJumpToASilentBoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.connect()
		l.advance(t, 36*time.Hour)
		if most := int(36*time.Hour/defaultResendMax) + 10; l.line.pushes < 100 || l.line.pushes > most {
			t.Errorf("%d messages, want 100 to %d", l.line.pushes, most)
		}
	})
}

// A digest that names the revision stands in for a lost acknowledgement, and the history records it once.
func TestADigestTellsWhatALostAcknowledgementDid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.connect()
		y, _ := l.line.take()
		l.board.apply(y)
		for range 2 {
			l.s.Digest(someBoard, l.line.epoch, l.board.rev, l.board.digest())
		}
		if len(l.applied) != 1 || l.applied[0].Revision != l.board.rev || l.applied[0].Digest != l.board.digest() {
			t.Errorf("the history has %+v, want that revision %d was applied, once", l.applied, l.board.rev)
		}
	})
}
