package engine

import (
	"fmt"
	"strconv"

	"github.com/doorlab/doorlab/internal/amount"
)

// What a verb reads of its step: how often something is done and how many there must be, and what ends the verb.

// count is a whole number, or the default. A value that isn't one ends the verb (see guarded): if the default replaced
// it, a threshold would vanish.
func (x *frame) count(n *Num, def int) int {
	if n == nil || !n.set() {
		return def
	}
	v, err := n.num(x.scope)
	if err == nil && (v != float64(int(v)) || v < 0) {
		err = fmt.Errorf("%s is not a whole number", strconv.FormatFloat(v, 'g', -1, 64))
	}
	if err != nil {
		panic(stop{fmt.Errorf("%s: %w", n.raw, err)})
	}
	return int(v)
}

// How much a step may ask for: each answer and each person is kept, and what is sent at once also needs a connection of its own.
const (
	mostTimes    = 1_000_000
	mostTogether = 10_000 // as many commands as a server has in flight
	mostPeople   = 1_000_000
)

// least is count for how often something is done, at least once.
func (x *frame) least(n *Num) int {
	v := x.count(n, 1)
	if v < 1 {
		panic(stop{fmt.Errorf("%s: must be at least 1", n.raw)})
	}
	return v
}

// upTo is least for what has an upper bound, too.
func (x *frame) upTo(most int, n *Num) int {
	v := x.least(n)
	if v > most {
		panic(stop{fmt.Errorf("%s: must be at most %s", n.raw, amount.Number(int64(most)))})
	}
	return v
}

// need is a value without which a verb can't go on: its error ends the verb (see guarded).
func need[T any](v T, err error) T {
	if err != nil {
		panic(stop{err})
	}
	return v
}

// sure ends the verb with an error, if there is one.
func sure(err error) { need(0, err) }

// lab is the run's control API; without one, the verb ends.
func (x *frame) lab() *lab {
	if x.run.lab == nil {
		panic(stop{errNoControl})
	}
	return x.run.lab
}

// stop is how count, need, sure and lab end a verb.
type stop struct{ error }

// guarded runs a verb and returns what ended it as its error. It covers the verb's own goroutine and those of atOnce.
func guarded[T any](run func() (T, error)) (out T, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stop:
			out, err = *new(T), p.error
		default:
			panic(p)
		}
	}()
	return run()
}
