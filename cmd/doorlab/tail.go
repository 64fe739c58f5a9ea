package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/spf13/cobra"
)

// tailEvery is how often board tail asks.
const tailEvery = 300 * time.Millisecond

func boardTail(e *env) *cobra.Command {
	var all bool
	c := labCommand(e, "tail BOARD", "Print what a board's relays do as it happens, until interrupted", `  doorlab board tail brd_...
  doorlab board tail brd_... --all --json | jq .action`, "one board id",
		func(l labCall, args []string) error {
			path := "/boards/" + url.PathEscape(args[0]) + "/journal"
			at := journalEnd{path: path}
			for show := all; ; show = true {
				list, err := at.more(l)
				if err != nil {
					return err
				}
				for _, j := range list {
					if show {
						j.print(l)
					}
				}
				if !waited(l.c.Context(), tailEvery) {
					return exit{codeInterrupted, ""}
				}
			}
		})
	c.Flags().BoolVar(&all, "all", false, "start with what is already in the journal")
	return c
}

// journalEnd is how far a journal has been read: a long one isn't read again at every look.
type journalEnd struct {
	path  string
	lines int   // it had
	last  int64 // number of the last of them
}

// more reads the lines that are new. The last known line must still be where it was; if it isn't, because lines that a full
// disk didn't take are gone, the journal is read from its beginning.
func (at *journalEnd) more(l labCall) (list []journalRow, err error) {
	l.json = false // the lines are printed one by one
	from := max(0, at.lines-1)
	err = l.do(http.MethodGet, at.path+"?offset="+strconv.Itoa(from), nil, &list, nil)
	if err == nil && from > 0 && (len(list) == 0 || list[0].Seq != at.last) {
		from, list = 0, nil
		err = l.do(http.MethodGet, at.path, nil, &list, nil)
	}
	if err != nil {
		return nil, err
	}
	at.lines = from + len(list)
	list = slices.DeleteFunc(list, func(j journalRow) bool { return j.Seq <= at.last })
	if len(list) > 0 {
		at.last = list[len(list)-1].Seq
	}
	return list, nil
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
	return client.Pause(ctx, d) == nil
}
