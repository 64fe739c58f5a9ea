package age

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

// carried is what later segments are judged by besides the state of the world: the last that partners heard of each
// permit, and the commands whose keys are used again. What can't matter any more is dropped.
type carried struct {
	permits  map[string]*story // by permit: its last registration, and its revocation since; at is its end
	commands map[string]*story // by hashed key: what first happened under it
}

func newCarried() carried { return carried{map[string]*story{}, map[string]*story{}} }

// story is what is carried of a permit or a key.
type story struct {
	events []history.Event
	at     int64 // domain ms
}

const (
	keysKept    = 31 * 24 * time.Hour // a day longer than the server keeps them
	createRoute = "/space/v1/partner/entry-permits"
)

// permitsKept is how long after their end permits are carried: into every segment in which the server is sure to know them
// to its end, and so has to find them again by their reference.
func (r *run) permitsKept() time.Duration { return r.grantsKept() - 3*r.c.Segment/2 }

// from processes a segment.
func (k *carried) from(events []history.Event) {
	for i := range events {
		switch e := &events[i]; e.Kind {
		case history.Call:
			if e.Status == 200 && (e.Route == createRoute || e.Route == createRoute+"/revoke") {
				k.call(e)
			}
		case history.Attempt, history.Answer, history.Intent, history.Publish:
			if s := k.commands[e.Key]; s != nil && len(s.events) < 4 {
				s.events = append(s.events, *e)
			}
		}
	}
}

func (k *carried) call(e *history.Event) {
	var t history.CallText
	if json.Unmarshal([]byte(e.Text), &t) != nil {
		return
	}
	id, _ := t.Out["permitId"].(string)
	switch c := k.permits[id]; {
	case id == "":
	case e.Route == createRoute:
		ends, _ := t.In["endsAt"].(string)
		until, err := time.Parse(time.RFC3339, ends)
		if err == nil {
			k.permits[id] = &story{[]history.Event{*e}, until.UnixMilli()}
		}
	case c != nil && len(c.events) == 1: // a repeat changes nothing
		c.events, c.at = append(c.events, *e), min(c.at, e.At)
	}
}

// again extends how long a command's story is kept.
func (k *carried) again(key string, now time.Time) {
	k.commands[key] = &story{at: now.UnixMilli()}
}

// events returns those that still matter, in order; keep is how long after their end permits do.
func (k *carried) events(now time.Time, keep time.Duration) (out []history.Event) {
	take := func(from map[string]*story, keep time.Duration) {
		maps.DeleteFunc(from, func(_ string, s *story) bool { return now.UnixMilli()-s.at > keep.Milliseconds() })
		for _, s := range from {
			out = append(out, s.events...)
		}
	}
	take(k.permits, keep)
	take(k.commands, keysKept)
	slices.SortFunc(out, func(a, b history.Event) int {
		return cmp.Or(cmp.Compare(a.WallNs, b.WallNs), cmp.Compare(a.Seq, b.Seq))
	})
	return out
}
