package loadtest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// hit is one planned request; a repeat shares everything but n with its first.
type hit struct {
	n       int64
	kind    vocab.Outcome // "" = a door command
	permit  *held         // that it is about
	ends    time.Time     // of the permit, if it is registered again
	public  bool          // needs no token
	door    door
	request        // without its token, place and door
	text    string // url as text
	repeat  bool
}

type door struct {
	id    string
	place *place
}

// source makes the hits of a plan, in order and by its seed alone, apart from
// the keys: they are new in every run, or a second run would be all replays.
type source struct {
	plan  Plan
	sched *schedule
	base  *url.URL
	run   string
	share float64 // of repeated keys

	mu      sync.Mutex
	rng     *rand.Rand
	pick    func() door
	used    map[string]bool // doors picked so far
	next    int64
	repeats int64
	recent  []*hit // firsts, a ring
	firsts  int64  // ever made
	flying  sync.Map

	now      func() time.Time // domain time
	tag      string           // in the names of what the load registers
	commands int64            // hits that are commands
	pool     pool
}

// mostFirsts is how many requests can be remembered to be repeated.
const mostFirsts = 1 << 20

func newSource(p Plan, s *schedule, base *url.URL, doors []door, seed int64, run string, now func() time.Time) *source {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x646f6f72+uint64(s.turns.number())<<32))
	src := &source{used: map[string]bool{}, plan: p, sched: s, base: base, run: run, tag: newKey(run, -1)[:8], now: now, rng: rng, share: s.repeats(p.RepeatedKeys)}
	pick := spread(p, doors, rng)
	src.pick = func() door { d := pick(); src.used[d.id] = true; return d }
	window := s.peak() * time.Duration(p.RepeatAfter).Seconds() * 2
	src.recent = make([]*hit, int(min(max(window, 1024), mostFirsts)))
	return src
}

// spread chooses doors: each in turn, a few hot ones, or only one.
func spread(p Plan, doors []door, rng *rand.Rand) func() door {
	doors = slices.Clone(doors)
	rng.Shuffle(len(doors), func(i, j int) { doors[i], doors[j] = doors[j], doors[i] })
	switch p.Doors {
	case "one":
		return func() door { return doors[0] }
	case "zipf":
		z := rand.NewZipf(rng, p.Skew, 1, uint64(len(doors)-1))
		return func() door { return doors[z.Uint64()] }
	}
	i := -1
	return func() door { i++; return doors[i%len(doors)] }
}

// target implements vegeta.Targeter. The headers only carry the hit's number:
// the wire builds the request, so that a token is as fresh as it can be.
func (s *source) target(t *vegeta.Target) error {
	h := s.make()
	s.flying.Store(h.n, h)
	t.Method, t.URL, t.Body = h.method, h.text, h.body
	t.Header = http.Header{hitHeader: {strconv.FormatInt(h.n, 10)}}
	return nil
}

// uses reports whether requests have been about a door.
func (s *source) uses(door string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used[door]
}

// take is the other end: the wire fetches the hit that a request stands for.
func (s *source) take(number string) (*hit, bool) {
	n, err := strconv.ParseInt(number, 10, 64)
	v, ok := s.flying.LoadAndDelete(n)
	if err != nil || !ok {
		return nil, false
	}
	return v.(*hit), true
}

func (s *source) make() *hit {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.next
	s.next++
	if kind := s.plan.Requests.draw(s.rng); kind != "" {
		return s.other(n, kind)
	}
	command := s.commands
	s.commands++
	if due(command, s.share) && s.firsts > 0 {
		h := *s.earlier(n)
		h.n, h.repeat = n, true
		s.repeats++
		return &h
	}
	h := s.fresh(n)
	s.recent[s.firsts%int64(len(s.recent))] = h
	s.firsts++
	return h
}

// tiny keeps a share that is a whole number from being rounded down.
const tiny = 1e-9

// due spreads a share evenly and exactly over the numbers from 0.
func due(n int64, share float64) bool {
	return int64(float64(n+1)*share+tiny) > int64(float64(n)*share+tiny)
}

// earlier is the hit that hit n repeats: the last first, or one that is old enough
// (the oldest, while none is).
func (s *source) earlier(n int64) *hit {
	size := int64(len(s.recent))
	if due(s.repeats, float64(*s.plan.RepeatedAtOnce)) {
		return s.recent[(s.firsts-1)%size]
	}
	from := max(s.firsts-size, 0)
	cut := s.sched.at(n) - time.Duration(s.plan.RepeatAfter)
	old := sort.Search(int(s.firsts-from), func(i int) bool {
		return s.sched.at(s.recent[(from+int64(i))%size].n) > cut
	})
	return s.recent[(from+s.rng.Int64N(max(int64(old), 1)))%size]
}

func (s *source) fresh(n int64) *hit {
	h := &hit{n: n, door: s.pick(), request: request{method: http.MethodPost, key: newKey(s.run, n)}}
	command := "close"
	switch r := Share(s.rng.Float64()); {
	case r < s.plan.Commands.Open:
		command = "open"
	case r < s.plan.Commands.Open+s.plan.Commands.Hold:
		command = "hold"
	}
	minutes := 0
	if command == "hold" {
		minutes = s.plan.HoldMinutes
	}
	if s.rng.Float64() < float64(s.plan.Legacy) {
		s.legacy(h, command, minutes)
	} else {
		s.command(h, command, minutes)
	}
	h.keyHash = history.KeyHash(h.door.place.PlaceID, h.key)
	h.text = h.url.String()
	return h
}

func (s *source) command(h *hit, command string, minutes int) {
	type args struct {
		Minutes int    `json:"minutes,omitempty"`
		Reason  string `json:"reason,omitempty"`
	}
	h.route = "/device/v1/devices/{id}/commands"
	h.url = s.base.JoinPath("device/v1/devices", url.PathEscape(h.door.id), "commands")
	h.body, _ = json.Marshal(struct {
		Capability string `json:"capability"`
		Command    string `json:"command"`
		Args       args   `json:"args"`
	}{"door", command, args{minutes, s.plan.Reason}}) // plain fields: cannot fail
	h.meaning = history.Meaning(h.door.id, command, float64(minutes), s.plan.Reason)
}

func (s *source) legacy(h *hit, command string, minutes int) {
	h.route = "/device/v1/doors/{id}/" + command
	h.url = s.base.JoinPath("device/v1/doors", url.PathEscape(h.door.id), command)
	h.body = []byte("{}")
	if command == "hold" {
		h.body = fmt.Appendf(nil, `{"minutes":%d}`, minutes)
	}
	h.meaning = history.Meaning(h.door.id, command, float64(minutes), "")
}

// newKey looks like a random UUID.
func newKey(run string, n int64) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(run), uint64(n)))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	x := hex.EncodeToString(sum[:16])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}
