package boardsync

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
)

// large makes the lab's content a few hundred pages long.
func (l *lab) large() {
	for range 300 {
		l.content.add()
		l.content.grants[len(l.content.grants)-1].Doors = []string{strings.Repeat("d", 5000)}
	}
}

// A large change goes out in pages, a few at a time. After a lost connection, pages that arrived aren't sent again.
func TestSnapshotInPagesResumes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.large()
		l.connect()
		come := map[int]int{}
		pages, most, hands := 0, 0, 0
		for !l.converged() {
			l.line.mu.Lock()
			most = max(most, len(l.line.queue))
			l.line.mu.Unlock()
			y, ok := l.line.take()
			if !ok {
				l.advance(t, defaultResend)
				if hands++; hands > 100 {
					t.Fatalf("stuck with %d of %d pages, want progress", len(l.board.pages), pages)
				}
				continue
			}
			if come[y.Page]++; y.Pages < 10 || !y.Snapshot {
				t.Fatalf("got %d pages, snapshot %v, want at least 10 and true", y.Pages, y.Snapshot)
			}
			pages = y.Pages
			l.hand(y)
			if n := len(come); n%7 == 0 && come[y.Page] == 1 { // the line is cut, and what is on it is lost
				l.change()
				l.s.Gone(someBoard, l.line.epoch)
				l.line.queue, l.line.epoch = nil, l.line.epoch+1
				l.connect()
			}
			if l.board.rev > 0 && l.board.rev < l.content.rev { // later changes go out together
				l.advance(t, time.Second)
				l.deliver()
			}
		}
		again := 0
		for _, n := range come {
			again += n - 1
		}
		if len(come) != pages || again > 2*pages/7+window || most > window {
			t.Errorf("%d pages, %d came, %d of them again, %d at once; want %d at once", pages, len(come), again, most, window)
		}
		l.advance(t, keepFor+defaultResend)
		if n := l.s.Cached(); n != 0 {
			t.Errorf("%d bytes are kept for nobody, want 0", n)
		}
	})
}

// A slow board isn't given up as long as it makes progress: the deadline starts over with each page.
func TestDeadlinesFollowProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.large()
		l.connect()
		for !l.converged() {
			y, ok := l.line.take()
			if !ok {
				t.Fatalf("nothing in flight after %d pages, want the next one", len(l.board.pages))
			}
			l.advance(t, defaultResend-time.Second)
			l.hand(y)
		}
		if n := l.s.Counts().Resends.Load(); n != 0 {
			t.Errorf("got %d resends, want 0", n)
		}
	})
}

// Page acknowledgements can't request more than the window, whatever they claim.
func TestLiesAboutPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.large()
		l.connect()
		to := l.content.rev
		for i := range 1000 {
			l.s.Paged(someBoard, 1, to, i%3) // page 0, 1 or 2 of 2
			l.s.Paged(someBoard, 1, to, 100000)
			l.s.Paged(someBoard, 1, to+1, 1)
			l.s.Paged(someBoard, 9, to, 1)
		}
		if l.line.bytes > 5*window*pageSize || l.s.Counts().Impossible.Load() < 2000 {
			t.Errorf("got %d bytes drawn, %d impossible, want at most %d and at least 2000", l.line.bytes, l.s.Counts().Impossible.Load(), 5*window*pageSize)
		}
	})
}

// A page that was lost, or that the board forgot, is sent again in time.
func TestLostPagesComeAgain(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*lab){
		"a page is lost":        func(l *lab) { l.line.take() },
		"the board forgot them": func(l *lab) { l.board.pages = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.large()
				l.connect()
				for range 5 {
					y, _ := l.line.take()
					l.hand(y)
				}
				spoil(l)
				for range 10 {
					l.deliver()
					l.advance(t, defaultResendMax)
				}
				if !l.converged() {
					t.Errorf("not converged with %d pages left, want none missing", len(l.board.pages))
				}
			})
		})
	}
}

// What fits one message is sent as one; all pages together are the change, with each item once.
func TestEncode(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	y, _ := l.content.SyncContent("", 0)
	if m, err := encode(y); err != nil || len(m.pages) != 1 || strings.Contains(string(m.pages[0]), "page") {
		t.Errorf("a small change: %d messages, %v; want one without a page number", len(m.pages), err)
	}
	l.large()
	y, _ = l.content.SyncContent("", 0)
	for range 3000 {
		y.Remove = append(y.Remove, "pmt_"+strings.Repeat("x", 20))
	}
	y.Timezone, y.Windows = "Asia/Seoul", nil
	m := must.Get(encode(y))(t)
	line := &fakeLine{epoch: 1}
	var all wire.Sync
	for i, raw := range m.pages {
		if len(raw) > pageSize+1024 || !line.Push("", 1, raw) {
			t.Errorf("page %d has %d bytes, want at most %d and a line that takes it", i+1, len(raw), pageSize+1024)
		}
		p, _ := line.take()
		if p.Page != i+1 || p.Pages != len(m.pages) || p.To != y.To || p.Digest != y.Digest || !p.Snapshot || (p.Timezone != "") != (i == 0) {
			t.Errorf("page %d is %+v, want its number, the change's revision and digest, and details only on the first", i+1, p)
		}
		all.Upsert, all.Remove = append(all.Upsert, p.Upsert...), append(all.Remove, p.Remove...)
	}
	if digestOf(all.Upsert) != y.Digest || len(all.Upsert) != len(y.Upsert) || len(all.Remove) != len(y.Remove) {
		t.Errorf("%d of %d grants, %d of %d removed; want all, and the same digest", len(all.Upsert), len(y.Upsert), len(all.Remove), len(y.Remove))
	}
}
