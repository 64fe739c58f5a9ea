package evidence

import (
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// What a step captured or computed from an answer would have been another value only if that
// answer had been another one. So an expectation of such names alone is tried by changing the
// answers that they came from: "b - 1 == a" says nothing where b was set to a + 1.

// source is where names come from: an answer, or whatever else a step saw.
type source struct {
	env    map[string]any // what the expressions saw
	spots  []spot         // the parts of it that they mention
	beside []any          // values that the file fixes and they mention
	words  Words
	known  known // what they compare it with, which fields they read, and how slow the answer may be
	passes []int // the statuses that its step accepts; nil: any

	own   map[string]any     // the parts of the answer, if it is one
	exprs []*expression.Expr // what was captured of it
}

// might reports whether the step that gave a source would have gone on with another answer.
func (s *source) might(env map[string]any) bool {
	return len(s.passes) == 0 || !slices.ContainsFunc([]spot{{"status"}, {"it", "status"}}, func(p spot) bool {
		status, err := expression.Number(read(env, p))
		return err == nil && !slices.Contains(s.passes, int(status))
	})
}

// speaks adds an expression that sees the source; own are the names whose parts may change.
func (s *source) speaks(e *expression.Expr, own map[string]any) {
	s.spots = append(s.spots, spotsIn(e, own)...)
	s.known.Values = append(s.known.Values, e.Mentions.Values...)
	s.known.Fields = append(s.known.Fields, e.Mentions.Fields...)
}

// holds adds the values of those names of an expression that the file fixes; it returns the others.
func (s *source) holds(e *expression.Expr, own map[string]any, fixed func(name string) bool) map[string]any {
	free := maps.Clone(own)
	for n := range own {
		if fixed != nil && fixed(n) {
			delete(free, n)
		}
	}
	for _, p := range spotsIn(e, own) {
		if !has(free, p[0]) {
			s.beside = append(s.beside, plain(read(own, p), 2)...)
		}
	}
	return free
}

// given is a name's value as a function of where it came from.
type given struct {
	src  *source
	at   spot              // where the value is in the source, if that is all there is to it
	deps map[string]*given // names in it that were given before
	says says
	make func(env map[string]any) (any, error)
}

// sources are everything that a value depends on.
func (g *given) sources() (out []*source) {
	seen := map[*given]bool{} // names can share what they come from many times over
	var visit func(g *given)
	visit = func(g *given) {
		if seen[g] {
			return
		}
		seen[g] = true
		if !slices.Contains(out, g.src) {
			out = append(out, g.src)
		}
		for _, name := range sortedKeys(g.deps) {
			visit(g.deps[name])
		}
	}
	visit(g)
	return out
}

// Past knows where the names of a file came from. The zero Past knows none. Steps may use it at the same time.
type Past struct {
	mu      sync.Mutex
	given   map[string]*given
	reached map[string]bool // results of requests to the control API that got there, no more
}

// Forget says that a name has a new value that came from no answer.
func (h *Past) Forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.given, name)
	delete(h.reached, name)
}

// Reached says that a name stands for the whole result of a request to the control API that succeeded, or led nowhere: its
// status only shows that somebody listens.
func (h *Past) Reached(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	each.Put(&h.reached, name, true)
}

// Captured says that names were captured from an answer, in their order. env is everything that the expressions saw
// before the names had these values, and own the parts of the answer in it. slowest is that of a View, and passes are the
// statuses that the step accepts if some are successes and some refusals. listens reports expressions that only show that
// somebody listens; nil: none.
func (h *Past) Captured(names map[string]*expression.Expr, env, own map[string]any, words Words, slowest float64, passes []int, listens func(*expression.Expr) bool) {
	src := &source{env: env, words: words, known: known{slowest: slowest}, passes: passes, own: own}
	all := map[string]*given{}
	for _, name := range sortedKeys(names) {
		e := names[name]
		src.speaks(e, own)
		src.exprs = append(src.exprs, e)
		deps := h.before(e, own)
		for n := range e.Names {
			if g := all[n]; g != nil && !has(own, n) {
				deps[n] = g
			}
		}
		all[name] = &given{src: src, at: whole(e, own), deps: deps, make: func(env map[string]any) (any, error) {
			v, err := e.Run(env)
			if err == nil && v == nil {
				err = errNoValue // the step would have been BLOCKED
			}
			return v, err
		}}
		all[name].says = saysOf(len(spotsIn(e, own)) > 0, listens != nil && listens(e))
	}
	h.gives(all)
}

var errNoValue = errors.New("no value")

// Value is a value that a step computes.
type Value struct {
	Exprs []*expression.Expr // in it
	Make  func(env map[string]any) (any, error)
}

// Computed says that a step gave names to values. env is everything that their expressions saw; fixed reports the
// names in it that the file itself fixes, such as its vars and the columns of a table that is written down. It is told
// before the names have their new values, because these may be computed from the old ones.
func (h *Past) Computed(values map[string]Value, env map[string]any, fixed func(name string) bool) {
	all := map[string]*given{}
	for name, value := range values {
		g := &given{src: &source{env: env}, deps: map[string]*given{}, make: value.Make}
		for _, e := range value.Exprs {
			own := earlier(e, env)
			for n, d := range h.before(e, nil) {
				g.deps[n] = d
				delete(own, n)
			}
			g.src.speaks(e, g.src.holds(e, own, fixed))
		}
		g.says = saysOf(len(g.src.spots) > 0, false)
		all[name] = g
	}
	h.gives(all)
}

func (h *Past) gives(all map[string]*given) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.given == nil {
		h.given = map[string]*given{}
	}
	maps.Copy(h.given, all)
	for name := range all {
		delete(h.reached, name)
	}
}

// before are the names in an expression that come from earlier steps, without own.
func (h *Past) before(e *expression.Expr, own map[string]any) map[string]*given {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]*given{}
	for name := range e.Names {
		if g := h.given[name]; g != nil && !has(own, name) {
			out[name] = g
		}
	}
	return out
}

// whole is where the expression's value is, if it only names a part of own.
func whole(e *expression.Expr, own map[string]any) spot {
	if p := spot(expression.PathOf(e.Src)); len(p) > 0 && has(own, p[0]) {
		return p
	}
	return nil
}

// withOtherPast reports whether other earlier answers would change the expectation's outcome; ok is false if it
// mentions nothing that comes from one.
func (v View) withOtherPast() (differs, ok bool) {
	e := v.expr
	deps := v.Past.before(e, nil)
	if len(deps) == 0 {
		return false, false
	}
	own, mentioned := earlier(e, v.Env), spotsIn(e, v.Env)
	for n := range deps {
		delete(own, n)
	}
	root := &given{src: &source{env: v.Env}, deps: deps, make: e.Run}
	root.src.spots = spotsIn(e, root.src.holds(e, own, v.Fixed))
	looked, again := root.looked(mentioned), newReplay()
	other := func(changed map[*source]map[string]any) bool {
		for src, env := range changed {
			if !src.might(env) || names(looked[src], "status") && names(looked[src], "error") && !agree(env) {
				return false
			}
		}
		got, err := again.value(root, changed)
		b, isBool := got.(bool)
		return err == nil && isBool && b != v.Want
	}
	for src, spots := range looked {
		if len(looked) == 1 && len(root.src.spots) == 0 && len(spots) == len(mentioned) && fitsAllStatuses(spots, src.env, func(env map[string]any) bool {
			return !other(map[*source]map[string]any{src: env})
		}) {
			return false, true
		}
	}
	var ways []way
	for w := range root.ways(known{Mentions: e.Mentions}, looked) {
		for o := range w.each {
			if other(map[*source]map[string]any{w.src: written(w.src.env, w.at, o)}) {
				return true, true
			}
			w.options = append(w.options, o)
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
	each    iter.Seq[any]
	options []any // once each has been gone through
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
	k.Values = slices.Clone(k.Values)
	for _, s := range sources {
		k.Values = append(k.Values, s.beside...)
		for _, p := range s.spots {
			k.Values = append(k.Values, plain(read(s.env, p), 2)...)
		}
	}
	return func(yield func(way) bool) {
		at := func(s *source, spots []spot, k known) (all bool) {
			k.words, k.slowest = s.words, s.known.slowest
			return !slices.ContainsFunc(spots, func(p spot) bool { return !yield(way{src: s, at: p, each: others(p, read(s.env, p), k, s.env)}) })
		}
		for _, s := range sources {
			if !at(s, looked[s], k) {
				return
			}
		}
		for _, s := range sources {
			k := k
			k.Values, k.Fields = append(slices.Clip(k.Values), s.known.Values...), append(slices.Clip(k.Fields), s.known.Fields...)
			if !at(s, s.spots, k) {
				return
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
