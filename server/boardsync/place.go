package boardsync

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/plant"
	"github.com/doorlab/doorlab/internal/wire"
)

// place is a place's desired revision and its connected boards.
type place struct {
	id        string
	planned   atomic.Bool // the next push is planned
	connected atomic.Int64

	rmu     sync.Mutex // never held for long: commits pass here
	desired int64
	commits []commit // the latest, oldest first

	mu    sync.Mutex // orders what goes out
	peers map[*peer]bool
	made  map[int64]made // encoded once for all boards that have the same revision
	to    int64          // the revision that made goes to
}

// commit is when a revision was committed.
type commit struct {
	rev int64
	at  time.Time
}

// made is an encoded change.
type made struct {
	payload  []byte
	to       int64
	digest   string
	snapshot bool
}

// peer is a connected board.
type peer struct {
	id    string
	place *place
	epoch int64
	hello time.Time

	// place.mu
	applied int64
	digest  string // of what is applied, "" = the board does not say
	waiting bool   // for the acknowledgement of sent
	sent    made
	from    int64
	sentAt  time.Time
	tries   int
	whole   bool // the next one must be a snapshot: the content differs
}

// maxCommits bounds what is remembered for the latency; a board that is further
// behind is measured from the oldest.
const maxCommits = 1024

func (p *place) moved(rev int64, at time.Time) {
	p.rmu.Lock()
	defer p.rmu.Unlock()
	p.desired = max(p.desired, rev)
	if len(p.commits) == maxCommits {
		p.commits = slices.Clone(p.commits[maxCommits/2:])
	}
	p.commits = append(p.commits, commit{rev, at})
}

func (p *place) atLeast(rev int64) {
	p.rmu.Lock()
	defer p.rmu.Unlock()
	p.desired = max(p.desired, rev)
}

func (p *place) revision() int64 {
	p.rmu.Lock()
	defer p.rmu.Unlock()
	return p.desired
}

// committed is when the first revision after from was committed.
func (p *place) committed(from int64) (time.Time, bool) {
	p.rmu.Lock()
	defer p.rmu.Unlock()
	i, _ := slices.BinarySearchFunc(p.commits, from+1, func(c commit, rev int64) int { return int(c.rev - rev) })
	if i == len(p.commits) {
		return time.Time{}, false
	}
	return p.commits[i].at, true
}

// join and leave: with mu held.
func (p *place) join(b *peer) {
	p.peers[b] = true
	p.connected.Store(int64(len(p.peers)))
}

func (p *place) leave(b *peer) {
	delete(p.peers, b)
	p.connected.Store(int64(len(p.peers)))
	if len(p.peers) == 0 {
		p.made = nil
	}
}

// change encodes what takes a board from a revision to the current one. Called with mu held.
func (p *place) change(c Content, from int64) (made, error) {
	if rev := p.revision(); p.made == nil || p.to != rev {
		p.made, p.to = map[int64]made{}, rev
	}
	if m, ok := p.made[from]; ok {
		return m, nil
	}
	y, err := c.SyncContent(p.id, from)
	if err != nil {
		return made{}, err
	}
	if plant.Is("revocation-lost") {
		y.Upsert = slices.DeleteFunc(y.Upsert, func(g access.Grant) bool { return g.Revoked })
	}
	m, err := encode(y)
	if err == nil && y.To == p.to {
		p.made[from] = m
	}
	return m, err
}

func encode(y wire.Sync) (made, error) {
	raw, err := json.Marshal(y)
	return made{payload: raw, to: y.To, digest: y.Digest, snapshot: y.Snapshot}, err
}
