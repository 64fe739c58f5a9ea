package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// again registers mia's permit with an answer that gives a link.
func (h *builder) again(link string) {
	h.register(1)
	h.last(history.Call, func(e *history.Event) {
		e.BodyHash = "the same"
		rewrite(e, func(c *history.CallText) { c.Out["entryToken"] = link })
	})
}

// rewrite changes the text of a call.
func rewrite(e *history.Event, change func(*history.CallText)) {
	h := &builder{events: []history.Event{*e}}
	*e = answering(e.Method, e.Route, func(_ *history.Event, c *history.CallText) { change(c) })(h.events)[0]
}

// TestRepeatKeepsTheLink: an unchanged repeat gives the link that the permit has, unless it was revoked in between.
func TestRepeatKeepsTheLink(t *testing.T) {
	t.Parallel()
	revoke := func(h *builder) {
		h.did("plc_a", "POST", revokeRoute, 200, history.CallText{In: fields{"externalRef": "ref-c"}, Out: fields{"permitId": "pmt_c", "state": "revoked"}},
			func() { h.change("plc_a", "revoke", h.customerPermit(1, true)) })
	}
	for name, tc := range map[string]struct {
		between, after func(*builder)
		link           string
		want           Status
	}{
		"the same link":                 {link: "link 1", want: Pass},
		"another link":                  {link: "link 2", want: Fail},
		"another one, after a jump":     {between: func(h *builder) { h.pass(200_000) }, link: "link 2", want: Fail},
		"revoked in between":            {between: revoke, link: "link 2", want: Pass},
		"revoked by somebody else":      {between: func(h *builder) { h.change("plc_a", "revoke", h.customerPermit(1, true)) }, link: "link 2", want: Pass},
		"revoked by an unheard request": {between: func(h *builder) { revoke(h); h.unheard() }, link: "link 2", want: Pass},
		"asked by another client":       {after: func(h *builder) { h.last(history.Call, func(e *history.Event) { e.Src = 1 }) }, link: "link 2", want: Pass},
		"at the same time": {after: func(h *builder) {
			h.last(history.Call, func(e *history.Event) { rewrite(e, func(c *history.CallText) { c.SentNs = 1 }) })
		}, link: "link 2", want: Pass},
		"with a revocation at that time": {after: func(h *builder) {
			revoke(h)
			h.last(history.Call, func(e *history.Event) { rewrite(e, func(c *history.CallText) { c.SentNs = h.events[0].WallNs }) })
		}, link: "link 2", want: Pass},
	} {
		h := oneBoard()
		h.again("link 1")
		if tc.between != nil {
			tc.between(h)
		}
		h.again(tc.link)
		if tc.after != nil {
			tc.after(h)
		}
		if got := perm2(NewView(h.events)); got.Status != tc.want {
			t.Errorf("%s: PERM-2 is %s, want %s", name, got, tc.want)
		}
	}
}
