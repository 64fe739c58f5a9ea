package inbox

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/internal/mask"
)

// Config of a Recorder; the zero value works.
type Config struct {
	Now     func() time.Time // domain time; nil = the zero time
	Live    bool             // live places too; false = test places only
	Entries int              // per place; 0 = 500
	Bytes   int              // per place; 0 = 2 MiB
	Total   int              // bytes of all places; 0 = 64 MiB
	Rate    int              // per second and place, with a burst of ten seconds; 0 = 50
}

// Recorder keeps the latest exchanges of each place. Add is called on the path of requests and never waits. Safe for
// concurrent use.
type Recorder struct {
	cfg   Config
	in    chan Exchange
	done  chan struct{}
	added atomic.Int64

	mu     sync.Mutex
	moved  sync.Cond
	stored int64
	seq    int64
	places map[string]*box   // by boxOf
	peers  map[string]string // address → the place that last exchanged a key from there
	closed bool

	gate struct {
		sync.Mutex
		of map[string]*bucket
	}
}

// box is one place's.
type box struct {
	entries []*Entry // oldest first
	bytes   int
	evicted int64
}

// bucket limits the rate of a place's exchanges: otherwise a load test would flush everything out within a second, and
// distort what it measures.
type bucket struct {
	tokens float64
	last   time.Duration
	missed int64
}

// waiting bounds the exchanges that aren't masked yet; only they are held in full.
const waiting = 256

// maxPeers bounds the remembered addresses.
const maxPeers = 1000

// New starts a recorder; Close ends it.
func New(c Config) *Recorder {
	c.Entries, c.Bytes = cmp.Or(c.Entries, 500), cmp.Or(c.Bytes, 2<<20)
	c.Total, c.Rate = cmp.Or(c.Total, 64<<20), cmp.Or(c.Rate, 50)
	r := &Recorder{cfg: c, in: make(chan Exchange, waiting), done: make(chan struct{}), places: map[string]*box{}, peers: map[string]string{}}
	r.moved.L = &r.mu
	r.gate.of = map[string]*bucket{}
	go r.run()
	return r
}

// Close ends the recorder; later exchanges are dropped.
func (r *Recorder) Close() {
	r.mu.Lock()
	again := r.closed
	r.closed = true
	r.moved.Broadcast()
	r.mu.Unlock()
	if !again {
		close(r.done)
	}
}

// boxOf names the box for a place's exchanges. Those of its customers have their own, because anyone can send them:
// they must not push out the partner's.
func boxOf(placeID string, customer bool) string {
	if customer {
		return placeID + " customers"
	}
	return placeID
}

// Wants reports whether an exchange of a place, or of its customers, would be kept; it counts against the rate.
func (r *Recorder) Wants(placeID string, customer, live bool) bool {
	if r == nil || live && !r.cfg.Live {
		return false
	}
	now := clock.Mono()
	r.gate.Lock()
	defer r.gate.Unlock()
	name := boxOf(placeID, customer)
	b := each.Made(r.gate.of, name, func() *bucket { return &bucket{tokens: float64(10 * r.cfg.Rate), last: now} })
	b.tokens = min(b.tokens+(now-b.last).Seconds()*float64(r.cfg.Rate), float64(10*r.cfg.Rate))
	b.last = now
	if b.tokens < 1 {
		b.missed++
		return false
	}
	b.tokens--
	return true
}

// Now is the domain time, for the moment at which a request comes; zero for no recorder.
func (r *Recorder) Now() time.Time {
	if r == nil || r.cfg.Now == nil {
		return time.Time{}
	}
	return r.cfg.Now()
}

// Add hands over an exchange; it is dropped if too many are waiting.
func (r *Recorder) Add(x Exchange) {
	if r.cfg.Now != nil {
		x.At = r.cfg.Now()
	}
	if x.Given != "" && x.Addr != "" { // at once: what the address sends next may be a key that belongs to no place
		r.came(x.Addr, x.PlaceID)
	}
	x.ended = clock.Mono()
	x.requestBytes, x.answerBytes = len(x.Request), len(x.Answer)
	x.Request, x.Answer = clip(x.Request), clip(x.Answer)
	select {
	case r.in <- x:
		r.added.Add(1)
	default:
		r.gate.Lock()
		if b := r.gate.of[boxOf(x.PlaceID, x.Customer)]; b != nil {
			b.missed++
		}
		r.gate.Unlock()
	}
}

// came notes which place exchanged a key from an address.
func (r *Recorder) came(addr, placeID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.peers) >= maxPeers {
		clear(r.peers)
	}
	r.peers[limit.Network(addr)] = placeID
}

// Peer is the place that last exchanged a key from an address; "" = none did.
func (r *Recorder) Peer(addr string) string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.peers[limit.Network(addr)]
}

func (r *Recorder) run() {
	for {
		select {
		case <-r.done:
			return
		case x := <-r.in:
			e := masked(&x)
			r.mu.Lock()
			r.store(e)
			r.stored++
			r.moved.Broadcast()
			r.mu.Unlock()
		}
	}
}

// store appends an entry and evicts the oldest; mu is held.
func (r *Recorder) store(e *Entry) {
	name := boxOf(e.PlaceID, e.Customer)
	b := r.places[name]
	if b == nil {
		b = &box{}
		r.places[name] = b
		for _, other := range r.places { // each place's share has shrunk
			other.trim(r.cfg.Entries, r.share())
		}
	}
	r.seq++
	e.Seq = r.seq
	b.entries = append(b.entries, e)
	b.bytes += e.size()
	b.trim(r.cfg.Entries, r.share())
}

func (r *Recorder) share() int { return min(r.cfg.Bytes, r.cfg.Total/len(r.places)) }

func (b *box) trim(entries, bytes int) {
	n := 0
	for ; n < len(b.entries) && (len(b.entries)-n > entries || b.bytes > bytes); n++ {
		b.bytes -= b.entries[n].size()
		b.entries[n] = nil
	}
	b.entries = b.entries[n:]
	b.evicted += int64(n)
}

// settle waits until what was added before is stored; mu is held.
func (r *Recorder) settle() {
	for want := r.added.Load(); r.stored < want && !r.closed; {
		r.moved.Wait()
	}
}

// Filter narrows a list. Zero values match everything.
type Filter struct {
	Status func(int) bool
	Path   string // part of the path or route
	Key    string // a complete Idempotency-Key, or the start of one as shown
}

func (f Filter) fits(e *Entry) bool {
	if f.Status != nil && !f.Status(e.Status) || f.Path != "" && !strings.Contains(e.Path, f.Path) && !strings.Contains(e.Route, f.Path) {
		return false
	}
	return f.Key == "" || e.KeyMark == mask.Mark(f.Key) || e.IdempotencyKey != "" && strings.HasPrefix(e.IdempotencyKey, f.Key)
}

// Kept says how much of a place's traffic a list shows.
type Kept struct {
	Entries int   `json:"entries"`
	Evicted int64 `json:"evicted"` // older ones that were evicted
	Skipped int64 `json:"skipped"` // too fast to be recorded
}

// List returns the matching entries of a place, including its customers', oldest first. Entries are read only.
func (r *Recorder) List(placeID string, f Filter) (out []*Entry, kept Kept) {
	r.gate.Lock()
	for _, customer := range []bool{false, true} {
		if b := r.gate.of[boxOf(placeID, customer)]; b != nil {
			kept.Skipped += b.missed
		}
	}
	r.gate.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	for _, customer := range []bool{false, true} {
		b := r.places[boxOf(placeID, customer)]
		if b == nil {
			continue
		}
		kept.Entries, kept.Evicted = kept.Entries+len(b.entries), kept.Evicted+b.evicted
		out = append(out, each.If(b.entries, f.fits)...)
	}
	slices.SortFunc(out, func(a, b *Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, kept
}

// Get is one entry; nil if it isn't kept (any more).
func (r *Recorder) Get(seq int64) *Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	for _, b := range r.places {
		for _, e := range b.entries {
			if e.Seq == seq {
				return e
			}
		}
	}
	return nil
}

// Clear deletes a place's entries and returns their number.
func (r *Recorder) Clear(placeID string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	n := 0
	r.gate.Lock()
	defer r.gate.Unlock()
	for _, customer := range []bool{false, true} {
		name := boxOf(placeID, customer)
		if b := r.places[name]; b != nil {
			n += len(b.entries)
			*b = box{}
		}
		delete(r.gate.of, name)
	}
	return n
}
