package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/scenarios/expression"
)

func (l *Link) title() string { return strings.TrimSpace(l.Person.raw + " " + l.Door.raw) }

// run presses a link's button, or reads its page.
func (l *Link) run(x *frame) (fields, error) {
	q, err := l.request(x)
	if err != nil {
		return nil, err
	}
	a, err := x.run.do(x.ctx, q)
	if err != nil {
		return nil, err
	}
	return a.fields(), l.check(x, a, false)
}

// request builds the press of the button or, without a door, the reading of the page.
func (l *Link) request(x *frame) (q request, err error) {
	token, err := l.Token.str(x.scope)
	if err != nil {
		return q, err
	}
	if l.Person.set() {
		who, err := x.person(l.Person)
		if err != nil {
			return q, err
		}
		if token = expression.Show(who["token"]); token == "" {
			return q, fmt.Errorf("%s has no link", expression.Show(who["name"]))
		}
	}
	if !l.Door.set() {
		return request{method: "GET", path: "/entry?t=" + esc(token)}, nil
	}
	door, err := x.door(l.Door)
	if err != nil {
		return q, err
	}
	q = request{method: "POST", path: "/entry/open"}
	q.body, err = json.Marshal(map[string]any{"t": token, "doorId": door})
	return q, err
}
