package loadtest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Requests is the share of each kind of request.
type Requests struct {
	Command    Share `yaml:"command,omitempty" json:"command,omitempty" jsonschema:"description=door commands, as commands says"`
	Register   Share `yaml:"register,omitempty" json:"register,omitempty" jsonschema:"description=registers an entry permit of one hour for one door and a new phone"`
	Reregister Share `yaml:"reregister,omitempty" json:"reregister,omitempty" jsonschema:"description=registers a permit of this load again, with a later end"`
	Revoke     Share `yaml:"revoke,omitempty" json:"revoke,omitempty" jsonschema:"description=revokes a permit of this load"`
	Permit     Share `yaml:"permit,omitempty" json:"permit,omitempty" jsonschema:"description=reads a permit of this load"`
	Permits    Share `yaml:"permits,omitempty" json:"permits,omitempty" jsonschema:"description=lists 50 permits"`
	Devices    Share `yaml:"devices,omitempty" json:"devices,omitempty" jsonschema:"description=lists the doors of a place"`
	Records    Share `yaml:"records,omitempty" json:"records,omitempty" jsonschema:"description=lists 50 entry records"`
	Link       Share `yaml:"link,omitempty" json:"link,omitempty" jsonschema:"description=presses the button of a permit's entry link"`
	Import     Share `yaml:"import,omitempty" json:"import,omitempty" jsonschema:"description=imports 20 new customers"`
}

// Kinds of requests besides a door command. Each is the outcome of those that succeed; those that don't are rejected, except
// a link whose board was offline, refused or silent.
const (
	register   vocab.Outcome = "register"
	reregister vocab.Outcome = "reregister"
	revoke     vocab.Outcome = "revoke"
	permit     vocab.Outcome = "permit"
	permits    vocab.Outcome = "permits"
	devices    vocab.Outcome = "devices"
	records    vocab.Outcome = "records"
	link       vocab.Outcome = "link"
	imports    vocab.Outcome = "import"
)

var kinds = []vocab.Outcome{register, reregister, revoke, permit, permits, devices, records, link, imports}

const (
	listed     = 50 // rows of a list
	imported   = 20 // rows of an import
	pressAgain = 15 * time.Second
	mostFree   = 100_000

	permitLasts = time.Hour // no door's maximum is shorter
)

// shares are the kinds' parts, in the order of kinds; what is left is commands.
func (q Requests) shares() []Share {
	return []Share{q.Register, q.Reregister, q.Revoke, q.Permit, q.Permits, q.Devices, q.Records, q.Link, q.Import}
}

// draw is the kind of the next request, "" for a command. Plans of commands alone draw nothing.
func (q Requests) draw(rng *rand.Rand) vocab.Outcome {
	if q == (Requests{}) || q.Command == 1 {
		return ""
	}
	r := Share(rng.Float64())
	for i, share := range q.shares() {
		if r -= share; r < 0 {
			return kinds[i]
		}
	}
	return ""
}

// needs are the scopes that a key must have for these requests, with one of the kinds that need it.
func (q Requests) needs() map[string]string {
	needs := map[string]string{}
	for i, share := range q.shares() {
		if share > 0 && kinds[i] != link && kinds[i] != devices {
			needs["space:partner"] = string(kinds[i])
		}
	}
	if q.Link > 0 && needs["space:partner"] == "" {
		needs["space:partner"] = string(link)
	}
	return needs
}

// ErrScope means that a key of the target may not do what the plan asks for.
var ErrScope = errors.New("the plan needs a key with more scopes")

// may checks a key's scopes. Error: ErrScope.
func (q Requests) may(p *place) error {
	for scope, kind := range q.needs() {
		if !slices.Contains(p.scopes, scope) {
			return fmt.Errorf("%w: requests.%s needs the scope %s; the key of %s has %s", ErrScope, kind, scope, p.PlaceID, strings.Join(p.scopes, ", "))
		}
	}
	return nil
}

func (c *check) requests(q Requests) {
	sum := q.Command
	for _, s := range q.shares() {
		sum += s
	}
	c.want(sum > 1-1e-6 && sum < 1+1e-6, "$.requests", "the shares add up to %s, but must add up to 100%%", sum)
	c.want(q.Register > 0 || q.Reregister+q.Revoke+q.Permit+q.Link == 0, "$.requests.register",
		"must be above 0: reregister, revoke, permit and link use the permits that this load registers")
}

// held is a permit that the load has registered.
type held struct {
	door           door
	ref, id, token string
	ends           time.Time
	pressed        time.Time // its link, domain time
}

// pool has the permits that no request is about at the moment, the one that was used longest ago first: so each of them
// has one request at a time, and it is clear which came first. Of those that have ended, nothing more is asked.
type pool struct {
	mu   sync.Mutex
	free []*held
}

// take returns the first permit if it fits and doesn't end before then.
func (p *pool) take(then time.Time, fits func(*held) bool) *held {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) > 0 && !p.free[0].ends.After(then) {
		p.free = p.free[1:]
	}
	if len(p.free) == 0 || !fits(p.free[0]) {
		return nil
	}
	h := p.free[0]
	p.free = p.free[1:]
	return h
}

func (p *pool) put(h *held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < mostFree {
		p.free = append(p.free, h)
	}
}

// other makes a request that isn't a command. If it needs a permit and none is free, it registers one.
func (s *source) other(n int64, kind vocab.Outcome) *hit {
	h := &hit{n: n, kind: kind, door: s.pick(), request: request{method: http.MethodGet}}
	switch kind {
	case reregister, revoke, permit, link:
		now := s.now()
		h.permit = s.pool.take(now.Add(time.Duration(s.plan.Timeout)), func(p *held) bool { return kind != link || now.Sub(p.pressed) >= pressAgain })
		if h.permit == nil {
			h.kind = register
			break
		}
		h.door = h.permit.door
	}
	switch h.kind {
	case register:
		s.register(h)
	case reregister:
		h.ends = h.permit.ends
		if latest := s.now().Add(permitLasts - time.Minute).Truncate(time.Second); h.ends.Before(latest) { // or it would begin in the future
			h.ends = h.ends.Add(min(time.Minute, latest.Sub(h.ends)))
		}
		s.send(h, "/space/v1/partner/entry-permits", h.permit.until(h.ends, s.phone(h.permit.ref)))
	case revoke:
		s.send(h, "/space/v1/partner/entry-permits/revoke", map[string]any{"externalRef": h.permit.ref, "reason": s.plan.Reason})
	case link:
		h.permit.pressed, h.public = s.now(), true
		s.send(h, "/entry/open", map[string]any{"t": h.permit.token, "doorId": h.door.id})
	case imports:
		s.imports(h)
	case permit:
		s.read(h, "/space/v1/partner/entry-permits/{id}", h.permit.id, nil)
	case permits:
		s.read(h, "/space/v1/partner/entry-permits", "", url.Values{"limit": {fmt.Sprint(listed)}})
	case records:
		s.read(h, "/space/v1/partner/entry-logs", "", url.Values{"sinceDays": {"1"}, "limit": {fmt.Sprint(listed)}})
	case devices:
		s.read(h, "/device/v1/devices", "", nil)
	}
	h.text = h.url.String()
	return h
}

func (s *source) send(h *hit, route string, body any) {
	h.method, h.route, h.url = http.MethodPost, route, s.base.JoinPath(route)
	h.body, _ = json.Marshal(body) // plain values: cannot fail
}

func (s *source) read(h *hit, route, id string, query url.Values) {
	h.route, h.url = route, s.base.JoinPath(strings.Replace(route, "{id}", id, 1))
	h.url.RawQuery = query.Encode()
}

func (s *source) register(h *hit) {
	h.permit = &held{door: h.door, ref: fmt.Sprintf("load-%s-%d", s.tag, h.n), ends: s.now().Add(permitLasts / 2).Truncate(time.Second)}
	s.send(h, "/space/v1/partner/entry-permits", h.permit.until(h.permit.ends, s.phone(h.permit.ref)))
}

// until is what registers the permit.
func (p *held) until(ends time.Time, phone string) map[string]any {
	return map[string]any{"externalRef": p.ref, "phone": phone, "name": "Load", "startsAt": ends.Add(-permitLasts).Format(time.RFC3339),
		"endsAt": ends.Format(time.RFC3339), "doorIds": []string{p.door.id}}
}

func (s *source) imports(h *hit) {
	items := make([]map[string]any, imported)
	for i := range items {
		ref := fmt.Sprintf("%s-%d-%d", s.tag, h.n, i)
		items[i] = map[string]any{"externalRef": ref, "phone": s.phone(ref), "name": "Load"}
	}
	s.send(h, "/space/v1/customers/import", map[string]any{"source": "load " + s.tag, "items": items})
}

// phone is a person's number, the same each time.
func (s *source) phone(of string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(of))
	return fmt.Sprintf("010%08d", binary.BigEndian.Uint64(sum.Sum(nil))%100_000_000)
}

// settle puts a hit's permit back, as the answer has left it. Without an answer nobody knows how it is: it isn't used again.
func (s *source) settle(h *hit, a answer, err error) {
	if h.permit == nil || err != nil {
		return
	}
	done := a.status == http.StatusOK || a.status == http.StatusCreated
	switch {
	case h.kind == register && !done, h.kind == revoke && done:
		return
	case h.kind == register:
		var data struct{ PermitID, EntryToken string }
		if json.Unmarshal(a.data, &data) != nil {
			return
		}
		h.permit.id, h.permit.token = data.PermitID, data.EntryToken
	case h.kind == reregister && done:
		h.permit.ends = h.ends
	}
	s.pool.put(h.permit)
}
