// Package shard divides work among processes that know nothing of each other: shard i of n takes every n-th element of
// a list that all of them derive in the same way.
package shard

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is shard Index of Of, counted from 1. The zero value is the whole.
type Shard struct{ Index, Of int }

// Parse parses i/n. An empty text is the whole.
func Parse(s string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	a, b, _ := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || i < 1 || n < i {
		return Shard{}, fmt.Errorf("%q: must be i/n with i from 1 to n, e.g. 1/4", s)
	}
	return Shard{Index: i, Of: n}, nil
}

// FromEnv is the shard that Kubernetes assigns to a pod, as DOORLAB_SHARD_INDEX, counted from 0, and DOORLAB_SHARDS;
// the whole if neither is set.
func FromEnv(getenv func(string) string) (Shard, error) {
	index, shards := getenv("DOORLAB_SHARD_INDEX"), getenv("DOORLAB_SHARDS")
	if index == "" && shards == "" {
		return Shard{}, nil
	}
	n, err := strconv.Atoi(shards)
	if err != nil || n < 1 {
		return Shard{}, fmt.Errorf("DOORLAB_SHARDS %q: must be a number from 1, together with DOORLAB_SHARD_INDEX", shards)
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("DOORLAB_SHARD_INDEX %q: must be a number from 0 to %d, one less than DOORLAB_SHARDS", index, n-1)
	}
	return Shard{Index: i + 1, Of: n}, nil
}

// Whole reports whether nothing is divided: no shard, or the only one.
func (s Shard) Whole() bool { return s.Of <= 1 }

// Takes reports whether the k-th element, counted from 0, belongs to this shard.
func (s Shard) Takes(k int) bool { return s.Whole() || k%s.Of == s.Index-1 }

// mostNamed bounds how many shards Missing names: a file may claim to be one of any number.
const mostNamed = 8

// Missing lists the shards of a division into of that aren't among those seen, as "2/4, 3/4"; "" for none.
func Missing(of int, seen map[int]string) string {
	lacks := of
	for i := range seen {
		if i >= 1 && i <= of {
			lacks--
		}
	}
	var out []string
	for i := 1; i <= of && len(out) < mostNamed; i++ {
		if _, is := seen[i]; !is {
			out = append(out, fmt.Sprintf("%d/%d", i, of))
		}
	}
	list := strings.Join(out, ", ")
	if more := lacks - len(out); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// String is i/n; "1/1" for the whole.
func (s Shard) String() string {
	if s.Whole() {
		return "1/1"
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}
