package engine

import (
	"iter"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// What a step captured or computed from an answer would have been another value only if that
// answer had been another one. So an expectation of such names alone is tried by changing the
// answers that they came from: "b - 1 == a" says nothing where b was set to a + 1.

// source is where names come from: an answer, or whatever else a step saw.
type source struct {
	env   map[string]any // what the expressions saw
	spots []spot         // the parts of it that they mention
	words words
	known known // what they compare it with, and which fields they read
}

// speaks adds an expression that sees the source; own are the names whose parts may change.
func (s *source) speaks(e *Expr, own map[string]any) {
	s.spots = append(s.spots, e.spots(own)...)
	s.known.values = append(s.known.values, e.known.values...)
	s.known.fields = append(s.known.fields, e.known.fields...)
}

// given is a name's value as a function of where it came from.
type given struct {
	src  *source
	at   spot              // where the value is in the source, if that is all there is to it
	deps map[string]*given // names in it that were given before
	make func(env map[string]any) (any, error)
}

// with is the value that other sources would give. Each given is computed once.
func (g *given) with(changed map[*source]map[string]any, made map[*given]any) (any, error) {
	if v, ok := made[g]; ok {
		return v, nil
	}
	env := g.src.env
	if c := changed[g.src]; c != nil {
		env = settled(c, g.src.env)
	}
	for name, d := range g.deps {
		v, err := d.with(changed, made)
		if err != nil {
			return nil, err
		}
		env = put(env, spot{name}, v).(map[string]any)
	}
	v, err := g.make(env)
	if err == nil {
		made[g] = v
	}
	return v, err
}

// sources are everything that a value depends on.
func (g *given) sources() (out []*source) {
	add := func(s *source) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	add(g.src)
	for _, name := range keysOf(g.deps) {
		for _, s := range g.deps[name].sources() {
			add(s)
		}
	}
	return out
}

// captured remembers where the names of a step's captures came from.
func (f *fileRun) captured(s *Step, sc *scope) {
	src := &source{env: sc.env(), words: s.asked().words()}
	all := map[string]*given{}
	for _, name := range keysOf(s.Capture) {
		e := s.Capture[name]
		src.speaks(e, sc.vars)
		all[name] = &given{src: src, at: e.spot(sc.vars), deps: f.before(e, sc.vars), make: func(env map[string]any) (any, error) {
			v, err := vm.Run(e.prog, env)
			if err == nil && v == nil {
				err = errMissing // the step would have been BLOCKED
			}
			return v, err
		}}
	}
	f.gives(all)
}

// computed remembers where the names that a step sets come from.
func (f *fileRun) computed(vars VarSet, sc *scope) {
	all, env := map[string]*given{}, sc.env()
	for name, value := range vars {
		g := &given{src: &source{env: env}, deps: map[string]*given{}, make: func(env map[string]any) (any, error) {
			return value.eval(&scope{file: f, vars: env})
		}}
		for _, e := range value.exprs() {
			own := e.earlier(env)
			for n, d := range f.before(e, nil) {
				g.deps[n] = d
				delete(own, n)
			}
			for n := range own {
				if sc.ofTable(n) {
					delete(own, n)
				}
			}
			g.src.speaks(e, own)
		}
		all[name] = g
	}
	f.gives(all)
}

func (f *fileRun) gives(all map[string]*given) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.given == nil {
		f.given = map[string]*given{}
	}
	maps.Copy(f.given, all)
}

// before are the names in an expression that come from earlier steps, without own.
func (f *fileRun) before(e *Expr, own map[string]any) map[string]*given {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]*given{}
	for name := range e.names {
		if g := f.given[name]; g != nil && !has(own, name) {
			out[name] = g
		}
	}
	return out
}

// spot is where the expression's value is, if it only names a part of own.
func (e *Expr) spot(own map[string]any) spot {
	tree, err := parser.Parse(e.src)
	if err != nil {
		return nil
	}
	if p := spotOf(tree.Node); len(p) > 0 && has(own, p[0]) {
		return p
	}
	return nil
}

// exprs are the expressions in a value.
func (a Any) exprs() (out []*Expr) {
	switch v := a.v.(type) {
	case Text:
		for _, p := range v.parts {
			if p.expr != nil {
				out = append(out, p.expr)
			}
		}
	case []Any:
		for _, e := range v {
			out = append(out, e.exprs()...)
		}
	case map[string]Any:
		for _, name := range keysOf(v) {
			out = append(out, v[name].exprs()...)
		}
	}
	return out
}

// turnsWith reports whether other earlier answers would change the expectation's outcome; ok is false if it mentions
// nothing that comes from one.
func (e *Expr) turnsWith(sc *scope, want bool) (turns, ok bool) {
	deps := sc.file.before(e, nil)
	if len(deps) == 0 {
		return false, false
	}
	env := sc.env()
	own := e.earlier(env)
	for n := range deps {
		delete(own, n)
	}
	root := &given{src: &source{env: env, spots: e.spots(own)}, deps: deps, make: func(env map[string]any) (any, error) { return vm.Run(e.prog, env) }}
	looked := root.looked(e.spots(env))
	other := func(changed map[*source]map[string]any) bool {
		for src, env := range changed {
			if names(looked[src], "status") && names(looked[src], "error") && !agree(env) {
				return false
			}
		}
		v, err := root.with(changed, map[*given]any{})
		b, isBool := v.(bool)
		return err == nil && isBool && b != want
	}
	for src, spots := range looked {
		if len(looked) == 1 && len(root.src.spots) == 0 && len(spots) == len(e.spots(env)) && fitsAllStatuses(spots, src.env, func(env map[string]any) bool {
			return !other(map[*source]map[string]any{src: env})
		}) {
			return false, true
		}
	}
	var ways []way
	for w := range root.ways(e.known, looked) {
		for _, v := range w.options {
			if other(map[*source]map[string]any{w.src: written(w.src.env, w.at, v)}) {
				return true, true
			}
		}
		ways = append(ways, w)
	}
	r := rand.New(rand.NewPCG(1, 2)) // the same run twice
	for range 200 {
		if other(several(r, ways)) {
			return true, true
		}
	}
	return false, true
}

// way is a spot in an answer, with what might be there instead.
type way struct {
	src     *source
	at      spot
	options []any
}

// looked are the parts of answers that stand behind parts of names.
func (g *given) looked(parts []spot) map[*source][]spot {
	out := map[*source][]spot{}
	for _, p := range parts {
		name, _ := p[0].(string)
		d := g.deps[name]
		if d == nil || len(d.at) == 0 {
			continue
		}
		out[d.src] = append(out[d.src], slices.Concat(d.at, p[1:]).part(d.src.env))
	}
	return out
}

// ways are those of all answers that the value came of; looked are the parts of them that an expectation names.
func (g *given) ways(k known, looked map[*source][]spot) iter.Seq[way] {
	sources := g.sources()
	k.values = slices.Clone(k.values)
	for _, s := range sources {
		for _, p := range s.spots {
			k.values = append(k.values, plain(read(s.env, p), 2)...)
		}
	}
	return func(yield func(way) bool) {
		for _, s := range sources {
			k := k
			k.words = s.words
			for _, p := range looked[s] {
				if !yield(way{s, p, others(p, read(s.env, p), k, s.env)}) {
					return
				}
			}
		}
		for _, s := range sources {
			k := k
			k.words, k.values, k.fields = s.words, append(slices.Clip(k.values), s.known.values...), append(slices.Clip(k.fields), s.known.fields...)
			for _, p := range s.spots {
				if !yield(way{s, p, others(p, read(s.env, p), k, s.env)}) {
					return
				}
			}
		}
	}
}

// several draws an option for most of the ways at once.
func several(r *rand.Rand, ways []way) map[*source]map[string]any {
	changed := map[*source]map[string]any{}
	for _, w := range ways {
		if n := len(w.options); n > 0 && r.IntN(8) > 0 {
			was := changed[w.src]
			if was == nil {
				was = w.src.env
			}
			changed[w.src] = written(was, w.at, w.options[r.IntN(n)])
		}
	}
	return changed
}
