package engine

import (
	"fmt"
	"strconv"
)

// How often something is done, and how many there must be.

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
		panic(wrongNumber{fmt.Errorf("%s: %w", n.raw, err)})
	}
	return int(v)
}

// least is count for how often something is done, at least once.
func (x *frame) least(n *Num) int {
	v := x.count(n, 1)
	if v < 1 {
		panic(wrongNumber{fmt.Errorf("%s: must be at least 1", n.raw)})
	}
	return v
}

// wrongNumber is how count aborts a verb.
type wrongNumber struct{ error }

// guarded runs a verb and returns an invalid number as its error.
func guarded(run func() (fields, error)) (out fields, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case wrongNumber:
			err = p.error
		default:
			panic(p)
		}
	}()
	return run()
}
