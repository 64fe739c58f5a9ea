package engine

import (
	"errors"
	"maps"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// What the engine tells scenarios/evidence: which expectations it met, and where the file's names come from.

// met notes an expectation that came out as err says, if it came out at all. own are the names from the step's
// answer, or from the element of a list; want is what it must come out as.
func (x *frame) met(e *Expr, sc *scope, own map[string]any, want bool, err error) {
	if fail, failed := errors.AsType[*failure](err); err != nil && !(failed && fail.definite) {
		return
	}
	asked := x.step.asked()
	decided := func(field string) bool { return asked.Verbs.decides(field) }
	if e == asked.Verbs.all() {
		decided = func(field string) bool { return x.chose(&asked.Verbs, field) }
	}
	x.file.watch.Met(&e.Expr, (err == nil) == want, x.res, func() evidence.View {
		hint, absent := e.hidden(sc), []string{}
		for _, a := range x.unpromised(e) {
			hint, absent = hint+"\n"+a.why, append(absent, a.path)
		}
		return evidence.View{Absent: absent, Env: sc.env(), Own: own, Words: asked.words(), Past: &x.file.past, Still: e.still && !hides(own, e), Want: want, Hint: hint, Decided: decided, Fixed: x.fixed, Slowest: x.slowest()}
	})
}

// hides reports whether an answer has a part that the expectation names: the file's own value of that name isn't what
// it means.
func hides(own map[string]any, e *Expr) bool {
	for n := range e.Names {
		if _, there := own[n]; there && !e.copies {
			return true
		}
	}
	return false
}

// wholeResult stands for the result of a step in the background, which has its name.
var wholeResult, _ = expression.Compile("it")

// captured notes where the names of a step's captures come from, and its own in the background, before they are set.
func (x *frame) captured(sc *scope) {
	names := map[string]*expression.Expr{}
	if x.step.Background != "" {
		names[x.step.Background] = wholeResult
	}
	for name, e := range x.step.Capture {
		names[name] = &e.Expr
	}
	if len(names) == 0 {
		return
	}
	x.file.past.Captured(names, sc.env(), sc.vars, x.step.asked().words(), x.slowest(), x.step.eitherStatus(), func(e *expression.Expr) bool {
		return x.alive() || x.onlyReached(e, sc.vars)
	})
	if status := (&expression.Expr{Names: map[string]Pos{"status": {}}}); x.step.Background != "" && x.onlyReached(status, sc.vars) {
		x.file.past.Reached(x.step.Background)
	}
}

// slowest is how long the step's verb may wait before it fails, in ms; 0 for the others.
func (x *frame) slowest() float64 {
	s := x.step.asked()
	if s.Verbs.Synced == nil {
		return 0
	}
	limit, err := s.Verbs.Synced.limit(s, x.scope)
	if err != nil {
		return 0
	}
	return float64(limit.Milliseconds()) - 1
}

// computed notes where the names that a step sets come from, before they are set.
func (x *frame) computed(vars VarSet) {
	values := map[string]evidence.Value{}
	for name, value := range vars {
		values[name] = evidence.Value{Exprs: value.exprs(), Make: func(env map[string]any) (any, error) {
			return value.eval(&scope{file: x.file, vars: env})
		}}
	}
	x.file.past.Computed(values, x.scope.env(), x.fixed)
}

// fixed reports whether a name has the same value whatever the target does.
func (x *frame) fixed(name string) bool { return x.scope.ofTable(name) || x.step.fixed[name] }

// exprs are the expressions in a value.
func (a Any) exprs() (out []*expression.Expr) {
	switch v := a.v.(type) {
	case Text:
		for _, p := range v.parts {
			if p.expr != nil {
				out = append(out, &p.expr.Expr)
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

// decides reports whether the file itself decided what a field of the verb's result is: which
// boards are read, and how many; which of the journal's lines; at how many doors people are presented. Beside what must
// hold of each of them it may be written down.
func (v *Verbs) decides(field string) bool {
	if j := v.Journal; j != nil {
		return field == "action" && j.Action.set() || field == "cause" && j.Cause.set() || field == "commandId" && j.Command.set()
	}
	if v.PresentEach != nil && !v.PresentEach.expects() {
		return field == "count"
	}
	return (field == "count" || field == "boardId" || field == "placeId") && v.Boards != nil && v.Boards.Of.set() && v.Boards.All == nil
}

// chose reports whether a field of each element that the verb reads is what the file chose them by.
func (x *frame) chose(v *Verbs, field string) bool {
	switch {
	case v.Boards != nil:
		return (field == "boardId" || field == "placeId") && v.Boards.Of.set()
	case v.Journal != nil && (field == "boardId" || field == "doorId"):
		of, err := v.Journal.Of.eval(x.scope)
		ids, err2 := many(of, "boards")
		return err == nil && err2 == nil && len(ids) == 1 && (field == "boardId" || x.run.dir.door(ids[0]) != nil)
	case v.Records != nil:
		return field == "doorId" && v.Records.Door.set() || field == "method" && v.Records.Method != "" || field == "commandId" && v.Records.Command.set()
	}
	return v.decides(field)
}

// onlyTelling drops from the file's expectations the words that no answer would have.
func onlyTelling(source string, d *Doc) {
	var all []*expression.Expr
	eachStep(func(s *Step) {
		for i := range s.Expect {
			all = append(all, &s.Expect[i].Expr)
		}
		if e := s.Verbs.all(); e != nil {
			all = append(all, &e.Expr)
		}
		for e := range maps.Values(s.Capture) {
			all = append(all, &e.Expr)
		}
	}, d.Setup, d.Steps)
	evidence.DropSilentWords(source, all)
}

// words are the closed lists for fields of the step's answer.
func (s *Step) words() evidence.Words {
	results := []string{vocab.NoResponse, vocab.Offline, vocab.Refused, string(vocab.Denied), string(vocab.Opened)}
	switch v := &s.Verbs; {
	case v.Events != nil:
		words := evidence.WordsOf(results[3:]...)
		words["kind"] = [][]string{{"entry.opened", "entry.denied", "entry.permit.used"}}
		return words
	case v.Present != nil, v.PresentEach != nil:
		results = results[3:]
	case v.Phone == nil:
		results = append(results, string(vocab.Held), string(vocab.Locked), string(vocab.Changed))
	}
	return evidence.WordsOf(results...)
}
