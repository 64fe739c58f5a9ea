package judge

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/doorlab/doorlab/internal/history"
)

// content is a place's rules as the server reported them, by revision.
type content struct {
	based   bool
	since   *history.Event // when everything was first reported
	base    int64          // lowest revision that is completely known
	grants  map[string][]version
	phones  map[string][]string // phone hash -> grants that ever had it
	tokens  map[string][]string
	windows []stated[[]refWindow]
	hours   []stated[refHours]
	broken  *history.Event // a Text that isn't JSON
}

// version is a grant as of a revision.
type version struct {
	rev     int64
	removed bool
	grant   refGrant
	e       *history.Event
}

// stated is what a place's content says from a revision on.
type stated[T any] struct {
	e   *history.Event
	rev int64
	is  T
}

func (s stated[T]) told() *history.Event { return s.e }

func (v version) told() *history.Event { return v.e }

// until is what held at a revision; the zero value if nothing had been said.
func until[T any](list []stated[T], rev int64) (is T) {
	for _, s := range slices.Backward(list) {
		if s.rev <= rev {
			return s.is
		}
	}
	return is
}

func (c *content) add(e *history.Event) {
	var err error
	switch e.Op {
	case history.ContentBase:
		c.since = cmp.Or(c.since, e)
		if !c.based || e.Revision < c.base {
			c.based, c.base = true, e.Revision
		}
	case history.ContentGrant:
		var g refGrant
		if err = json.Unmarshal([]byte(e.Text), &g); err == nil {
			c.grant(e, g)
		}
	case history.ContentRemoved:
		c.prepare()
		c.grants[e.GrantID] = append(c.grants[e.GrantID], version{rev: e.Revision, removed: true, e: e})
	case history.ContentWindows:
		w := stated[[]refWindow]{e: e, rev: e.Revision}
		err = json.Unmarshal([]byte(e.Text), &w.is)
		c.windows = append(c.windows, w)
	case history.ContentHours:
		h := stated[refHours]{e: e, rev: e.Revision}
		err = json.Unmarshal([]byte(e.Text), &h.is)
		c.hours = append(c.hours, h)
	}
	if err != nil && c.broken == nil {
		c.broken = e
	}
}

// prepare makes the maps of a place for which nothing has been reported.
func (c *content) prepare() {
	if c.grants == nil {
		c.grants, c.phones, c.tokens = map[string][]version{}, map[string][]string{}, map[string][]string{}
	}
}

func (c *content) grant(e *history.Event, g refGrant) {
	c.prepare()
	c.grants[g.ID] = append(c.grants[g.ID], version{rev: e.Revision, grant: g, e: e})
	index := func(m map[string][]string, key string) {
		if key != "" && !slices.Contains(m[key], g.ID) {
			m[key] = append(m[key], g.ID)
		}
	}
	index(c.phones, g.PhoneHash)
	index(c.tokens, g.TokenHash)
}

func (c *content) finish() {
	for _, vs := range c.grants {
		slices.SortStableFunc(vs, func(a, b version) int { return cmp.Compare(a.rev, b.rev) })
	}
	slices.SortStableFunc(c.windows, func(a, b stated[[]refWindow]) int { return cmp.Compare(a.rev, b.rev) })
	slices.SortStableFunc(c.hours, func(a, b stated[refHours]) int { return cmp.Compare(a.rev, b.rev) })
}

// at is a grant as a board at a revision has it.
func (c *content) at(id string, rev int64) (refGrant, bool) {
	for _, v := range slices.Backward(c.grants[id]) {
		if v.rev <= rev {
			return v.grant, !v.removed
		}
	}
	return refGrant{}, false
}

// of are the grants of a person at a revision.
func (c *content) of(phoneHash string, rev int64) []refGrant {
	var out []refGrant
	for _, id := range c.phones[phoneHash] {
		if g, ok := c.at(id, rev); ok && g.PhoneHash == phoneHash {
			out = append(out, g)
		}
	}
	return out
}
