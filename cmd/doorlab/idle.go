package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// idlers are flags that change nothing beside another one, by command; "" stands for every command that has both.
var idlers = []struct {
	command, beside, unless string
	flags                   []string
}{
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
	for _, it := range idlers {
		if it.command != "" && it.command != c.Name() || !typed(it.beside) || typed(it.unless) {
			continue
		}
		var found []string
		for _, name := range it.flags {
			if typed(name) {
				found = append(found, "--"+name)
			}
		}
		if len(found) > 0 {
			fmt.Fprintf(e.err, "note: no effect beside --%s: %s\n", it.beside, strings.Join(found, ", "))
		}
	}
}
