package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
)

// diskView is how a server's disk behaves, as the control API shows it.
type diskView struct {
	State         string
	DelayMs, Hits int
}

func diskCommand(e *env) *cobra.Command {
	ask := func(l labCall, method string, body any) error {
		var v diskView
		return l.do(method, "/disk", body, &v, func() { fmt.Fprintln(l.out, v) })
	}
	state := func(name, short string) *cobra.Command {
		return labCommand(e, name, short, "  doorlab disk "+name, "no arguments",
			func(l labCall, _ []string) error { return ask(l, http.MethodPost, map[string]any{"state": name}) })
	}
	return group("disk", "Let the server's disk be full, stalled or slow, and repair it", `  doorlab disk stalled                        # writes wait, so commands get 503
  doorlab disk slow 300ms
  doorlab disk ok`,
		labCommand(e, "show", "Show how the server's disk behaves", "  doorlab disk show", "no arguments",
			func(l labCall, _ []string) error { return ask(l, http.MethodGet, nil) }),
		state("full", "Let every write fail"),
		state("stalled", "Let every write wait until the disk is ok again"),
		labCommand(e, "slow DELAY", "Let every write take longer", "  doorlab disk slow 300ms", "a duration such as 300ms, at most 1m",
			func(l labCall, args []string) error {
				d, err := amount.ParseDuration(args[0])
				if err != nil || d < time.Millisecond || d > time.Minute {
					return usagef("disk slow %s: must be a duration between 1ms and 1m", args[0])
				}
				return ask(l, http.MethodPost, map[string]any{"state": "slow", "delayMs": d.Milliseconds()})
			}),
		labCommand(e, "ok", "Repair the disk; what was waiting is written", "  doorlab disk ok", "no arguments",
			func(l labCall, _ []string) error { return ask(l, http.MethodDelete, nil) }),
	)
}

// String says it in one line.
func (v diskView) String() string {
	how := v.State
	if v.DelayMs > 0 {
		how += ", " + amount.Duration(float64(v.DelayMs)/1000) + " longer for each write"
	}
	if v.Hits > 0 {
		how += "; " + amount.Many(v.Hits, "write") + " failed or waited"
	}
	return how
}
