package boardsync

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/server/board"
)

// lines is a log that is read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestADatabaseThatCannotBeReadIsToldOnce: not once for each board.
func TestADatabaseThatCannotBeReadIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log lines
		content := &fakeContent{lost: 1000}
		content.add()
		s := New(Config{Content: content, Line: &fakeLine{epoch: 1}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		defer s.Stop()
		for i := range 100 {
			s.Connected(board.Hello{BoardID: fmt.Sprint("brd_", i), PlaceID: somePlace, Epoch: 1})
		}
		if n := strings.Count(log.String(), "could not be read"); n != 1 || s.Counts().ReadFailures.Load() != 100 {
			t.Errorf("%d lines about %d failures, want one about 100", n, s.Counts().ReadFailures.Load())
		}
		time.Sleep(2 * warnEvery) // tried after 5, 15, 35 and 75 s
		if n := strings.Count(log.String(), "could not be read"); n != 2 {
			t.Errorf("%d lines after two minutes, want another one", n)
		}
	})
}

// TestALostDatabaseIsTold: boards that know more than the database show that it lost changes, and one line of the log says so
// for each place. A board that is as far, or behind, is nothing to tell.
func TestALostDatabaseIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		revision int64
		lines    int
	}{"ahead": {3, 1}, "equal": {2, 0}, "behind": {1, 0}, "empty": {0, 0}} {
		synctest.Test(t, func(t *testing.T) {
			var log lines
			content := &fakeContent{}
			content.add()
			content.add()
			s := New(Config{Content: content, Line: &fakeLine{epoch: 1}, Log: slog.New(slog.NewTextHandler(&log, nil))})
			defer s.Stop()
			for _, id := range []string{"brd_1", "brd_2", "brd_1"} {
				s.Connected(board.Hello{BoardID: id, PlaceID: somePlace, Epoch: 1, Revision: c.revision})
			}
			if n := strings.Count(log.String(), "has lost its last changes"); n != c.lines || n > 0 && !strings.Contains(log.String(), "board=brd_1 place=plc_a revision=3 database=2") {
				t.Errorf("%s: %d lines, want %d that names board, place and revisions:\n%s", name, n, c.lines, log.String())
			}
		})
	}
}
