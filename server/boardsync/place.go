package boardsync

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
)

// target is a place's desired revision and its connected boards.
type target struct {
	id        string
	planned   atomic.Bool // the next push is planned
	connected atomic.Int64

	rmu     sync.Mutex // never held for long: commits pass here
	desired int64
	commits []commit // the latest, oldest first

	mu     sync.Mutex // orders what goes out
	peers  map[*peer]bool
	made   map[int64]made // deltas, encoded once for all boards that have the same revision
	to     int64          // the revision that made goes to
	bytes  int            // in made
	waits  int            // peers that wait for the acknowledgement of a delta; made is kept for them
	snap   made           // the latest snapshot
	snaps  int            // peers that wait for the acknowledgement of one
	snapAt time.Time      // when snap was last used
	sum    made           // digest of the revision sum.to
	lost   bool           // a board was ahead of it
}

// commit is when a revision was committed.
type commit struct {
	rev int64
	at  time.Time
}

// made is an encoded change: one message, or one per page.
type made struct {
	pages    [][]byte
	bytes    int
	to       int64
	digest   string
	snapshot bool
}

// peer is a connected board. It is in one of five states:
//
//	unread      since its hello, the place's revision could not be read: unread
//	behind      its revision is lower: a delta is next, or a snapshot if it lacks too much
//	uncompared  its revision is the place's, its digest has not been compared yet: neither agreed nor whole
//	differs     its content is not what we sent, or not from us: whole, a snapshot is next
//	equal       its revision is the place's, its digest too: agreed
//
// While it is behind or differs, a change may be on its way: waiting, until it is acknowledged or sent again.
type peer struct {
	id    string
	place *target
	epoch int64
	hello time.Time

	// place.mu
	applied int64
	digest  string // of what is applied, "" = the board does not say
	unread  bool   // the place's revision hasn't been read since hello
	agreed  bool   // the digest at applied was compared and is the place's
	whole   bool   // the next one must be a snapshot: the content differs
	fails   int    // look-ups in a row that failed
	retryAt time.Time
	waiting bool // for the acknowledgement of sent
	sent    made
	sentTo  int64 // highest revision sent on this connection
	from    int64
	sentAt  time.Time
	tries   int
	out     int           // pages of sent that have been sent
	got     int           // pages of sent that the board has, from the first
	partial *wire.Partial // pages from an earlier connection
	again   bool          // the push is a resend
	pace    *pace
}

// A board that is further behind than maxBehind gets a snapshot. maxMade bounds the encoded changes that a place keeps;
// a larger one is kept alone.
const (
	maxBehind = 1024
	maxMade   = 8 << 20
)

// wait marks m as in flight; the board holds its first got pages already.
func (b *peer) wait(m made, from int64, got int, now time.Time) {
	if m.snapshot { // before done: what m is of is kept
		b.place.snaps++
	} else {
		b.place.waits++
	}
	b.done()
	b.waiting, b.sent, b.from, b.sentAt, b.got, b.out = true, m, from, now, got, got
}

// done clears the change in flight. Encoded changes are dropped with the last board that waited for one.
func (b *peer) done() {
	if !b.waiting {
		return
	}
	p := b.place
	if b.sent.snapshot {
		if p.snaps--; p.snaps == 0 && p.snap.to == b.sent.to && b.got == 0 {
			p.snap = made{}
		}
	} else if p.waits--; p.waits == 0 {
		p.drop()
	}
	b.waiting, b.sent, b.got, b.out = false, made{}, 0, 0
}

// maxCommits bounds what is remembered to measure latency; a board that is further behind is measured from the oldest
// commit kept.
const maxCommits = 1024

func (p *target) moved(rev int64, at time.Time) {
	p.rmu.Lock()
	defer p.rmu.Unlock()
	p.desired = max(p.desired, rev)
	if len(p.commits) == maxCommits {
		p.commits = slices.Clone(p.commits[maxCommits/2:])
	}
	p.commits = append(p.commits, commit{rev, at})
}

func (p *target) atLeast(rev int64) {
	p.rmu.Lock()
	defer p.rmu.Unlock()
	p.desired = max(p.desired, rev)
}

func (p *target) revision() int64 {
	p.rmu.Lock()
	defer p.rmu.Unlock()
	return p.desired
}

// committed is when the first revision after from was committed.
func (p *target) committed(from int64) (time.Time, bool) {
	p.rmu.Lock()
	defer p.rmu.Unlock()
	i, _ := slices.BinarySearchFunc(p.commits, from+1, func(c commit, rev int64) int { return int(c.rev - rev) })
	if i == len(p.commits) {
		return time.Time{}, false
	}
	return p.commits[i].at, true
}

// missing is the time since which the board could have had the oldest change that it lacks: the change's commit, or the
// board's hello if that was later. Called with mu held.
func (p *target) missing(b *peer) (since time.Time, hello bool) {
	at, ok := p.committed(b.applied)
	if !ok || at.Before(b.hello) {
		return b.hello, true
	}
	return at, false
}

// join and leave are called with mu held.
func (p *target) join(b *peer) {
	p.peers[b] = true
	p.connected.Store(int64(len(p.peers)))
}

func (p *target) leave(b *peer) {
	b.done()
	delete(p.peers, b)
	p.connected.Store(int64(len(p.peers)))
}

func (p *target) drop() { p.made, p.bytes = nil, 0 }

// change encodes what takes a board from a revision to the current one; from 0 that is a snapshot, of floor or later.
// Called with mu held.
func (p *target) change(c Content, from, floor int64, now time.Time) (made, error) {
	if from == 0 {
		return p.snapshot(c, floor, now)
	}
	if rev := p.revision(); p.made == nil || p.to != rev {
		p.drop()
		p.made, p.to = map[int64]made{}, rev
	}
	if m, ok := p.made[from]; ok {
		return m, nil
	}
	y, err := c.SyncContent(p.id, from)
	if err != nil {
		return made{}, err
	}
	m, err := encode(y)
	if err != nil {
		return made{}, err
	}
	p.sum = made{to: m.to, digest: m.digest}
	if y.To == p.to {
		if p.bytes+m.bytes > maxMade {
			p.drop()
			p.made = map[int64]made{}
		}
		p.made[from] = m
		p.bytes += m.bytes
	}
	return m, nil
}

// digest of the place's current content, and its revision. Called with mu held.
func (p *target) digest(c Content) (rev int64, digest string, err error) {
	if at := p.revision(); p.sum.to != at {
		y, err := c.SyncContent(p.id, at)
		if err != nil {
			return 0, "", err
		}
		p.sum = made{to: y.To, digest: y.Digest}
	}
	return p.sum.to, p.sum.digest, nil
}
