package engine

import (
	"cmp"
	"net/url"
	"strconv"

	"github.com/doorlab/doorlab/internal/amount"
)

func (x *frame) values(of map[string]Any) map[string]any {
	out := make(map[string]any, len(of))
	for k, v := range of {
		out[k] = need(v.eval(x.scope))
	}
	return out
}

func (n *Netloss) title() string { return n.Boards.raw + " " + n.GraceSec.raw }

func (n *Netloss) run(x *frame) (fields, error) {
	of := x.boards(n.Boards)
	grace := need(n.GraceSec.num(x.scope))
	x.res.Detail = amount.Many(len(of), "board")
	return n.shared(x, 16, len(of), func(i int) *answer {
		b := of[i]
		body := map[string]any{"graceSec": grace, "channels": n.channels(x, b)}
		return need(x.run.post(x.ctx, "PUT", "/device/v1/boards/"+esc(b.id)+"/netloss", b.placeID, body))
	})
}

func (n *Netloss) channels(x *frame, b *boardInfo) map[string]string {
	out := map[string]string{}
	def := "close"
	for ch, t := range n.Channels {
		v := need(t.str(x.scope))
		if ch == "all" {
			def = v
		} else {
			out[ch] = v
		}
	}
	if _, all := n.Channels["all"]; all || len(n.Channels) == 0 {
		for _, ch := range b.channels {
			if s := strconv.Itoa(ch); out[s] == "" {
				out[s] = def
			}
		}
	}
	return out
}

func (p *Policy) run(x *frame) (fields, error) {
	doors := x.doors(p.Doors)
	method, query, body := p.request(x)
	return p.shared(x, 8, len(doors), func(i int) *answer {
		b := x.run.dir.door(doors[i])
		if b == nil {
			panic(stop{x.run.dir.noDoor(doors[i])})
		}
		return need(x.run.post(x.ctx, method, "/device/v1/doors/"+esc(doors[i])+"/policies"+query, b.placeID, body))
	})
}

func (p *Policy) request(x *frame) (method, query string, body any) {
	if p.Remove {
		if p.Ref != "" {
			query = "?ref=" + url.QueryEscape(p.Ref)
		}
		return "DELETE", query, nil
	}
	window := map[string]any{"ref": cmp.Or(p.Ref, "always")}
	if p.Week != nil {
		window["week"] = need(p.Week.eval(x.scope))
	}
	for k, w := range map[string]When{"startsAt": p.StartsAt, "endsAt": p.EndsAt} {
		if w.set() {
			window[k] = rfc3339(x.at(w))
		}
	}
	return "POST", "", map[string]any{"window": window, "mode": need(p.Mode.str(x.scope))}
}

func (h *Hours) run(x *frame) (fields, error) {
	id := x.place(h.Place)
	week := need(h.Week.eval(x.scope))
	a := need(x.run.post(x.ctx, "PATCH", "/core/v1/places/"+esc(id), id, map[string]any{"hours": map[string]any{"week": week}}))
	return a.fields(), h.check(x, a, false)
}
