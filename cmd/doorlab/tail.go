package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/clock"
)

// tailEvery is how often board tail asks.
const tailEvery = 300 * time.Millisecond

func boardTail(e *env) *cobra.Command {
	var all bool
	c := labCommand(e, "tail BOARD", "Print what a board's relays do as it happens, until interrupted", `  doorlab board tail brd_...
  doorlab board tail brd_... --all --json | jq .action`, "one board id",
		func(l labCall, args []string) error {
			path := "/boards/" + url.PathEscape(args[0]) + "/journal"
			list, err := l.journal(path)
			if err != nil {
				return err
			}
			var last int64
			if !all && len(list) > 0 {
				last = list[len(list)-1].Seq
			}
			for {
				for _, j := range list {
					if j.Seq > last {
						last = j.Seq
						j.print(l)
					}
				}
				if !waited(l.c.Context(), tailEvery) {
					return exit{codeInterrupted, ""}
				}
				if list, err = l.journal(path); err != nil {
					return err
				}
			}
		})
	c.Flags().BoolVar(&all, "all", false, "start with what is already in the journal")
	return c
}

func (l labCall) journal(path string) (list []journalRow, err error) {
	quiet := l
	quiet.json = false // the lines are printed one by one
	err = quiet.do(http.MethodGet, path, nil, &list, nil)
	return list, err
}

func (j journalRow) print(l labCall) {
	if l.json {
		_ = json.NewEncoder(l.out).Encode(j)
		return
	}
	fmt.Fprintf(l.out, "%s  %s  %s  %s  %s\n", j.At, j.DoorID, j.Action, j.Cause, j.by())
}

// waited waits; false when the context ended meanwhile.
func waited(ctx context.Context, d time.Duration) bool {
	done := make(chan struct{})
	t := clock.WallAfter(d, func() { close(done) })
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
