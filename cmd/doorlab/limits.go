package main

import "github.com/doorlab/doorlab/internal/doctor"

// boardsFlag checks --boards. How many boards there can be at most depends on how they
// reach the broker: in memory only the machine's memory bounds them.
func boardsFlag(n, least int) error {
	if n < least {
		return usagef("--boards %d: must be %d or more", n, least)
	}
	return nil
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
