package explore

import (
	"slices"
	"strings"
)

// shrinker removes from a failing sequence whatever it fails without, then simplifies the rest.
type shrinker struct {
	ops   []Op
	why   string
	fails func([]Op) (why string, fails bool)
	over  func() bool
	tries int
}

// mostTries bounds the work: a play takes a fraction of a second.
const mostTries = 150

func (s *shrinker) run() {
	for size := len(s.ops) / 2; size >= 1; {
		if s.without(size) {
			size = min(size, max(1, len(s.ops)/2))
			continue
		}
		size /= 2
	}
	for i := range s.ops {
		for _, simpler := range simplify {
			o := s.ops[i]
			if simpler(&o); o != s.ops[i] {
				c := slices.Clone(s.ops)
				c[i] = o
				s.keep(c)
			}
		}
	}
	for s.without(1) {
	}
}

// without tries to remove runs of a length, starting at the end; it returns whether it could remove any.
func (s *shrinker) without(size int) (some bool) {
	for at := len(s.ops) - size; at > -size && len(s.ops) > 1; at -= size {
		from := max(at, 0)
		c := slices.Delete(slices.Clone(s.ops), from, min(at+size, len(s.ops)))
		if len(c) > 0 && s.keep(c) {
			some = true
		}
	}
	return some
}

// keep adopts a sequence if it fails, too.
func (s *shrinker) keep(c []Op) bool {
	if s.tries >= mostTries || s.over() {
		return false
	}
	s.tries++
	why, fails := s.fails(c)
	if fails = fails && subject(why) == subject(s.why); fails {
		s.ops, s.why = c, why
	}
	return fails
}

// subject is what failed, without details: another failure must not replace it.
func subject(why string) string {
	what, _, _ := strings.Cut(why, ":")
	what, _, _ = strings.Cut(what, " ")
	return what
}

// simplify makes an operation simpler, one field at a time.
var simplify = []func(o *Op){
	func(o *Op) { o.Who = 0 },
	func(o *Op) { o.Door = 0 },
	func(o *Op) { o.Doors = 0 },
	func(o *Op) { o.Flag = false },
	func(o *Op) {
		if o.Do == "permit" || o.Do == "command" || o.Do == "membership" || o.Do == "reservation" {
			o.Nth = 0
		}
	},
	func(o *Op) {
		if o.Do == "permit" {
			o.Name = ""
		}
	},
	func(o *Op) {
		if o.Do == "permit" || o.Do == "membership" || o.Do == "reservation" {
			o.From, o.To = -hour, hour
		}
	},
}
