package explore

import (
	"slices"
	"strings"
)

// shrinker leaves out of a failing sequence whatever it fails without, then
// simplifies what is left.
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

// without tries to leave out runs of a length, from the end on; true: some could be.
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

// keep takes a sequence over if it fails too.
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

// subject is what failed, without how: another failure must not take its place.
func subject(why string) string {
	what, _, _ := strings.Cut(why, ":")
	what, _, _ = strings.Cut(what, " ")
	return what
}

// simplify makes an operation plainer, one field at a time.
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
		if o.Do == "permit" && o.Name != "" {
			o.Name = ""
		}
	},
	func(o *Op) {
		if o.Do == "permit" || o.Do == "membership" || o.Do == "reservation" {
			o.From, o.To = -hour, hour
		}
	},
}
