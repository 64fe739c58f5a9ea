package console

import (
	"context"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// nowPage is the start page.
func (c *Console) nowPage() Page {
	return Page{Name: "now", Path: "/", Title: "now.title", Nav: "nav.now", View: c.now, Parts: []string{"now.health", "now.clock"}, Do: c.clockForms()}
}

type nowView struct {
	Boards, Online int
	Clock          clockView
}

func (c *Console) now(_ *http.Request) (any, error) {
	v := nowView{Clock: c.clock()}
	for _, b := range c.cfg.Boards() {
		v.Boards++
		if b.Online {
			v.Online++
		}
	}
	return v, nil
}

// clockView is the clock with its buttons.
type clockView struct {
	Now     string
	Word    string // key of the text of its state
	Virtual bool
	Steps   []string
}

const timeFormat = "2006-01-02 15:04:05"

func (c *Console) clock() clockView {
	v := clockView{Now: c.cfg.Clock.Now().UTC().Format(timeFormat), Word: "clock.ready", Steps: []string{"5m", "1h", "36h"}}
	virtual, ok := c.cfg.Clock.(*clock.Virtual)
	if v.Virtual = ok; ok {
		switch virtual.State() {
		case clock.Frozen:
			v.Word = "clock.frozen"
		case clock.Advancing:
			v.Word = "clock.jumping"
		}
	}
	return v
}

// clockForms are the clock's buttons.
func (c *Console) clockForms() map[string]func(*http.Request) (Said, error) {
	move := func(ctx context.Context, path string, body any) (Said, error) {
		var out struct{ Now time.Time }
		if err := c.lab(ctx, http.MethodPost, "/clock/"+path, body, &out); err != nil {
			return Said{}, err
		}
		return Said{Key: "clock.said", Args: []any{out.Now.Format(timeFormat)}}, nil
	}
	return map[string]func(*http.Request) (Said, error){
		"freeze": func(r *http.Request) (Said, error) { return move(r.Context(), "freeze", struct{}{}) },
		"run":    func(r *http.Request) (Said, error) { return move(r.Context(), "run", struct{}{}) },
		"by": func(r *http.Request) (Said, error) {
			return move(r.Context(), "advance", map[string]string{"by": r.PostFormValue("by")})
		},
		"to": func(r *http.Request) (Said, error) {
			to := r.PostFormValue("to")
			for _, form := range []string{"2006-01-02 15:04", timeFormat, "2006-01-02"} {
				if t, err := time.Parse(form, to); err == nil {
					to = t.Format(time.RFC3339)
				}
			}
			return move(r.Context(), "advance", map[string]string{"to": to})
		},
	}
}
