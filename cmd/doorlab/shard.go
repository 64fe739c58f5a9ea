package main

import (
	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/shard"
)

// shardFlag is --shard i/n, and what Kubernetes sets in its place in the pods of a job.
type shardFlag struct{ text string }

func (f *shardFlag) add(c *cobra.Command, usage string) {
	c.Flags().StringVar(&f.text, "shard", "", usage)
}

// shard is the part that was asked for; the whole, with Of 0, when none was.
func (f *shardFlag) shard(getenv func(string) string) (s shard.Shard, err error) {
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
