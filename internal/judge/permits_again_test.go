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

// revoke revokes mia's permit; the answer says when and why. A repeat changes nothing.
func (h *builder) revoke(at int64, reason string, repeated bool) {
	out := fields{"permitId": "pmt_c", "state": "revoked", "revokedAt": rfc(at)}
	if reason != "" {
		out["reason"] = reason
	}
	in := fields{"permitId": "pmt_c"}
	if reason != "" && !repeated {
		in["reason"] = reason
	}
	h.did("plc_a", "POST", revokeRoute, 200, history.CallText{In: in, Out: out}, func() {
		if !repeated {
			h.change("plc_a", "revoke", h.customerPermit(1, true))
		}
	})
}

// answered changes the reason of the last answer.
func (h *builder) answered(reason string) {
	h.last(history.Call, func(e *history.Event) { rewrite(e, func(c *history.CallText) { c.Out["reason"] = reason }) })
}

// TestWhatARevocationLeaves: a revocation has the reason that it names; a repeated revocation keeps the first one's time and reason, and a link from before it never comes back.
func TestWhatARevocationLeaves(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		then func(*builder)
		want Status
	}{
		"the same again":           {func(h *builder) { h.revoke(t0, "lost", true) }, Pass},
		"another time":             {func(h *builder) { h.revoke(t0+1, "lost", true) }, Fail},
		"another reason":           {func(h *builder) { h.revoke(t0, "stolen", true) }, Fail},
		"no reason any more":       {func(h *builder) { h.revoke(t0, "", true) }, Fail},
		"a new link":               {func(h *builder) { h.again("link 2") }, Pass},
		"the old link":             {func(h *builder) { h.again("link 1") }, Fail},
		"the old one, after a new": {func(h *builder) { h.again("link 2"); h.again("link 1") }, Fail},
		"revoked again later":      {func(h *builder) { h.again("link 2"); h.revoke(t0+9, "stolen", false) }, Pass},
		"with a reason of its own": {func(h *builder) { h.again("link 2"); h.revoke(t0+9, "", false); h.answered("stolen") }, Fail},
		"with another's reason":    {func(h *builder) { h.again("link 2"); h.revoke(t0+9, "lost", false); h.answered("stolen") }, Fail},
		"without its reason":       {func(h *builder) { h.again("link 2"); h.revoke(t0+9, "lost", false); h.answered("") }, Fail},
		"given again by another": {func(h *builder) {
			h.change("plc_a", "register", h.customerPermit(1, false))
			h.revoke(t0+9, "stolen", false)
		}, Pass},
		"given by an unheard request": {func(h *builder) { h.register(1); h.unheard(); h.revoke(t0+9, "stolen", false) }, Pass},
	} {
		h := oneBoard()
		h.again("link 1")
		h.revoke(t0, "lost", false)
		tc.then(h)
		if got := perm4(NewView(h.events)); (got.FirstBad != nil) != (tc.want == Fail) {
			t.Errorf("%s: PERM-4 is %s, want %s", name, got, tc.want)
		}
	}
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
