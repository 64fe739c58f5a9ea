package engine

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/doorlab/doorlab/internal/judge"
)

// An expectation that gives the same result whatever the target answers shows nothing:
// "status > 0", "len(x) >= 0", "a or not a", a pattern that fits everything. So
// wherever one is met, the parts of the answer that it speaks of are changed, one
// after the other and together. Unless one of the changes breaks it, or a real
// answer has, the file is INVALID. An expectation of a table's rows may be idle in
// some of them.

// watch records which expectations of a file could have come out differently.
type watch struct {
	mu   sync.Mutex
	seen map[*Expr]*watched

	hollow map[*Step]*hollow // nil for steps that once had evidence
}

type watched struct {
	turns bool          // it once came out differently, or would have with another answer
	at    []*StepResult // where it came out as expected
}

// watches checks whether an expectation could have come out differently. own are the names from the step's answer, or
// from the element of a list; want is the result that the file waits for.
func (x *frame) watches(e *Expr, sc *scope, own map[string]any, holds bool) {
	want := x.step.Never == nil
	w := &x.file.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[*Expr]*watched{}
	}
	one := w.seen[e]
	if one == nil {
		one = &watched{}
		w.seen[e] = one
	}
	spots := e.spots(own)
	verbs := &x.step.asked().Verbs
	decided := len(spots) > 0 && !slices.ContainsFunc(spots, func(p spot) bool {
		return !verbs.decides(p.last()) && !(slices.Contains(listed, p.last()) && e.ofElements(verbs.decides))
	})
	if one.turns = one.turns || holds != want || !decided && e.turns(sc, own, x.step.asked().words(), want); !one.turns {
		one.at = append(one.at, x.res)
	}
}

// ofElements reports whether the expression reads only such fields of a list's elements.
func (e *Expr) ofElements(decided func(field string) bool) bool {
	read := slices.DeleteFunc(slices.Clone(e.known.fields), func(f string) bool { return !elementFields[f] })
	return len(read) > 0 && !slices.ContainsFunc(read, func(f string) bool { return !decided(f) })
}

// decides reports whether the file itself decided what a field of the verb's result is: which
// boards are read, and how many; which of the journal's lines; at how many doors people are presented. Beside what must
// hold of each of them it may be written down.
func (v *Verbs) decides(field string) bool {
	if j := v.Journal; j != nil {
		return field == "action" && j.Action.set() || field == "cause" && j.Cause.set() || field == "commandId" && j.Command.set()
	}
	if v.PresentEach != nil && !v.PresentEach.Result.set() && !v.PresentEach.Reason.set() {
		return field == "count"
	}
	return (field == "count" || field == "boardId" || field == "placeId") && v.Boards != nil && v.Boards.Of.set() && v.Boards.All == nil
}

// nothing notes a step that claims clauses and passed without evidence for them; why is "" if it had some.
func (w *watch) nothing(s *Step, res *StepResult, claims []string, why string) {
	if len(claims) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hollow == nil {
		w.hollow = map[*Step]*hollow{}
	}
	if was, there := w.hollow[s]; why == "" || there && was == nil {
		w.hollow[s] = nil
	} else {
		w.hollow[s] = &hollow{res, claims, why}
	}
}

// hollow is a step that passed without evidence for what it claims.
type hollow struct {
	res    *StepResult
	claims []string
	why    string
}

// idle are the expectations that nothing the target did could have changed.
func (f *fileRun) idle() (out []*StepResult) {
	for e, w := range f.watch.seen {
		if w.turns || len(w.at) == 0 {
			continue
		}
		for _, s := range w.at {
			s.Asserts = false
		}
		out = append(out, &StepResult{Name: "expect " + e.src, Line: e.pos.Line, Status: judge.Invalid,
			Detail: "this gives the same result whatever the target answers"})
	}
	for s, h := range f.watch.hollow {
		if h != nil {
			out = append(out, &StepResult{Name: h.res.Name, Line: s.pos.Line, Status: judge.Invalid,
				Detail: h.why + ", so it isn't evidence for " + strings.Join(h.claims, ", ")})
		}
	}
	slices.SortFunc(out, func(a, b *StepResult) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// turns reports whether the expectation would come out differently with another answer.
func (e *Expr) turns(sc *scope, own map[string]any, words words, want bool) bool {
	spots, env := e.spots(own), sc.env()
	if len(spots) == 0 && !e.still { // it refers to earlier answers
		if turns, ok := e.turnsWith(sc, want); ok {
			return turns
		}
		own = e.earlier(env)
		spots = e.spots(own)
	}
	if len(spots) == 0 {
		return !e.still
	}
	if fitsAllStatuses(spots, env, func(env map[string]any) bool {
		v, err := vm.Run(e.prog, env)
		b, ok := v.(bool)
		return err == nil && ok && b == want
	}) {
		return false
	}
	both := names(spots, "status") && names(spots, "error")
	other := func(changed map[string]any) bool {
		if both && !agree(changed) {
			return false
		}
		v, err := vm.Run(e.prog, settled(changed, env))
		b, ok := v.(bool)
		return err == nil && ok && b != want
	}
	k := e.known
	k.words, k.values = words, append(slices.Clone(k.values), e.beside(env, own)...)
	options := make([][]any, len(spots))
	for i, p := range spots {
		options[i] = others(p, read(env, p), k, env)
		for _, v := range options[i] {
			if other(written(env, p, v)) {
				return true
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2)) // the same run twice
	for range 200 {
		changed := env
		for i, p := range spots {
			if n := len(options[i]); n > 0 && r.IntN(8) > 0 {
				changed = written(changed, p, options[i][r.IntN(n)])
			}
		}
		if other(changed) {
			return true
		}
	}
	return false
}

// fitsAllStatuses reports whether the expectation speaks of the status alone, and a
// success, a refusal and a failure would all do: what "status: [200, 409, 504]" is
// refused for. That there is no 500 is worth saying.
func fitsAllStatuses(spots []spot, env map[string]any, fits func(env map[string]any) bool) bool {
	kinds, refused := map[int]bool{}, []int(nil)
	for _, p := range spots {
		if len(p) != 1 || p[0] != "status" {
			return false
		}
	}
	for _, code := range statuses {
		if fits(written(env, spot{"status"}, as(env["status"], float64(code)))) {
			kinds[code/100] = kinds[code/100] || code == 200 || code/100 != 2 // no answer is another success
		} else {
			refused = append(refused, code)
		}
	}
	return kinds[2] && kinds[4] && kinds[5] && !slices.Equal(refused, []int{500})
}

// earlier are the values that the expression names, wherever they come from.
func (e *Expr) earlier(env map[string]any) map[string]any {
	out := map[string]any{}
	for n := range e.names {
		if v, ok := env[n]; ok && v != nil && reflect.TypeOf(v).Kind() != reflect.Func {
			out[n] = v
		}
	}
	return out
}

// agree reports whether an answer is consistent: failures have an error, and a success, which is always 200, has none.
func agree(env map[string]any) bool {
	status, err := number(env["status"])
	code, _ := env["error"].(string)
	return err != nil || (status != 200) == (code != "")
}

func names(spots []spot, name string) bool {
	return slices.ContainsFunc(spots, func(p spot) bool { return len(p) == 1 && p[0] == name })
}

// beside are the values that the expression compares an answer with: from earlier answers, a table's columns, people.
func (e *Expr) beside(env, own map[string]any) (out []any) {
	for _, text := range append(keysOf(e.names), e.paths...) { // inside predicates, only names are known
		tree, err := parser.Parse(text)
		if err != nil {
			continue
		}
		if p := spotOf(tree.Node); len(p) > 0 && !has(own, p[0]) {
			v := read(env, p)
			if out = append(out, plain(v, 2)...); size(v) > 0 { // the whole list or object, too
				out = append(out, v)
			}
		}
	}
	return out
}

// plain are the texts and numbers in a value, a few per list.
func plain(v any, depth int) (out []any) {
	switch v := v.(type) {
	case string, float64, int, int64:
		return []any{v}
	case []any:
		for _, e := range v[:min(len(v), 4)] {
			if depth > 0 {
				out = append(out, plain(e, depth-1)...)
			}
		}
	case map[string]any:
		for _, k := range keysOf(v) {
			if depth > 0 {
				out = append(out, plain(v[k], depth-1)...)
			}
		}
	}
	return out
}
