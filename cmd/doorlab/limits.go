package main

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/doctor"
	"github.com/doorlab/doorlab/internal/world"
)

type number interface {
	~int | ~int64 | ~float64
}

// atLeast checks a flag with a number, or a time, that has no upper limit.
func atLeast[N number](flag string, v, least N) error {
	if !(v >= least) { // NaN, too
		return usagef("--%s %v: must be %v or more", flag, v, least)
	}
	return nil
}

// between checks a flag with a number. NaN is not between anything.
func between[N number](flag string, v, least, most N) error {
	if !(v >= least && v <= most) {
		return usagef("--%s %v: must be %v to %v", flag, v, least, most)
	}
	return nil
}

// filled checks a list flag, if it was given: an empty one, such as "$X" with X unset, would select everything.
func filled(flags *pflag.FlagSet, flag string, list []string) error {
	if flags != nil && flags.Changed(flag) && (len(list) == 0 || slices.Contains(list, "")) {
		return usagef("--%s: must not be empty", flag)
	}
	return nil
}

// positive checks a flag with a time that can't be 0.
func positive(flag string, d time.Duration) error {
	if d <= 0 {
		return usagef("--%s %s: must be more than 0s", flag, d)
	}
	return nil
}

// boardsFlag checks --boards. How many boards really fit depends on how they reach the broker (overTCP), and on the
// machine's memory.
func boardsFlag(n, least int) error { return between("boards", n, least, world.MaxBoards) }

// pageFlags are those of a list that is read page by page.
type pageFlags struct {
	place         string
	limit, offset int
}

// flags defines them; of the arguments, place and offset are usage lines.
func (f *pageFlags) flags(place, offset string) func(*cobra.Command) {
	return func(c *cobra.Command) {
		c.Flags().StringVar(&f.place, "place", "", place)
		c.Flags().IntVar(&f.limit, "limit", 100, "at most this many (1 to 500)")
		c.Flags().IntVar(&f.offset, "offset", 0, offset)
	}
}

// query is the page as the control API takes it.
func (f *pageFlags) query(l labCall) url.Values {
	if *l.failed = page(f.limit, f.offset); *l.failed != nil {
		return nil
	}
	return query(map[string]string{"placeId": l.place(f.place), "limit": strconv.Itoa(f.limit), "offset": strconv.Itoa(f.offset)})
}

// query are the values that aren't empty.
func query(values map[string]string) url.Values {
	q := url.Values{}
	for name, v := range values {
		if v != "" {
			q.Set(name, v)
		}
	}
	return q
}

// page checks the flags of a list: how many rows of it, and how many to skip.
func page(limit, offset int) error {
	if err := between("limit", limit, 1, 500); err != nil {
		return err
	}
	return atLeast("offset", offset, 0)
}

// overTCP checks that the process may have as many sockets as its boards need.
func overTCP(boards, descriptors int, server bool) error {
	most := doctor.OverTCP(descriptors, server)
	if boards <= most {
		return nil
	}
	what := "the boards of this process"
	if server {
		what = "the boards of this process and their server"
	}
	return usagef("%d boards over TCP: %s may have %d descriptors, which is enough for %d boards; raise ulimit -n, divide the boards with --shard, or use a memory link",
		boards, what, descriptors, most)
}
