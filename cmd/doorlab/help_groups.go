package main

import (
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a part of a command's flags in its help.
type flagGroup struct{ title, flags string }

// groupsOf says how the help of commands with many flags divides them. What isn't named here comes last, under "Other flags".
var groupsOf = map[string][]flagGroup{
	"up":     serverGroups,
	"serve":  serverGroups,
	"boards": {{"The fleet", "boards world seed secret-file slice shard client clock data timeout"}, {"The server", "broker mqtt server mqtt-ca mqtt-client-cert mqtt-client-key"}, controlGroup, outputGroup},
	"check": {
		{"What to run", "smoke clause label only failed shard var repeat shuffle seed fail-fast timeout watch"},
		{"The verdict", "require-clause baseline"},
		{"The testbed", "boards world client link parallel data"},
		targetGroup, outputGroup,
	},
	"load": {
		{"What to send", "rate duration seed shard start-at"},
		{"The verdict", "baseline"},
		{"The testbed", "boards world client link data"},
		targetGroup,
		{"Boards in this process, for a target without its own", "broker mqtt-ca mqtt-client-cert mqtt-client-key secret-file"},
		outputGroup,
	},
}

var (
	serverGroups = []flagGroup{
		{"The lab", "boards world seed secret-file shard clock link client data init retention crash-points"},
		{"Where it listens", "http mqtt link-url metrics debug-addr sip"},
		controlGroup,
		{"TLS and trust", "tls-cert tls-key mqtt-tls-cert mqtt-tls-key mqtt-client-ca trusted-proxies sip-peers"},
		outputGroup,
	}
	controlGroup = flagGroup{"The control API", "control control-token control-token-file"}
	targetGroup  = flagGroup{"A running server instead of a testbed", "target control control-token control-token-file key ca allow-host"}
	outputGroup  = flagGroup{"Output", "out json plain quiet verbose metrics otlp"}
)

// groupUsages lets help templates call usages. Cobra has one set of such functions for all commands, and tests run many at once.
var groupUsages = sync.OnceFunc(func() { cobra.AddTemplateFunc("flagUsages", usages) })

// usages are a command's flags for its help, in groups if there are many.
func usages(c *cobra.Command) string {
	all := c.LocalFlags()
	groups := groupsOf[c.Name()]
	if groups == nil || c.Parent() != c.Root() {
		return "Flags:\n" + strings.TrimRight(all.FlagUsages(), " \n")
	}
	var out []string
	told := map[string]bool{}
	add := func(title string, names []string) {
		set := pflag.NewFlagSet(title, pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range names {
			if f := all.Lookup(name); f != nil && !told[name] {
				set.AddFlag(f)
				told[name] = true
			}
		}
		if set.HasAvailableFlags() {
			out = append(out, title+":\n"+strings.TrimRight(set.FlagUsages(), " \n"))
		}
	}
	for _, g := range groups {
		add(g.title, strings.Fields(g.flags))
	}
	var rest []string
	all.VisitAll(func(f *pflag.Flag) { rest = append(rest, f.Name) })
	slices.Sort(rest)
	add("Other flags", rest)
	return strings.Join(out, "\n\n")
}

// ownerOf is a command that has a flag of that name, if it was given to doorlab itself: the one that people most likely mean. nil
// without any.
func ownerOf(c *cobra.Command, name string) *cobra.Command {
	if c.HasParent() {
		return nil
	}
	common := []string{"load", "check", "up"}
	best := -1
	var owner *cobra.Command
	for _, sub := range c.Commands() {
		if rank := slices.Index(common, sub.Name()); sub.Flags().Lookup(name) != nil && (owner == nil || rank > best) {
			owner, best = sub, rank
		}
	}
	return owner
}
