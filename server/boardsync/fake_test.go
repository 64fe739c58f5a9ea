package boardsync

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

const somePlace = "plc_a"

// fakeContent is a place's grants, each with the revision that created it.
type fakeContent struct {
	mu     sync.Mutex
	rev    int64
	grants []access.Grant
	revs   []int64
	err    error
	lost   int // so many calls of Revision fail
	reads  int
}

func (c *fakeContent) Revision(string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost > 0 {
		c.lost--
		return 0, errors.New("away")
	}
	return c.rev, nil
}

func (c *fakeContent) add() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rev++
	c.grants = append(c.grants, access.Grant{ID: fmt.Sprintf("pmt_%d", c.rev)})
	c.revs = append(c.revs, c.rev)
	return c.rev
}

func (c *fakeContent) SyncContent(_ string, from int64) (wire.Sync, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	y := wire.Sync{From: from, To: c.rev, Snapshot: from == 0, Digest: digestOf(c.grants)}
	for i, g := range c.grants {
		if c.revs[i] > from {
			y.Upsert = append(y.Upsert, g)
		}
	}
	return y, c.err
}

func digestOf(gs []access.Grant) string {
	var sum access.Sum
	for _, g := range gs {
		sum.Toggle("grant", g)
	}
	return sum.String()
}

// fakeLine queues what is pushed until the test delivers it.
type fakeLine struct {
	mu     sync.Mutex
	down   bool
	only   string // what others are sent is lost; "" = nothing is
	epoch  int64
	queue  []wire.Sync
	pushes int
	bytes  int
	status board.Status
}

func (l *fakeLine) Push(boardID string, epoch int64, payload []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down || epoch != l.epoch {
		return false
	}
	if l.only != "" && boardID != l.only {
		return true
	}
	var y wire.Sync
	if err := json.Unmarshal(payload, &y); err != nil {
		panic(err)
	}
	l.queue = append(l.queue, y)
	l.pushes++
	l.bytes += len(payload)
	return true
}

func (l *fakeLine) Applied(_ string, rev int64, digest string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.AppliedRevision, l.status.Digest, l.status.AppliedAt = rev, digest, at
}

func (l *fakeLine) Status(string) board.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

func (l *fakeLine) take() (y wire.Sync, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return y, false
	}
	y, l.queue = l.queue[0], l.queue[1:]
	return y, true
}

// fakeBoard applies what it is sent according to the protocol.
type fakeBoard struct {
	rev    int64
	grants []access.Grant
	pages  []wire.Sync
}

// apply returns whether it acknowledges (otherwise it sends a digest because the delta doesn't fit), or how many
// pages it has.
func (b *fakeBoard) apply(y wire.Sync) (acked bool, pages int) {
	if !y.Snapshot && y.From != b.rev {
		return false, 0
	}
	if len(b.pages) > 0 && (b.pages[0].To != y.To || b.pages[0].Digest != y.Digest) {
		b.pages = nil
	}
	if y.Pages > 1 {
		if y.Page == len(b.pages)+1 {
			b.pages = append(b.pages, y)
		}
		if len(b.pages) < y.Pages {
			return false, len(b.pages)
		}
	} else {
		b.pages = []wire.Sync{y}
	}
	if y.Snapshot {
		b.grants = nil
	}
	for _, p := range b.pages {
		b.grants = append(b.grants, p.Upsert...)
	}
	b.rev, b.pages = y.To, nil
	return true, 0
}

// partial is what a hello says about pages.
func (b *fakeBoard) partial() *wire.Partial {
	if len(b.pages) == 0 || !b.pages[0].Snapshot {
		return nil
	}
	return &wire.Partial{To: b.pages[0].To, Digest: b.pages[0].Digest, Page: len(b.pages)}
}

func (b *fakeBoard) digest() string { return digestOf(b.grants) }
