package engine

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// checkDoc checks what the form alone doesn't show. Each question that it asks has a file:
//
//	check_defined       does the file define every name that it uses?
//	check_keys          do the keys of a step go together?
//	check_values        can the values that are written down be right?
//	check_always_wrong  would it go wrong in every run?
//	check_can_fail      can a step fail because of what the target does?
//	check_copies        is a value compared with itself?
//	check_statuses      would every answer match?
//	check_claims        are the clauses that a step claims among those that it can show?
//	check_evidence_for  what can it show, by what it does?
//	check_rules_out     what can't it show, by what it sends and expects?
//	check_contract      does the contract have the fields that it expects? (only with a target's documents)
func checkDoc(b *strictyaml.Binder, d *Doc, source string) {
	c := &checker{b: b, labels: map[string]bool{}, names: maps.Clone(builtins), backgrounds: map[string]bool{}, running: map[string]*Step{}, armed: map[string]bool{"all": true}, hands: map[string]bool{},
		unread: unreadOf(b.Problems(), d, source), source: source}
	for n, value := range d.Vars {
		c.names[n] = true
		c.name(n, value.pos)
	}
	c.steps(d.Setup)
	c.steps(d.Steps)
	c.waits(slices.Concat(d.Setup, d.Steps))
	onlyTelling(source, d)
	c.vacuous(d)
	c.clears()
	c.unused(source)
	c.undefined()
}

type checker struct {
	b                          *strictyaml.Binder
	names, labels, backgrounds map[string]bool
	running                    map[string]*Step // steps in the background, by name
	captured                   []use
	copies                     copies
	armed                      map[string]bool // names of faults; "" if one is computed in the run
	cleared                    []Text
	hands                      map[string]bool // names of connections by hand
	unread                     unread
	source                     string
	did                        map[string]bool // see deeds
}

func (c *checker) steps(steps []Step) {
	for i := range steps {
		c.step(&steps[i])
	}
}

func (c *checker) step(s *Step) {
	set := s.Verbs.given()
	switch {
	case len(set) > 1:
		c.b.Problem(s.pos, "a step has one verb, found %s%s", strings.Join(set, " and "), c.hanging(s, set))
	case len(set) == 0 && len(s.Expect) == 0 && len(s.Require) == 0 && !c.unread.at(s.pos):
		c.b.Problem(s.pos, "a step needs a verb or an expectation")
	}
	if s.Never != nil && len(s.Expect) == 0 {
		c.b.Problem(s.pos, "never needs an expectation")
	}
	for n, e := range s.Capture {
		if c.names[n] = true; !c.name(n, e.Pos) {
			continue
		}
		c.captured = append(c.captured, use{name: n, pos: e.Pos})
	}
	if s.Background != "" && c.backgrounds[s.Background] {
		c.b.Problem(s.pos, "a second background %q: the first one's result would be lost", s.Background)
	}
	if s.Background != "" {
		c.backgrounds[s.Background] = true
		c.names[s.Background] = true
	}
	if s.Cases != nil {
		maps.Copy(c.names, s.Cases.columns())
	}
	c.literals(s)
	c.combined(s)
	c.defines(&s.Verbs)
}

// hanging says which verb of a step has nothing in it: what belongs to it was indented too little.
func (c *checker) hanging(s *Step, verbs []string) string {
	lines := strings.Split(c.source, "\n")
	for i := s.pos.Line - 1; i < len(lines); i++ {
		for _, v := range verbs {
			if text := strings.TrimLeft(strings.TrimSpace(lines[i]), "- "); text == v+":" {
				return ": what belongs to " + v + " must be indented deeper than " + v
			}
		}
		if i >= s.pos.Line && strings.HasPrefix(strings.TrimSpace(lines[i]), "- ") {
			break
		}
	}
	return ""
}

// name checks a name that expressions shall use.
func (c *checker) name(name string, pos Pos) bool {
	err := checkName(name)
	if err != nil {
		c.b.Problem(pos, "%s", err)
	}
	return err == nil
}

// unused reports captures that nothing uses.
func (c *checker) unused(source string) {
	for _, u := range c.captured {
		used := func(e *Expr) bool { _, ok := e.Names[u.name]; return ok }
		inTemplate := func(t string) bool { return expression.WordsIn(t, u.name) > 0 } // where another mistake hides the expression
		if !slices.ContainsFunc(notes(c.b).exprs, used) && !slices.ContainsFunc(filled.FindAllString(source, -1), inTemplate) {
			c.b.Problem(u.pos, "%s is captured and never used: compare it with something", u.name)
		}
	}
}

func (c *checker) defines(v *Verbs) {
	if n := v.naming(); n.set() {
		c.names[n.raw] = true
	}
	switch {
	case v.Mark != nil:
		c.labels[v.Mark.Name.raw] = true
		for _, u := range notes(c.b).uses { // what a template gives is known in the run, and what a mark without a name would be called, nobody knows
			if text, literal := v.Mark.Name.Literal(); (!literal || checkName(text) != nil) && u.kind == "label" {
				c.labels[u.name] = true
			}
		}
	case v.Set != nil:
		for n, value := range *v.Set {
			c.names[n] = true
			c.name(n, value.pos)
		}
	default:
		c.steps(v.nested())
	}
	if v.Load != nil {
		v.Load.plain()
		if v.Load.Plan.Fleet != nil {
			c.b.Problem(v.Load.pos, "load: fleet: only plans for doorlab load can have one; a scenario uses the boards of its world")
		}
		if v.Load.Plan.Faults != nil {
			c.b.Problem(v.Load.pos, "load: faults: only plans for doorlab load can have them; use the verb fault and run the load in the background")
		}
		given := func(key string) bool { return c.b.Has(v.Load.path + "." + key) }
		if v.Load.BuiltIn != "" {
			c.builtIn(v.Load, given)
			return
		}
		for _, p := range v.Load.Plan.ProblemsIn(given) {
			key := strings.TrimPrefix(p.Path, "$.")
			if !given(key) || !c.b.FailedAt(v.Load.path+"."+key) { // what couldn't be read isn't wrong a second time
				about := key + ": "
				if strings.HasPrefix(p.Message, key+" ") {
					about = ""
				}
				c.b.Problem(v.Load.pos, "load: %s%s", about, p.Message)
			}
		}
	}
}

// given lists the verbs that are set.
func (v *Verbs) given() (out []string) {
	rv := reflect.ValueOf(v).Elem()
	for i := range rv.NumField() {
		if !rv.Field(i).IsNil() {
			out = append(out, strictyaml.KeyName(rv.Type().Field(i)))
		}
	}
	return out
}

// resultFields are what the verbs' results are made of.
var resultFields = evidence.SetOf(`status body data error message details headers total replayed ms
	answers same outcome code statuses fresh
	result reason answered doorId results reasons count unexpected
	boards worst lines lives last first records events
	people kept revoked phase hits faultId
	verdict sent sentRate outcomes codes lag thresholds repeats
	permit keyId apiKey now mode state text
	connack granted payload topic retained
	epoch sessionMs revision digest netloss said meanwhile journal dropped`)
