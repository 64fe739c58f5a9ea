package history

import (
	"encoding/json"
	"slices"
)

// content is what the server told of a place's rules, by revision.
type content struct {
	based   bool
	base    int64 // lowest revision that is completely known
	grants  map[string][]version
	phones  map[string][]string // phone hash -> grants that ever had it
	tokens  map[string][]string
	windows []windowsAt
	hours   []hoursAt
	broken  *Event // a Text that is no JSON
}

// version is a grant as of a revision.
type version struct {
	rev     int64
	removed bool
	grant   refGrant
}

type windowsAt struct {
	rev     int64
	windows []refWindow
}

type hoursAt struct {
	rev   int64
	hours refHours
}

func (c *content) add(e *Event) {
	var err error
	switch e.Op {
	case ContentBase:
		if !c.based || e.Revision < c.base {
			c.based, c.base = true, e.Revision
		}
	case ContentGrant:
		var g refGrant
		if err = json.Unmarshal([]byte(e.Text), &g); err == nil {
			c.grant(e.Revision, g)
		}
	case ContentRemoved:
		if c.grants[e.GrantID] != nil {
			c.grants[e.GrantID] = append(c.grants[e.GrantID], version{rev: e.Revision, removed: true})
		}
	case ContentWindows:
		w := windowsAt{rev: e.Revision}
		err = json.Unmarshal([]byte(e.Text), &w.windows)
		c.windows = append(c.windows, w)
	case ContentHours:
		h := hoursAt{rev: e.Revision}
		err = json.Unmarshal([]byte(e.Text), &h.hours)
		c.hours = append(c.hours, h)
	}
	if err != nil && c.broken == nil {
		c.broken = e
	}
}

func (c *content) grant(rev int64, g refGrant) {
	if c.grants == nil {
		c.grants, c.phones, c.tokens = map[string][]version{}, map[string][]string{}, map[string][]string{}
	}
	c.grants[g.ID] = append(c.grants[g.ID], version{rev: rev, grant: g})
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
		slices.SortStableFunc(vs, func(a, b version) int { return cmp64(a.rev, b.rev) })
	}
	slices.SortStableFunc(c.windows, func(a, b windowsAt) int { return cmp64(a.rev, b.rev) })
	slices.SortStableFunc(c.hours, func(a, b hoursAt) int { return cmp64(a.rev, b.rev) })
}

func cmp64(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// at is a grant as a board of a revision has it.
func (c *content) at(id string, rev int64) (refGrant, bool) {
	vs := c.grants[id]
	for i := len(vs) - 1; i >= 0; i-- {
		if vs[i].rev <= rev {
			return vs[i].grant, !vs[i].removed
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

func (c *content) windowsAt(rev int64) []refWindow {
	for i := len(c.windows) - 1; i >= 0; i-- {
		if c.windows[i].rev <= rev {
			return c.windows[i].windows
		}
	}
	return nil
}

func (c *content) hoursAt(rev int64) refHours {
	for i := len(c.hours) - 1; i >= 0; i-- {
		if c.hours[i].rev <= rev {
			return c.hours[i].hours
		}
	}
	return refHours{}
}
