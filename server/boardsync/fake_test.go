package boardsync

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/device"
)

const somePlace = "plc_a"

// fakeContent is a place of grants, each with the revision that made it.
type fakeContent struct {
	mu     sync.Mutex
	rev    int64
	grants []access.Grant
	revs   []int64
	err    error
	reads  int
}

func (c *fakeContent) Revision(string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// fakeLine keeps what is pushed until the test delivers it.
type fakeLine struct {
	mu     sync.Mutex
	down   bool
	epoch  int64
	queue  []wire.Sync
	pushes int
	status device.BoardStatus
}

func (l *fakeLine) Push(_ string, epoch int64, payload []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down || epoch != l.epoch {
		return false
	}
	var y wire.Sync
	if err := json.Unmarshal(payload, &y); err != nil {
		panic(err)
	}
	l.queue = append(l.queue, y)
	l.pushes++
	return true
}

func (l *fakeLine) Applied(_ string, rev int64, digest string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.AppliedRevision, l.status.Digest, l.status.AppliedAt = rev, digest, at
}

func (l *fakeLine) Status(string) device.BoardStatus {
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

// fakeBoard applies what it is sent as the protocol says.
type fakeBoard struct {
	rev    int64
	grants []access.Grant
}

// apply returns an acknowledgement, or a digest when the delta does not fit.
func (b *fakeBoard) apply(y wire.Sync) (acked bool) {
	switch {
	case y.Snapshot:
		b.grants = nil
	case y.From != b.rev:
		return false
	}
	b.grants, b.rev = append(b.grants, y.Upsert...), y.To
	return true
}

func (b *fakeBoard) digest() string { return digestOf(b.grants) }
