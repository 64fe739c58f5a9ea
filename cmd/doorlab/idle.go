package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/near"
)

// misspelled names the variables that set no flag of any command and are one slip away from one that does.
func misspelled(root *cobra.Command, e *env) {
	if e.environ == nil {
		return
	}
	var known []string
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		for _, flag := range flagNames(c) {
			known = append(known, variable(flag))
		}
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	add(root)
	for _, set := range e.environ() {
		name, v, _ := strings.Cut(set, "=")
		if v == "" || !strings.HasPrefix(name, "DOORLAB_") || slices.Contains(known, name) {
			continue
		}
		if best := near.Slip(name, known); best != "" {
			fmt.Fprintf(e.err, "note: %s sets nothing, did you mean %s?\n", name, best)
		}
	}
}

// idlers are flags that change nothing beside another one, or without one, by command; "" stands for every command that
// has both.
var idlers = []struct {
	command, beside, unless, without string
	flags                            []string
}{
	{without: "target", flags: []string{"key", "control-token", "control-token-file", "ca", "allow-host"}},
	{without: "sip", flags: []string{"sip-peers"}},
	{without: "control", flags: []string{"crash-points", "control-token", "control-token-file"}},
	{beside: "world", flags: []string{"boards"}},
	{command: "check", beside: "target", flags: []string{"boards", "world", "link", "client", "data", "parallel"}},
	{command: "load", beside: "target", unless: "broker", flags: []string{"link", "client", "data"}},
}

// idle names the flags of this command line that change nothing, so that nobody takes them for effective. They are no
// error: scripts pass the same flags to several commands. Variables and the --config file are meant for many commands.
func idle(c *cobra.Command, e *env) {
	typed := func(name string) bool {
		f := c.Flags().Lookup(name)
		return f != nil && f.Changed && e.from[name] == "" && f.Value.String() != ""
	}
	empty := func(name string) bool {
		f := c.Flags().Lookup(name)
		return f != nil && f.Value.String() == ""
	}
	for _, it := range idlers {
		if it.command != "" && it.command != c.Name() || it.without == "" && !typed(it.beside) || typed(it.unless) || it.without != "" && !empty(it.without) {
			continue
		}
		var found []string
		for _, name := range it.flags {
			if typed(name) {
				found = append(found, "--"+name)
			}
		}
		if len(found) > 0 {
			how, other := "with", it.beside
			if it.without != "" {
				how, other = "without", it.without
			}
			verb := "has"
			if len(found) > 1 {
				verb = "have"
			}
			fmt.Fprintf(e.err, "note: %s %s no effect %s --%s\n", strings.Join(found, ", "), verb, how, other)
		}
	}
}
