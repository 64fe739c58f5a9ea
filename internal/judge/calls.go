package judge

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// call is a parsed request to the public API with its answer.
type call struct {
	*history.Event
	history.CallText
	found bool // answered before the run began: used only as evidence about other calls
}

// ok reports whether the server did what was asked.
func (c *call) ok() bool { return c.Status == 200 }

// in and out read a text field of the request and of the answer.
func (c *call) in(field string) string  { s, _ := c.In[field].(string); return s }
func (c *call) out(field string) string { s, _ := c.Out[field].(string); return s }

// number reads a number of the answer.
func (c *call) number(field string) (int, bool) {
	n, ok := c.Out[field].(float64)
	return int(n), ok
}

// permits are those that the answer shows: one, or those of a list.
func (c *call) permits() []map[string]any {
	items := c.Items
	if c.Out["permitId"] != nil {
		items = append(items, any(c.Out))
	}
	return each.Of(items, func(item any) map[string]any { p, _ := item.(map[string]any); return p })
}

// texts reads a list of texts.
func texts(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// parseCalls parses calls in order, leaving out those that make no sense.
func parseCalls(raw []*history.Event, found int) []*call {
	out := make([]*call, 0, len(raw))
	for i, e := range raw {
		c := &call{Event: e, found: i < found}
		if json.Unmarshal([]byte(e.Text), &c.CallText) == nil {
			out = append(out, c)
		}
	}
	return out
}

// calls are those of the run itself; known also has those before it.
func (v *View) calls() []*call {
	all := v.known()
	first := slices.IndexFunc(all, func(c *call) bool { return !c.found })
	if first < 0 {
		return nil
	}
	return all[first:]
}

// unsureCalls are requests that got no answer, or only that the server had failed, and may have taken effect all the same.
func (v *View) unsureCalls() []*call {
	return append(parseCalls(v.unheard, 0), each.If(v.known(), func(c *call) bool { return c.Status >= 500 && c.Method != "GET" })...)
}

// unheardMs is how long a server may still carry out a request after its caller has given up, in wall time.
const unheardMs = 20 * 1000

// unsureBetween reports whether such a request may have taken effect between the sending of one call and the answer of
// another. A server that starts finishes nothing that its previous run had begun.
func (v *View) unsureBetween(first, c *call, match func(u *call) bool) bool {
	sent := first.started()
	return slices.ContainsFunc(v.unsure(), func(u *call) bool {
		return match(u) && u.SentNs != 0 && !v.before(c.Event, u.started()) && !v.longer(u.Event, sent, unheardMs) &&
			!slices.ContainsFunc(v.starts, func(s *history.Event) bool { return v.before(u.Event, s) && v.before(s, sent) })
	})
}

// open are the routes that take no token.
func open(c *call) bool {
	return strings.HasPrefix(c.Route, "/entry") || strings.HasPrefix(c.Route, "/core/v1/public/") || c.Route == ExchangeRoute ||
		strings.HasSuffix(c.Route, "/openapi.json") || strings.HasSuffix(c.Route, "/docs") || strings.Contains(c.Route, "/docs/") ||
		!strings.HasPrefix(c.Route, "/core/") && !strings.HasPrefix(c.Route, "/space/") && !strings.HasPrefix(c.Route, "/device/")
}

// oneClock reports whether clients and server read the same clock: the run had a world of its own, and its server is in the
// history.
func (v *View) oneClock() bool {
	return v.begun == nil && len(v.starts) > 0 || v.begun != nil && v.begun.Op == history.Quiet
}

// noClock reports whether nothing tells what time it is for the server: with a key alone, or boards alone, clients have only
// their own machine's clock, and the server may be days away.
func (v *View) noClock() bool { return v.begun == nil && len(v.starts) == 0 }

// skewMs is how far off a client may be in what it takes for the domain time of its call: not at all if there is one clock
// that stood still meanwhile.
func (v *View) skewMs(c *call) int64 {
	if c.SentAt == c.At && v.oneClock() {
		return 0
	}
	return clockMs
}

// slackMs is by how much a time between two calls has to be over before it is certain.
func (v *View) slackMs() int64 {
	if v.oneClock() {
		return 1 // times are cut to milliseconds
	}
	return clockMs
}

// ExchangeRoute is where a client exchanges its API key for a token.
const ExchangeRoute = "/core/v1/auth/apikey/token"

// owners are the places of all ids in the history: doors and boards as the fleet reports them, grants from the server's
// content, permits from their creation.
func (v *View) owners() map[string]string {
	if v.whole != nil {
		return v.whole.owners
	}
	out := map[string]string{}
	for id, b := range v.boards {
		out[id] = b.place
	}
	for id, b := range v.doors {
		out[id] = b.place
	}
	for place, p := range v.places {
		out[place] = place
		for id := range p.content.grants {
			out[id] = place
		}
	}
	return out
}

// sameSet compares lists, ignoring order and duplicates.
func sameSet(a, b []string) bool {
	lacks := func(of []string) func(string) bool {
		return func(x string) bool { return !slices.Contains(of, x) }
	}
	return !slices.ContainsFunc(a, lacks(b)) && !slices.ContainsFunc(b, lacks(a))
}
