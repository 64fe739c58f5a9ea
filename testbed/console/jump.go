package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
)

// jumpView is what the last jump caused.
type jumpView struct {
	From, To string
	Far      string
	Took     string
	Phases   []phaseChange
	Due      []dueRow
}

// phaseChange is how many boards went from one phase to another.
type phaseChange struct {
	From, To string // keys
	Count    int64
}

type dueRow struct {
	Word  string
	Count string
	First string
}

// clockForms are the clock's buttons.
func (c *Console) clockForms() forms {
	set := func(path string) func(*http.Request) (Said, error) {
		return func(r *http.Request) (Said, error) { return c.moveClock(r.Context(), path, struct{}{}) }
	}
	return forms{
		"freeze": set("freeze"),
		"run":    set("run"),
		"by": func(r *http.Request) (Said, error) {
			return c.advance(r.Context(), map[string]string{"by": r.PostFormValue("by")})
		},
		"to":     c.jumpTo,
		"mark":   c.mark,
		"remove": c.removeFault, // the start page shows them, too
	}
}

func (c *Console) moveClock(ctx context.Context, path string, body any) (Said, error) {
	var out struct{ Now time.Time }
	err := c.lab(ctx, http.MethodPost, "/clock/"+path, body, &out)
	return Said{Key: "clock.said", Args: []any{out.Now.Format(timeFormat)}}, err
}

func (c *Console) advance(ctx context.Context, body any) (said Said, err error) {
	err = c.watch(func() error {
		said, err = c.moveClock(context.WithoutCancel(ctx), "advance", body)
		return err
	})
	return said, err
}

// watch remembers what happens during a jump.
func (c *Console) watch(jump func() error) error {
	from, began, before := c.cfg.Clock.Now(), clock.Mono(), c.phases()
	done := c.cfg.Feed.watchJump()
	err := jump()
	list, to := done(), c.cfg.Clock.Now()
	if err != nil {
		return err
	}
	v := &jumpView{From: from.Format(timeFormat), To: to.Format(timeFormat), Far: span(to.Sub(from).Round(time.Second)), Took: span(clock.Mono() - began),
		Phases: changes(before, c.phases()), Due: each.Of(list, func(d due) dueRow {
			return dueRow{Word: d.Word, Count: amount.Number(d.Count), First: d.First.Format(timeFormat)}
		})}
	c.jump.Store(v)
	return nil
}

func (c *Console) phases() map[string]string {
	out := map[string]string{}
	for _, b := range c.cfg.Boards() {
		out[b.ID] = b.Word()
	}
	return out
}

func changes(before, after map[string]string) (out []phaseChange) {
	n := map[phaseChange]int64{}
	for id, to := range after {
		if from := before[id]; from != to {
			n[phaseChange{From: "phase." + from, To: "phase." + to}]++
		}
	}
	for k, count := range n {
		k.Count = count
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b phaseChange) int {
		return cmp.Or(int(b.Count-a.Count), len(fmt.Sprint(a))-len(fmt.Sprint(b)))
	})
	return out
}
