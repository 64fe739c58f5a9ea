package evidence

import (
	"maps"
)

// Breach is what expectations of captured names would not have noticed, had the answers that these came from been other ones,
// "" if they would have; known reports whether such answers are known.
func (h *Past) Breach(clause string, said Said) (what string, known bool) {
	roots := make([]*given, len(said.Exprs))
	sources := map[*source]Said{}
	for i, e := range said.Exprs {
		roots[i] = &given{src: &source{env: said.Env}, deps: h.before(e, nil), make: e.Run}
		looked := roots[i].looked(spotsIn(e, said.Env))
		for _, src := range roots[i].sources() {
			s := sources[src]
			s.spots = append(s.spots, looked[src]...)
			s.Exprs, s.Env = append(s.Exprs, src.exprs...), src.env
			s.compared = append(s.compared, beside(e, said.Env, nil)...)
			sources[src] = s
		}
	}
	again := newReplay()
	for src, s := range sources {
		if src.own == nil {
			continue
		}
		for _, b := range Breaches(clause, src.own, s) {
			known = true
			env := maps.Clone(src.env)
			maps.Copy(env, b.Out)
			env["it"] = b.Out
			if !again.allHold(roots, map[*source]map[string]any{src: env}) {
				return "", true
			}
			if what == "" {
				what = b.What
			}
		}
	}
	return what, known
}

// allHold reports whether all expectations come out true with other answers.
func (r *replay) allHold(roots []*given, changed map[*source]map[string]any) bool {
	for _, g := range roots {
		got, err := r.value(g, changed)
		if yes, ok := got.(bool); err != nil || !ok || !yes {
			return false
		}
	}
	return true
}
