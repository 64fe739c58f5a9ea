package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/loadtest"
)

// What the shell completes: names that the binary knows, and places and boards of the
// server that --control names.

// askTimeout is how long a press of the tab key waits for a server.
const askTimeout = time.Second

// words completes from a list that the binary knows.
func words(list func() []string) cobra.CompletionFunc {
	return completing(list, cobra.ShellCompDirectiveNoFileComp)
}

func fixed(list ...string) cobra.CompletionFunc { return words(func() []string { return list }) }

func beginning(list []string, typed string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(w string) bool { return !strings.HasPrefix(w, typed) })
}

// orFiles completes names and leaves the rest to the shell's files.
func orFiles(list func() []string) cobra.CompletionFunc {
	return completing(list, cobra.ShellCompDirectiveDefault)
}

func completing(list func() []string, then cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return beginning(list(), typed), then
	}
}

// once completes the first argument only.
func once(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(c, args, typed)
	}
}

// asked completes from the control API; nothing when no server answers at once.
func asked(e *env, names func(context.Context, client.Client) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		const none = cobra.ShellCompDirectiveNoFileComp
		value := func(flag string) string {
			if f := c.Flags().Lookup(flag); f != nil {
				return f.Value.String()
			}
			return ""
		}
		if readSettings(c, e) != nil {
			return nil, none
		}
		token, err := secretOf(value("control-token"), value("control-token-file"))
		if err != nil {
			return nil, none
		}
		hc, err := (&trust{ca: value("ca")}).http()
		if err != nil {
			return nil, none
		}
		ctx, cancel := context.WithTimeout(c.Context(), askTimeout)
		defer cancel()
		return beginning(names(ctx, client.Client{Base: baseURL(value("control")), Token: token, HTTP: hc}), typed), none
	}
}

// placeNames are names with ids to choose from; the shell shows the ids as explanations.
func placeNames(ctx context.Context, c client.Client) (out []string) {
	list, err := c.Places(ctx)
	if err != nil {
		return nil
	}
	for _, p := range list {
		out = append(out, p.Name+"\t"+p.PlaceID+", "+p.Kind, p.PlaceID+"\t"+p.Name)
	}
	return out
}

func boardNames(ctx context.Context, c client.Client) []string {
	return listed(ctx, c, "/boards?limit=500", func(b boardRow) string { return b.BoardID + "\t" + b.Phase })
}

func faultsInForce(ctx context.Context, c client.Client) []string {
	return listed(ctx, c, "/faults", func(f faultRow) string { return f.FaultID + "\t" + f.Fault })
}

// listed are the lines of a list of the control API, none if it can't be asked.
func listed[T any](ctx context.Context, c client.Client, path string, line func(T) string) []string {
	var list []T
	if c.Do(ctx, "GET", control.Prefix+path, nil, &list) != nil {
		return nil
	}
	return each.Of(list, line)
}

// completions tells every command what its flags and arguments can be. Flags of one
// name take the same values everywhere.
func completions(root *cobra.Command, e *env) {
	flags := map[string]cobra.CompletionFunc{
		"clause": words(judge.Clauses), "require-clause": words(func() []string { return append(judge.Clauses(), "all") }),
		"clock": fixed("real", "virtual"), "link": fixed("memory", "tcp"), "client": fixed("paho", "light"), "scope": fixed("space:partner", "device:door"),
		"command": fixed("open", "hold", "close"), "place": asked(e, placeNames), "board": asked(e, boardNames), "from": words(loadtest.Embedded),
	}
	board := once(asked(e, boardNames))
	scenarioNames := func() []string { names, _ := builtIn(); return names } // embedded: cannot fail
	args := map[string]cobra.CompletionFunc{
		"check": orFiles(scenarioNames), "check list": orFiles(scenarioNames), "load": orFiles(loadtest.Embedded),
		"load new":  cobra.NoFileCompletions,
		"fault add": once(words(faults.Names)), "fault remove": once(asked(e, faultsInForce)),
		"board show": board, "board journal": board, "board tail": board, "board detach": board, "board attach": board, "board rotate": board,
		"place show": once(asked(e, placeNames)), "place set": once(asked(e, placeNames)),
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if complete := flags[f.Name]; complete != nil && !(f.Name == "link" && c.Name() == "why") { // there it is an entry link
				_ = c.RegisterFlagCompletionFunc(f.Name, complete) // fails only for a flag that isn't there
			}
		})
		if complete := args[strings.TrimPrefix(c.CommandPath(), "doorlab ")]; complete != nil {
			c.ValidArgsFunction = complete
		}
		for _, s := range c.Commands() {
			walk(s)
		}
	}
	walk(root)
}
