package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// shardFlag is --shard i/n, and what Kubernetes sets in its place in the pods of a job.
type shardFlag struct {
	text string
	flag *pflag.Flag
}

func (f *shardFlag) add(c *cobra.Command, usage string) {
	c.Flags().StringVar(&f.text, "shard", "", usage)
	f.flag = c.Flags().Lookup("shard")
}

// shard is the part that was asked for; the whole, with Of 0, when none was.
func (f *shardFlag) shard(getenv func(string) string) (s shard.Shard, err error) {
	if f.text == "" && f.flag != nil && f.flag.Changed { // such as "$I/$N" with both unset
		return s, usagef("--shard: must not be empty; leave it out for everything")
	}
	if f.text == "" {
		if s, err = shard.FromEnv(getenv); err != nil {
			return s, usagef("%s", err)
		}
		return s, nil
	}
	if s, err = shard.Parse(f.text); err != nil {
		return s, usagef("--shard %s", err)
	}
	return s, nil
}

// of is the part of a world that was asked for. One without a place is a usage error.
func (f *shardFlag) of(w *world.World, getenv func(string) string) (*world.World, error) {
	s, err := f.shard(getenv)
	if err != nil || s.Whole() {
		return w, err
	}
	part := w.Shard(s)
	if len(part.Places) == 0 {
		return nil, usagef("shard %s is empty: the world has %s, and a shard needs at least one", s, amount.Many(len(w.Places), "place"))
	}
	return part, nil
}
