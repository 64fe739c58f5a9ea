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
}

// stated is what a place's content says from a revision on.
type stated[T any] struct {
	e   *history.Event
	rev int64
	is  T
}

// version is a grant as of a revision.
type version = stated[granted]

// granted is a grant, unless it isn't there any more.
type granted struct {
	refGrant
	there bool
}

// say adds what an event says, unless it isn't JSON.
func say[T any](list *[]stated[T], e *history.Event) {
	s := stated[T]{e: e, rev: e.Revision}
	if json.Unmarshal([]byte(e.Text), &s.is) == nil {
		*list = append(*list, s)
	}
}

// byRevision sorts what was said in the order in which it holds.
func byRevision[T any](list []stated[T]) {
	slices.SortStableFunc(list, func(a, b stated[T]) int { return cmp.Compare(a.rev, b.rev) })
}

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
	switch e.Op {
	case history.ContentBase:
		c.since = cmp.Or(c.since, e)
		if !c.based || e.Revision < c.base {
			c.based, c.base = true, e.Revision
		}
	case history.ContentGrant:
		var g refGrant
		if json.Unmarshal([]byte(e.Text), &g) == nil {
			c.grant(e, g)
		}
	case history.ContentRemoved:
		c.prepare()
		c.grants[e.GrantID] = append(c.grants[e.GrantID], version{rev: e.Revision, e: e})
	case history.ContentWindows:
		say(&c.windows, e)
	case history.ContentHours:
		say(&c.hours, e)
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
	c.grants[g.ID] = append(c.grants[g.ID], version{rev: e.Revision, is: granted{g, true}, e: e})
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
		byRevision(vs)
	}
	byRevision(c.windows)
	byRevision(c.hours)
}

// at is a grant as a board at a revision has it.
func (c *content) at(id string, rev int64) (refGrant, bool) {
	h := until(c.grants[id], rev)
	return h.refGrant, h.there
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
