package age

import (
	"cmp"
	"net/http"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

// most bounds how many people are at doors at the same time.
const most = 256

// happen plays a moment. What happens at one place changes nothing at another.
func (r *run) happen(m moment) {
	for _, mishap := range m.mishaps {
		mishap()
	}
	r.rest(m.at, len(m.mishaps))
	if len(m.changes) > 0 {
		atOnce(r, r.places, func(p *place) {
			for _, change := range m.changes[p] {
				change()
			}
		})
	}
	if len(m.entries) == 0 {
		return
	}
	r.rest(m.at, len(m.changes)) // people must find boards that are in sync
	commands := map[*place]bool{}
	for _, e := range m.entries {
		if e.cmd != nil {
			commands[e.place] = true
		}
	}
	atOnce(r, r.places, func(p *place) {
		if commands[p] {
			r.signIn(p)
		}
	})
	atOnce(r, m.entries, r.enter)
}

// rest waits until what has happened is over, if a lot has happened.
func (r *run) rest(at time.Time, happened int) {
	if happened == 0 {
		return
	}
	if err := r.clk.Advance(at); err != nil {
		r.failed("the clock, at %s: %w", at, err)
	}
}

// atOnce does something for all places, or for all people, at once.
func atOnce[T any](r *run, list []T, do func(T)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, most)
	for _, v := range list {
		slots <- struct{}{}
		wg.Add(1)
		r.crew.Go(func() {
			defer wg.Done()
			do(v)
			<-slots
		})
	}
	wg.Wait()
}

// enter plays one entry.
func (r *run) enter(e entry) {
	switch e.how {
	case "onsite":
		r.present(e, map[string]string{"doorId": e.door.id, "phone": e.who.phone})
	case "onsite link":
		if e.who.link == "" {
			e.how = "onsite"
			r.enter(e)
			return
		}
		r.present(e, map[string]string{"doorId": e.door.id, "token": e.who.link})
	case "link":
		r.press(e)
	case "phone":
		r.phone(e)
	default:
		e.cmd.at = r.clk.Now()
		if e.cmd.kept {
			r.keep(history.KeyHash(e.place.id, e.cmd.key), e.cmd.at)
		}
		r.entered(e.how, r.command(e.place, e.cmd))
	}
}

// keep makes later segments be judged by what happens under this key.
func (r *run) keep(key string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept.again(key, at)
}

func (r *run) present(e entry, body map[string]string) {
	got := data[struct{ Result, Reason string }](r.operate(http.MethodPost, "/people/present", "", body, false))
	r.entered(e.how, got.Result+" "+got.Reason)
}

// press presses the button of an entry link; a person without one presses an invalid one.
func (r *run) press(e entry) {
	token := cmp.Or(e.who.link, "ent_none"+e.who.phone)
	a := r.ask(call{method: http.MethodPost, path: "/entry/open", open: true, body: map[string]string{"t": token, "doorId": e.door.id}})
	env := a.envelope()
	switch {
	case a.Status == http.StatusOK:
		r.entered(e.how, "opened")
	case env.Details.Rule != "":
		r.entered(e.how, env.Error+" "+env.Details.Rule)
	default:
		r.entered(e.how, env.Error)
	}
}

// phone calls the place's number.
func (r *run) phone(e entry) {
	a := r.operate(http.MethodPost, "/people/call", e.place.id, map[string]string{"to": e.place.phone, "from": e.who.phone}, true)
	got := data[struct{ Result, Reason string }](a)
	r.entered(e.how, got.Result+" "+got.Reason)
}
