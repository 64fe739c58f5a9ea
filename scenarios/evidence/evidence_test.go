package evidence

import (
	"maps"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// met tells a watch that an expectation came out as wanted.
func met(t *testing.T, watch *Watch, src string, res *report.Step, v View) {
	t.Helper()
	v.Want = true
	watch.Met(must.Get(expression.Compile(src))(t), true, res, func() View { return v })
}

// TestIdle: an expectation is idle unless an answer that the target could have given breaks it.
func TestIdle(t *testing.T) {
	t.Parallel()
	own := map[string]any{
		"status": 200, "error": nil, "ms": 12.0, "replayed": false, "headers": map[string]any{"Content-Type": "application/json"},
		"data": map[string]any{"n": 3.0, "name": "Ann"}, "body": map[string]any{"success": true, "data": map[string]any{"n": 3.0, "name": "Ann"}},
	}
	env := map[string]any{"seed": 1}
	maps.Copy(env, own)
	env["it"] = own
	for src, idle := range map[string]bool{
		`status > 0`:                              true,
		`status in [200, 409, 504]`:               true,
		`status == 200 or error != nil`:           true,
		`data.n == body.data.n`:                   true,
		`ms < 60000`:                              true,
		`data.name matches ".*"`:                  true,
		`len(headers) > 0`:                        true,
		`seed == 1`:                               false, // only the engine knows that it is fixed
		`status == 200`:                           false,
		`data.n == seed + 2`:                      false,
		`data.name matches "^A"`:                  false,
		`not (json(data) contains "01012345678")`: false,
		`ms < 5000`:                               false,
	} {
		env := maps.Clone(env)
		env["json"] = expression.Show
		var watch Watch
		res := &report.Step{Asserts: true}
		met(t, &watch, src, res, View{Env: env, Own: own, Words: WordsOf("opened", "denied"), Past: &Past{}})
		if got := len(watch.Idle()) == 1; got != idle || res.Asserts == idle {
			t.Errorf("%s: idle is %t, and the step asserts something: %t; want %t, %t", src, got, res.Asserts, idle, !idle)
		}
	}
}

// TestIdleInEveryRow: an expectation counts if it could have come out differently once, or did.
func TestIdleInEveryRow(t *testing.T) {
	t.Parallel()
	e := must.Get(expression.Compile("row.any or status == 200"))(t)
	view := func(fits bool) View {
		return View{Env: map[string]any{"status": 200, "row": map[string]any{"any": fits}}, Own: map[string]any{"status": 200}, Past: &Past{}, Want: true}
	}
	for name, c := range map[string]struct {
		rows []bool // whether any status will do
		held bool
		idle int
	}{
		"no row can fail": {[]bool{true, true}, true, 1},
		"one row can":     {[]bool{true, false}, true, 0},
		"one row did":     {[]bool{true, true}, false, 0},
	} {
		var watch Watch
		for _, fits := range c.rows {
			watch.Met(e, c.held, &report.Step{}, func() View { return view(fits) })
		}
		if got := len(watch.Idle()); got != c.idle {
			t.Errorf("%s: got %d idle expectations, want %d", name, got, c.idle)
		}
	}
}

// TestAddsUp: whoever isn't let in is denied, so that both add up to how many there are holds always; how many were let in
// doesn't.
func TestAddsUp(t *testing.T) {
	t.Parallel()
	for name, results := range map[string]map[string]any{"all": {"opened": 4}, "some": {"opened": 3, "denied": 1}} {
		own := map[string]any{"count": 4, "results": results, "reasons": map[string]any{"onsite": 4}}
		for src, idle := range map[string]bool{
			`(results?.opened ?? 0) + (results?.denied ?? 0) == count`: true,
			`sum(values(results)) == count`:                            true,
			`(results?.opened ?? 0) <= count`:                          true,
			`results.opened == 4 or results.opened == 3`:               false,
			`results?.denied == nil or results.denied == 1`:            false,
			`(results?.opened ?? 0) > 2`:                               false,
			`len(reasons) == 1`:                                        false,
		} {
			var watch Watch
			met(t, &watch, src, &report.Step{}, View{Env: own, Own: own, Words: WordsOf("denied", "opened"), Past: &Past{}})
			if got := len(watch.Idle()) == 1; got != idle {
				t.Errorf("%s, %s: idle is %t, want %t", name, src, got, idle)
			}
		}
	}
}

// TestDecidedByTheFile: what the file chose itself may be written down beside what must hold of it.
func TestDecidedByTheFile(t *testing.T) {
	t.Parallel()
	own := map[string]any{"count": 1, "boards": []any{map[string]any{"boardId": "brd_1", "online": true}}}
	decided := func(field string) bool { return field == "count" || field == "boardId" }
	for src, idle := range map[string]int{`count == 1`: 1, `boards[0].boardId == "brd_1"`: 1, `count == 1 and boards[0].online`: 0} {
		var watch Watch
		met(t, &watch, src, &report.Step{}, View{Env: own, Own: own, Past: &Past{}, Decided: decided})
		if got := len(watch.Idle()); got != idle {
			t.Errorf("%s: got %d idle expectations, want %d", src, got, idle)
		}
	}
}

// TestClaimsWithoutEvidence: a step that claims clauses needs evidence in one of its rows.
func TestClaimsWithoutEvidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		whys   []string
		claims []string
		detail string
	}{
		"none in any row":   {[]string{"it looked at nothing", "it looked at nothing"}, []string{"CMD-1", "CMD-2"}, "it looked at nothing, so it isn't evidence for CMD-1, CMD-2"},
		"some in the first": {[]string{"", "it looked at nothing"}, []string{"CMD-1"}, ""},
		"some in the last":  {[]string{"it looked at nothing", ""}, []string{"CMD-1"}, ""},
		"nothing claimed":   {[]string{"it looked at nothing"}, nil, ""},
	} {
		var watch Watch
		step := new(int)
		for _, why := range c.whys {
			watch.Passed(step, 7, &report.Step{Name: "look"}, c.claims, why)
		}
		detail := ""
		for _, s := range watch.Idle() {
			if detail = s.Detail; s.Line != 7 || s.Name != "look" || s.Status != judge.Invalid {
				t.Errorf("%s: got %s in line %d, %s; want look in line 7, INVALID", name, s.Name, s.Line, s.Status)
			}
		}
		if detail != c.detail {
			t.Errorf("%s: got %q, want %q", name, detail, c.detail)
		}
	}
}

// TestEarlierAnswers: an expectation of captured and computed names could fail if other answers to earlier steps
// break it.
func TestEarlierAnswers(t *testing.T) {
	t.Parallel()
	own := map[string]any{"data": map[string]any{"n": 3.0}}
	for src, idle := range map[string]int{
		`a == 3`:     0,
		`b - 1 == a`: 1, // b was set to a + 1
		`b == 4`:     0,
		`a == a`:     1,
		`c == 5`:     0, // c has a value that came from no answer, and the engine doesn't say that it is fixed
	} {
		var past Past
		past.Captured(map[string]*expression.Expr{"a": must.Get(expression.Compile("data.n"))(t), "c": must.Get(expression.Compile("data.n"))(t)}, own, own, nil, 0, nil, nil)
		sum := must.Get(expression.Compile("a + 1"))(t)
		past.Computed(map[string]Value{"b": {Exprs: []*expression.Expr{sum}, Make: sum.Run}}, map[string]any{"a": 3.0}, func(string) bool { return false })
		past.Forget("c")
		var watch Watch
		met(t, &watch, src, &report.Step{}, View{Env: map[string]any{"a": 3.0, "b": 4.0, "c": 5.0}, Past: &past})
		if got := len(watch.Idle()); got != idle {
			t.Errorf("%s: got %d idle expectations, want %d", src, got, idle)
		}
	}
}

// TestSharedPast: names that share what they come from many times over are looked at once each.
func TestSharedPast(t *testing.T) {
	t.Parallel()
	g := &given{src: &source{}}
	for range 200 {
		g = &given{src: g.src, deps: map[string]*given{"a": g, "b": g}}
	}
	if got := g.sources(); len(got) != 1 {
		t.Errorf("got %d sources, want 1", len(got))
	}
}

// TestCopiesOfNames: a value compared with a copy of itself is equal; one captured again isn't a copy.
func TestCopiesOfNames(t *testing.T) {
	t.Parallel()
	expr := func(src string) *expression.Expr { return must.Get(expression.Compile(src))(t) }
	k := NewCopies(func(name string) bool { return name == "data" })
	first, second := k.Answer(), k.Answer()
	k.Give("a", k.SourceIn(expr("data.n"), first))
	k.Give("again", k.SourceIn(expr("data.n"), second))
	k.Give("b", k.Source(expr("a")))
	k.Give("new", "")
	k.Vary("row")
	for src, want := range map[string]bool{
		"a == b": true, "a == a and b >= a": true, "a == again": false, "a == new": false, "a != b": false,
		"row.x == row.x": false, "a == b or a == again": true, "a == b and a == again": false,
	} {
		if got := k.Itself(expr(src), 0); got != want {
			t.Errorf("%s only compares copies: %t, want %t", src, got, want)
		}
	}
	if !k.Itself(expr("data.n == a"), first) || k.Itself(expr("data.n == a"), second) || k.Itself(expr("data.n == a"), 0) {
		t.Error("data.n == a: want it to compare copies if it is about the answer that a is from, and only then")
	}
}

// TestRefersOnlyTo: fixed are names, or parts of values; the language's own words always are.
func TestRefersOnlyTo(t *testing.T) {
	t.Parallel()
	fixed := map[string]bool{"n": true, "ann.phone": true}
	for src, want := range map[string]bool{"1 < 2": true, "n > 1": true, "ann.phone != nil": true, "ann.id != nil": false, "ann != nil": false, "status == n": false} {
		if got := RefersOnlyTo(must.Get(expression.Compile(src))(t), fixed); got != want {
			t.Errorf("%s refers only to what is fixed: %t, want %t", src, got, want)
		}
	}
}

// TestTruisms: what is always so is recognized by its form.
func TestTruisms(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"count >= 0": true, "len(lines) > -1": true, "boot >= 1": true, "appliedRevision <= desiredRevision": true,
		"count > 0": false, "boot > 1": false, "status >= 0": false, "appliedRevision >= desiredRevision": false,
	} {
		if got := Truism(must.Get(expression.Compile(src))(t)); got != want {
			t.Errorf("%s is a truism: %t, want %t", src, got, want)
		}
	}
}

// TestOpposites: the opposite of a success is a refusal, and the reverse; a decision's likewise.
func TestOpposites(t *testing.T) {
	t.Parallel()
	for status, success := range map[int]bool{200: false, 204: false, 409: true, 504: true} {
		for _, a := range Opposites(status) {
			if got := a.Status/100 == 2; got != success || (a.Body["error"] == nil) != success {
				t.Errorf("the opposite of %d: got %d %v, want a success: %t", status, a.Status, a.Body, success)
			}
		}
	}
	for result, opposite := range map[string]string{"opened": "denied", "denied": "opened"} {
		if all := OppositeDecisions(result); len(all) < 3 || slices.ContainsFunc(all, func(d Decision) bool { return d.Result != opposite }) {
			t.Errorf("the opposites of %s: got %v, want at least three that are %s", result, all, opposite)
		}
	}
}
