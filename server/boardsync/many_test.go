package boardsync

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/board"
)

// planned counts the times that are planned.
type planned struct {
	clock.Real
	n atomic.Int64
}

func (p *planned) AfterFunc(d time.Duration, f func()) clock.Timer {
	p.n.Add(1)
	return p.Real.AfterFunc(d, f)
}

// TestManyBoardsAreRepeatedTogether: boards that don't acknowledge, each due a moment after the other, don't make the service
// look at all of them once for each.
func TestManyBoardsAreRepeatedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		content, line, clk := &fakeContent{}, &fakeLine{epoch: 1}, &planned{}
		content.add()
		s := New(Config{Content: content, Line: line, Clock: clk})
		defer s.Stop()
		const boards = 400
		for i := range boards {
			s.Connected(board.Hello{BoardID: fmt.Sprint("brd_", i), PlaceID: somePlace, Epoch: 1})
			time.Sleep(time.Millisecond)
		}
		clk.n.Store(0)
		time.Sleep(defaultResend + time.Second)
		synctest.Wait()
		if most, n := boards/5, int(clk.n.Load()); line.pushes != 2*boards || n > most {
			t.Errorf("%d messages, looks at all boards planned %d times; want each board's repeated once, and %d at most", line.pushes-boards, n, most)
		}
	})
}
