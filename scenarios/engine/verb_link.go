package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/scenarios/expression"
)

func (l *Link) title() string { return strings.TrimSpace(l.Person.raw + " " + l.Door.raw) }

func (l *Link) run(x *frame) (fields, error) {
	a := need(x.run.do(x.ctx, l.request(x)))
	return a.fields(), l.check(x, a, false)
}

// request builds the press of the button or, without a door, the reading of the page.
func (l *Link) request(x *frame) request {
	token := need(l.Token.str(x.scope))
	if l.Person.set() {
		who := x.person(l.Person)
		if token = expression.Show(who["token"]); token == "" {
			panic(stop{fmt.Errorf("%s has no link", expression.Show(who["name"]))})
		}
	}
	if !l.Door.set() {
		return request{method: "GET", path: "/entry?t=" + esc(token)}
	}
	door := x.door(l.Door)
	return request{method: "POST", path: "/entry/open", body: need(json.Marshal(map[string]any{"t": token, "doorId": door}))}
}
