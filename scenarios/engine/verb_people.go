package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/scenarios/expression"
)

func (p *Present) title() string { return strings.TrimSpace(p.Person.raw + " at " + p.Door.raw) }

func (p *Present) run(x *frame) (fields, error) {
	door := x.door(p.Door)
	body := map[string]any{"doorId": door}
	switch {
	case p.Person.set():
		who := x.person(p.Person)
		credential(body, who, p.Link)
	case p.Token.set():
		body["token"] = need(p.Token.str(x.scope))
	default:
		body["phone"] = need(p.Phone.str(x.scope))
	}
	out := x.present(body)
	err := x.decided(p.Result, p.Reason, out)
	if bad := (*failure)(nil); errors.As(err, &bad) {
		bad.text += x.outageAge(out) + x.behind(door)
	}
	return out, err
}

// outageAge says by how much the outage was too old for a board to decide; "" for other decisions. If that is little and the
// clock runs, the scenario probably meant an exact age.
func (x *frame) outageAge(out fields) string {
	lines, _ := out["journal"].([]any)
	if out["reason"] != "outage_limit" || len(lines) == 0 {
		return ""
	}
	line, _ := lines[0].(map[string]any)
	sec, _ := line["outageAgeSec"].(float64)
	if sec <= 0 {
		return "" // a lost clock
	}
	const limit = time.Duration(access.OutageLimitMs) * time.Millisecond
	over := time.Duration(sec*float64(time.Second)).Round(time.Millisecond) - limit
	said := fmt.Sprintf("; the outage had lasted %s longer than the 36 h for which boards decide on their own", amount.Duration(over.Seconds()))
	if over > time.Minute {
		return said
	}
	var c clockView
	if err := x.run.lab.ask((&trace{}).on(x.ctx), x.run.lab.main, http.MethodGet, "/clock", nil, &c); err != nil || c.State == "frozen" {
		return said
	}
	return said + " (freeze the clock before the cut to reach an exact age)"
}

// behind says that a door's board lacks a change, which may be why it decided unexpectedly; "" if it doesn't. The report
// shows the presentation as the step's last request, not this one.
func (x *frame) behind(door string) string {
	of := x.run.dir.door(door)
	if of == nil || of.owner == "" {
		return ""
	}
	var b control.Board
	err := x.run.lab.ask((&trace{}).on(x.ctx), of.owner, http.MethodGet, "/boards/"+esc(of.id), nil, &b)
	if err != nil || b.AppliedRevision >= b.DesiredRevision {
		return ""
	}
	if !b.Online {
		return fmt.Sprintf("; the board is offline and has revision %d; the server has %d", b.AppliedRevision, b.DesiredRevision)
	}
	return fmt.Sprintf("; the board has revision %d, the server has %d (synced waits until changes have arrived)", b.AppliedRevision, b.DesiredRevision)
}

func credential(body, who map[string]any, link bool) {
	if link {
		body["token"] = who["token"]
	} else {
		body["phone"] = who["phone"]
	}
}

func (x *frame) present(body map[string]any) (out fields) {
	sure(x.run.lab.ask(x.ctx, x.owner(body["doorId"].(string)), "POST", "/people/present", body, &out))
	return out
}

// decided compares a decision with the expected one.
func (x *frame) decided(result, reason Text, got fields) error {
	for name, want := range map[string]Text{"result": result, "reason": reason} {
		if !want.set() {
			continue
		}
		w, err := want.str(x.scope)
		if err != nil {
			return err
		}
		if expression.Show(got[name]) != w {
			return failed("expected %s %s, found result %s, reason %s", name, w, expression.Show(got["result"]), expression.Show(got["reason"]))
		}
	}
	return nil
}

func (p *PresentEach) title() string { return p.People.raw + " at " + p.Doors.raw }

// presentation is one person at one door.
type presentation struct {
	door string
	who  map[string]any
}

// run presents at each door of a cohort people of its place.
func (p *PresentEach) run(x *frame) (fields, error) {
	doors := x.doors(p.Doors)
	people := x.people(p.People)
	plan := x.pair(doors, people, x.least(p.PerDoor))
	if most := x.count(p.Most, 0); most > 0 && len(plan) > most {
		r := rand.New(rand.NewPCG(uint64(x.run.seed), x.file.draw("present")))
		r.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
		plan = plan[:most]
	}
	if len(plan) == 0 {
		return nil, fmt.Errorf("none of the %d people has a permit for any of the %d doors", len(people), len(doors))
	}
	var mu sync.Mutex
	results, reasons, wrong, first := map[string]any{}, map[string]any{}, 0, ""
	sure(atOnce(16, len(plan), func(i int) error {
		body := map[string]any{"doorId": plan[i].door}
		credential(body, plan[i].who, p.Link)
		got := x.present(body)
		bad := x.decided(p.Result, p.Reason, got)
		mu.Lock()
		defer mu.Unlock()
		add(results, expression.Show(got["result"]))
		add(reasons, expression.Show(got["reason"]))
		if bad != nil {
			if wrong++; first == "" {
				first = fmt.Sprintf("%s at %s: %v", plan[i].who["name"], plan[i].door, bad)
			}
		}
		return nil
	}))
	x.res.Detail = fmt.Sprintf("%d presentations: %s", len(plan), brief(reasons, 120))
	out := fields{"count": len(plan), "results": results, "reasons": reasons}
	if p.expects() {
		out["unexpected"] = wrong
	}
	if wrong > 0 {
		return out, failed("%d of %d presentations: %s", wrong, len(plan), first)
	}
	return out, nil
}

// expects reports whether the step says how the presentations must end.
func (p *PresentEach) expects() bool { return p.Result.set() || p.Reason.set() }

func add(counts map[string]any, name string) {
	n, _ := counts[name].(int)
	counts[name] = n + 1
}

// pair puts at each door people of the door's place whose permits open it, taking turns.
func (x *frame) pair(doors []string, people []map[string]any, per int) (plan []presentation) {
	byPlace := each.By(people, func(who map[string]any) string { return expression.Show(who["place"]) })
	turn := map[string]int{}
	for _, d := range doors {
		b := x.run.dir.door(d)
		if b == nil {
			continue
		}
		here := slices.DeleteFunc(slices.Clone(byPlace[b.placeID]), func(who map[string]any) bool { return !opensFor(who, d) })
		for range min(per, len(here)) {
			plan = append(plan, presentation{d, here[turn[b.placeID]%len(here)]})
			turn[b.placeID]++
		}
	}
	return plan
}

// opensFor: a person whose permit names doors is presented at those only.
func opensFor(who map[string]any, door string) bool {
	list, _ := who["doors"].([]string)
	return len(list) == 0 || slices.Contains(list, door)
}

func (p *Phone) run(x *frame) (fields, error) {
	lab, placeID := x.lab(), ""
	from, to := need(p.From.str(x.scope)), need(p.To.str(x.scope))
	if p.Person.set() {
		who := x.person(p.Person)
		from, placeID = cmp.Or(from, expression.Show(who["phone"])), expression.Show(who["place"])
	}
	if p.Place.set() {
		placeID = x.place(p.Place)
	}
	if to == "" && placeID != "" { // the file may have changed the number
		var now struct{ EntryPhone string }
		sure(lab.ask(x.ctx, lab.main, "GET", "/places/"+esc(placeID), nil, &now))
		to = now.EntryPhone
	}
	if to == "" || from == "" {
		return nil, errors.New("phone needs a place to call and a person who calls")
	}
	body := map[string]any{"to": to, "from": from}
	var out fields
	if p.Over.set() {
		out = x.dialled(p, placeID, body)
	} else {
		sure(x.operated("POST", "/people/call", placeID, body, &out))
	}
	return out, p.judge(x, out)
}

// judge compares how a call went with what the step expects.
func (p *Phone) judge(x *frame, out fields) error {
	if p.Answered != nil && out["answered"] != *p.Answered {
		return failed("expected answered %v, found %s", *p.Answered, brief(out, 160))
	}
	want := each.Of(p.Status, func(n Num) int { return int(need(n.num(x.scope))) })
	if got, _ := out["status"].(int); len(want) > 0 && !slices.Contains(want, got) {
		return failed("expected status %s, found %s", expression.Show(want), brief(out, 160))
	}
	if p.Quiet && out["status"] != noAnswer {
		return failed("expected no answer, found %s", brief(out, 160))
	}
	return x.decided(p.Result, p.Reason, out)
}

func (l *Leaf) title() string { return l.Action + " " + l.Door.raw }

func (l *Leaf) run(x *frame) (fields, error) {
	door := x.door(l.Door)
	base := x.owner(door)
	var out fields
	err := x.run.lab.ask(x.ctx, base, "POST", "/people/leaf", map[string]any{"doorId": door, "action": l.Action}, &out)
	return out, err
}
