package evidence

import (
	"maps"
	"slices"
)

// replay computes what names would be with one set of other answers after another. What comes only of answers that stay as
// they were is computed once: a file has many names, and behind most of them there is none of the changed answers.
type replay struct {
	kept   map[*given]any
	behind map[*given][]*source
}

func newReplay() *replay {
	return &replay{kept: map[*given]any{}, behind: map[*given][]*source{}}
}

// value is what g would be with other answers.
func (r *replay) value(g *given, changed map[*source]map[string]any) (any, error) {
	return r.with(g, changed, map[*given]any{})
}

// with is value; made has what the same answers have given already, so that each given is computed once.
func (r *replay) with(g *given, changed map[*source]map[string]any, made map[*given]any) (any, error) {
	if !r.affected(g, changed) {
		made = r.kept
	}
	if v, ok := made[g]; ok {
		return v, nil
	}
	env := g.src.env
	if c := changed[g.src]; c != nil {
		env = consistent(c, g.src.env)
	}
	if len(g.deps) > 0 {
		env = maps.Clone(env)
	}
	for name, d := range g.deps {
		v, err := r.with(d, changed, made)
		if err != nil {
			return nil, err
		}
		env[name] = v
	}
	v, err := g.make(env)
	if err == nil {
		made[g] = v
	}
	return v, err
}

// affected reports whether one of the changed answers is behind g.
func (r *replay) affected(g *given, changed map[*source]map[string]any) bool {
	behind, ok := r.behind[g]
	if !ok {
		behind = g.sources()
		r.behind[g] = behind
	}
	return slices.ContainsFunc(behind, func(s *source) bool { return changed[s] != nil })
}
