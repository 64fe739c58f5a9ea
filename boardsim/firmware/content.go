package firmware

import (
	"slices"
	"strings"
	"sync"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/wire"
)

// Content is what was synchronized to a board. It is immutable, so the boards of a place share it. The zero Content is
// revision 0, with nothing stored.
type Content struct {
	Revision int64
	Sum      access.Sum
	Timezone string
	PhoneKey access.PhoneKey // "" before the first snapshot
	Windows  []access.Window
	Hours    *access.Hours
	Doors    []wire.DoorConfig

	digest string  // Sum as text; "" = not made yet
	grants []*item // by id
	people *people // nil = nothing stored
}

// people finds grants by the person at the reader. It is built on the first presentation, because most contents are
// replaced before one.
type people struct {
	once    sync.Once
	byPhone map[string][]*item
	byToken map[string]*item
}

// item is a grant with its share of the digest.
type item struct {
	grant access.Grant
	sum   access.Sum
}

// Change is a Sync ready to be applied. Boards of one place may share it: its result for a Content is computed once.
type Change struct {
	Sync  wire.Sync
	items []*item

	mu   sync.Mutex
	from *Content
	to   *Content

	joined *Change // for a last page: what Join made of
	of     []*Change
}

// Prepare makes a Sync ready to be applied. Thousands of boards keep what it returns, so its grants are kept in one piece
// (see packed), and a Sync that will not be read again (see wire.Sync.Pages) loses its own copy of the grants.
func Prepare(y wire.Sync) *Change {
	c := &Change{Sync: y, items: make([]*item, len(y.Upsert))}
	items := make([]item, len(y.Upsert))
	for i, g := range packed(y.Upsert) {
		items[i].grant = g
		items[i].sum.Toggle("grant", g)
		c.items[i] = &items[i]
	}
	if y.Snapshot || y.Pages > 1 {
		c.Sync.Upsert = nil
	}
	return c
}

// packed are the same grants with all their texts in a single string, and with one list of doors for those that open the
// same. They outlive every collection, and with texts of their own a hundred thousand of them are half of what a
// collection looks at.
func packed(gs []access.Grant) []access.Grant {
	size := 0
	for _, g := range gs {
		size += len(g.ID) + len(g.PhoneHash) + len(g.TokenHash)
	}
	var text strings.Builder
	text.Grow(size)
	keep := func(s string) string {
		from := text.Len()
		text.WriteString(s)
		return text.String()[from:]
	}
	out := make([]access.Grant, len(gs))
	for i, g := range gs {
		g.ID, g.PhoneHash, g.TokenHash = keep(g.ID), keep(g.PhoneHash), keep(g.TokenHash)
		if i > 0 && g.Kind == out[i-1].Kind {
			g.Kind = out[i-1].Kind
		}
		if i > 0 && slices.Equal(g.Doors, out[i-1].Doors) {
			g.Doors = out[i-1].Doors
		}
		out[i] = g
	}
	return out
}

// sameAs reports whether a page belongs to the same change.
func (c *Change) sameAs(y wire.Sync) bool {
	return c.Sync.To == y.To && c.Sync.From == y.From && c.Sync.Snapshot == y.Snapshot && c.Sync.Digest == y.Digest && c.Sync.Pages == y.Pages
}

// join combines the pages of a change. Boards that hold the same pages share the result.
func join(pages []*Change) *Change {
	last := pages[len(pages)-1]
	last.mu.Lock()
	defer last.mu.Unlock()
	if last.joined != nil && slices.Equal(last.of, pages) {
		return last.joined
	}
	j := &Change{Sync: pages[0].Sync}
	j.Sync.Page, j.Sync.Pages, j.Sync.Remove = 0, 0, nil
	for _, p := range pages {
		j.Sync.Remove = append(j.Sync.Remove, p.Sync.Remove...)
		j.items = append(j.items, p.items...)
	}
	last.joined, last.of = j, pages
	return j
}

// Digest is the content's digest.
func (c *Content) Digest() string {
	if c.digest == "" {
		return c.Sum.String()
	}
	return c.digest
}

// Grants is the number of stored grants.
func (c *Content) Grants() int { return len(c.grants) }

// Apply returns the content after a change; a snapshot starts from nothing.
func (c *Content) Apply(ch *Change) *Content {
	base := c
	if ch.Sync.Snapshot {
		base = nil
	}
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.to == nil || !ch.from.same(base) {
		ch.from, ch.to = base, ApplyAll(base, ch)
	}
	return ch.to
}

// same reports whether two contents are equal. Boards that reached one by different changes share what follows.
func (c *Content) same(o *Content) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c == o || c.Revision == o.Revision && c.Sum == o.Sum && c.Timezone == o.Timezone && c.PhoneKey == o.PhoneKey
}

// ApplyAll applies changes in order; base nil = nothing stored.
func ApplyAll(base *Content, changes ...*Change) *Content {
	n := &Content{}
	if base != nil {
		*n = *base
	}
	more := 0
	for _, ch := range changes {
		more += len(ch.items)
	}
	n.grants = append(make([]*item, 0, len(n.grants)+more), n.grants...)
	for _, ch := range changes {
		if ch.Sync.Snapshot && ch.Sync.Page < 2 {
			n = &Content{grants: n.grants[:0]}
		}
		n.apply(ch)
	}
	n.digest, n.people = n.Sum.String(), &people{} // once for the boards that share it
	return n
}

func (c *Content) apply(ch *Change) {
	for _, id := range ch.Sync.Remove {
		c.drop(id)
	}
	for _, it := range ch.items {
		c.put(it)
	}
	y := ch.Sync
	if y.Windows != nil {
		toggleAll(&c.Sum, "window", c.Windows)
		c.Windows = *y.Windows
		toggleAll(&c.Sum, "window", c.Windows)
	}
	if y.Doors != nil {
		toggleAll(&c.Sum, "door", c.Doors)
		c.Doors = *y.Doors
		toggleAll(&c.Sum, "door", c.Doors)
	}
	if y.Hours != nil {
		if c.Hours != nil {
			c.Sum.Toggle("hours", *c.Hours)
		}
		c.Hours = y.Hours
		c.Sum.Toggle("hours", *c.Hours)
	}
	if y.Timezone != "" {
		c.Timezone = y.Timezone
	}
	if y.PhoneKey != "" {
		c.PhoneKey = y.PhoneKey
	}
	c.Revision = y.To
}

// at is where the grant of an id is, or belongs.
func (c *Content) at(id string) (i int, there bool) {
	if n := len(c.grants); n == 0 || c.grants[n-1].grant.ID < id { // the pages of a snapshot are in order
		return n, false
	}
	return slices.BinarySearchFunc(c.grants, id, func(it *item, id string) int { return strings.Compare(it.grant.ID, id) })
}

func (c *Content) put(it *item) {
	i, there := c.at(it.grant.ID)
	if there {
		c.xor(c.grants[i].sum)
		c.grants[i] = it
	} else {
		c.grants = slices.Insert(c.grants, i, it)
	}
	c.xor(it.sum)
}

func (c *Content) drop(id string) {
	if i, there := c.at(id); there {
		c.xor(c.grants[i].sum)
		c.grants = slices.Delete(c.grants, i, i+1)
	}
}

func (c *Content) xor(s access.Sum) {
	for i := range s {
		c.Sum[i] ^= s[i]
	}
}

func toggleAll[T any](s *access.Sum, kind string, items []T) {
	for _, it := range items {
		s.Toggle(kind, it)
	}
}

// hours are the opening hours, in the place's zone.
func (c *Content) hours() access.Hours {
	if c.Hours == nil {
		return access.Hours{Timezone: c.Timezone}
	}
	return *c.Hours
}

// find returns the index from people to grants, building it if needed.
func (c *Content) find() *people {
	p := c.people
	if p == nil {
		return &people{}
	}
	p.once.Do(func() {
		p.byPhone, p.byToken = map[string][]*item{}, map[string]*item{}
		for _, it := range c.grants {
			p.byPhone[it.grant.PhoneHash] = append(p.byPhone[it.grant.PhoneHash], it)
			if h := it.grant.TokenHash; h != "" {
				p.byToken[h] = it
			}
		}
	})
	return p
}

// person lists all grants of a phone, by id.
func (c *Content) person(phoneHash string) []access.Grant {
	items := c.find().byPhone[phoneHash]
	return each.Of(items, func(it *item) access.Grant { return it.grant })
}

// link finds the person behind a token; ok is false for an unknown or revoked one.
func (c *Content) link(tokenHash string) (phoneHash string, ok bool) {
	it := c.find().byToken[tokenHash]
	if it == nil || it.grant.Revoked {
		return "", false
	}
	return it.grant.PhoneHash, true
}

// holder is the phone hash of a link's permit, even of a revoked one; "" = no such link.
func (c *Content) holder(tokenHash string) string {
	if it := c.find().byToken[tokenHash]; it != nil {
		return it.grant.PhoneHash
	}
	return ""
}

// Snapshot is a Sync that produces this content from nothing.
func (c *Content) Snapshot() wire.Sync {
	y := wire.Sync{To: c.Revision, Snapshot: true, Timezone: c.Timezone, PhoneKey: c.PhoneKey, Hours: c.Hours, Digest: c.Digest()}
	for _, it := range c.grants {
		y.Upsert = append(y.Upsert, it.grant)
	}
	windows, doors := c.Windows, c.Doors
	y.Windows, y.Doors = &windows, &doors
	return y
}
