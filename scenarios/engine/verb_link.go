package engine

import (
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/scenarios/expression"
)

func (l *Link) title() string { return strings.TrimSpace(l.Person.raw + " " + l.Door.raw) }

// run presses a link's button, or reads its page.
func (l *Link) run(x *frame) (fields, error) {
	token, err := l.Token.str(x.scope)
	if err != nil {
		return nil, err
	}
	if l.Person.set() {
		who, err := x.person(l.Person)
		if err != nil {
			return nil, err
		}
		if token = expression.Show(who["token"]); token == "" {
			return nil, fmt.Errorf("%s has no link", expression.Show(who["name"]))
		}
	}
	if !l.Door.set() {
		a, err := x.run.do(x.ctx, request{method: "GET", path: "/entry?t=" + esc(token)})
		if err != nil {
			return nil, err
		}
		return a.fields(), l.check(x, a, false)
	}
	door, err := x.door(l.Door)
	if err != nil {
		return nil, err
	}
	a, err := x.post(x.ctx, "POST", "/entry/open", "", "", map[string]any{"t": token, "doorId": door})
	if err != nil {
		return nil, err
	}
	return a.fields(), l.check(x, a, false)
}
