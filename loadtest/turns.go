package loadtest

import (
	"cmp"
	"fmt"
	"slices"
)

// turns says which requests of a schedule are a shard's: shards take turns, as often as they
// have doors, and each evenly over time. Every process derives the same from the same world.
type turns struct {
	index  int     // of the shard, from 0
	own    []int64 // its turns in a round, rising
	before int64   // requests of the shards before it
	round  int64   // turns in a round
	all    int64   // requests of the whole schedule
}

// turnsOf returns a shard's turns, counted from 0, where each shard has a weight.
func turnsOf(index int, weights []int64, all int64) *turns {
	t := &turns{index: index, all: all}
	common := int64(0)
	for _, w := range weights {
		common = gcd(w, common)
	}
	type turn struct{ shard, n, weight int64 }
	var round []turn
	for i, w := range weights {
		w /= max(common, 1)
		for n := range w {
			round = append(round, turn{int64(i), n, w})
		}
		if i < index {
			t.before += w
		}
	}
	slices.SortFunc(round, func(a, b turn) int { // turn n of w is due at (n + 1/2) / w of the round
		return cmp.Or(cmp.Compare((2*a.n+1)*b.weight, (2*b.n+1)*a.weight), cmp.Compare(a.shard, b.shard))
	})
	t.round = int64(len(round))
	t.before *= all / t.round
	for k, x := range round {
		switch {
		case x.shard == int64(index):
			t.own = append(t.own, int64(k))
		case x.shard < int64(index) && int64(k) < all%t.round:
			t.before++
		}
	}
	return t
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// of is the number in the whole schedule of the shard's n-th request.
func (t *turns) of(n int64) int64 {
	w := int64(len(t.own))
	return n/w*t.round + t.own[n%w]
}

// total is how many requests are the shard's.
func (t *turns) total() int64 {
	rest, _ := slices.BinarySearch(t.own, t.all%t.round)
	return t.all/t.round*int64(len(t.own)) + int64(rest)
}

// share is which part of the whole that is.
func (t *turns) share() float64 {
	if t == nil {
		return 1
	}
	return float64(len(t.own)) / float64(t.round)
}

// number is the shard's, from 0; 0 of the whole.
func (t *turns) number() int {
	if t == nil {
		return 0
	}
	return t.index
}

// part is the schedule of a shard; of nil, the whole. Error: ErrShard, where a shard has no
// request.
func (s *schedule) part(of *Shard) (*schedule, error) {
	if of == nil || of.Of <= 1 {
		return s, nil
	}
	out := *s
	out.turns = turnsOf(of.Index-1, of.weights, s.total)
	if out.total = out.turns.total(); out.total == 0 {
		return nil, fmt.Errorf("%w: none of the plan's %d requests is for the places of shard %s", ErrShard, s.total, of)
	}
	return &out, nil
}

// repeats is the share of a schedule's requests that repeat a key: as many in all shards
// together as in the whole.
func (s *schedule) repeats(share Share) float64 {
	t := s.turns
	if t == nil || s.total == 0 {
		return float64(share)
	}
	all := int64(float64(t.all)*float64(share) + tiny)
	mine := all*(t.before+s.total)/t.all - all*t.before/t.all
	return float64(mine) / float64(s.total)
}
