package judge

import (
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
	windows []windowsAt
	hours   []hoursAt
	broken  *history.Event // a Text that isn't JSON
}

// version is a grant as of a revision.
type version struct {
	rev     int64
	removed bool
	grant   refGrant
	e       *history.Event
}

type windowsAt struct {
	e       *history.Event
	rev     int64
	windows []refWindow
}

type hoursAt struct {
	e     *history.Event
	rev   int64
	hours refHours
}

func (c *content) add(e *history.Event) {
	var err error
	switch e.Op {
	case history.ContentBase:
		if c.since == nil {
			c.since = e
		}
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
		w := windowsAt{e: e, rev: e.Revision}
		err = json.Unmarshal([]byte(e.Text), &w.windows)
		c.windows = append(c.windows, w)
	case history.ContentHours:
		h := hoursAt{e: e, rev: e.Revision}
		err = json.Unmarshal([]byte(e.Text), &h.hours)
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

// at is a grant as a board at a revision has it.
func (c *content) at(id string, rev int64) (refGrant, bool) {
	vs := c.grants[id]
	for _, v := range slices.Backward(vs) {
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

func (c *content) windowsAt(rev int64) []refWindow {
	for _, v := range slices.Backward(c.windows) {
		if v.rev <= rev {
			return v.windows
		}
	}
	return nil
}

func (c *content) hoursAt(rev int64) refHours {
	for _, v := range slices.Backward(c.hours) {
		if v.rev <= rev {
			return v.hours
		}
	}
	return refHours{}
}
