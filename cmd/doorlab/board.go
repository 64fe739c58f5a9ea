package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
)

// boardRow is a board as the control API shows it.
type boardRow struct{ control.Board }

func (b boardRow) cells(names nameOf) []string {
	return []string{b.BoardID, names.of(b.PlaceID), b.Phase, outage(b.OutageAgeSec),
		fmt.Sprintf("%d/%d", b.AppliedRevision, b.DesiredRevision), strconv.Itoa(b.BufferedRecords)}
}

// outage is how long a board has been offline, to the second; "-" while it is online.
func outage(sec float64) string {
	switch {
	case sec == 0:
		return "-"
	case sec < 0: // it lost its clock
		return "over 36h"
	}
	return (time.Duration(sec * float64(time.Second))).Round(time.Second).String()
}

const boardHeading = "BOARD PLACE PHASE OUTAGE REVISION BUFFERED"

// journalRow is one line of a relay's journal.
type journalRow struct {
	Seq       int64  `json:"seq"`
	At        string `json:"at"`
	DoorID    string `json:"doorId"`
	Action    string `json:"action"`
	Cause     string `json:"cause"`
	CommandID string `json:"commandId"`
	GrantID   string `json:"grantId"`
}

// by is what made the relay move: a command, a grant, or a command in a grant's name.
func (j journalRow) by() string { return cmp.Or(strings.TrimSpace(j.CommandID+" "+j.GrantID), "-") }

func boardCommand(e *env) *cobra.Command {
	return group("board", "Look at boards, detach and attach them, rotate their passwords", `  doorlab board list
  doorlab board journal brd_...                # what its relays did: the ground truth
  doorlab board detach brd_...                 # prints the credentials for a real board
  doorlab board tell brd_... --channel cfg --raw '{}' # in the server's place: what does the board make of it?`,
		boardList(e), boardShow(e), boardJournal(e), boardTail(e),
		labCommand(e, "detach BOARD", "Take the simulated board away and print the credentials for a real one", "  doorlab board detach brd_...", "one board id",
			func(l labCall, args []string) error {
				var out struct{ MQTT, ClientID, Username, Password string }
				return l.do(http.MethodPost, "/boards/"+url.PathEscape(args[0])+"/detach", nil, &out, func() {
					fmt.Fprintf(l.out, "broker     %s\nclient id  %s\nuser name  %s\npassword   %s\n", out.MQTT, out.ClientID, out.Username, out.Password)
				})
			}),
		labCommand(e, "attach BOARD", "Bring the simulated board back; switch the real one off first", "  doorlab board attach brd_...", "one board id",
			func(l labCall, args []string) error {
				return l.do(http.MethodPost, "/boards/"+url.PathEscape(args[0])+"/attach", nil, nil, func() { fmt.Fprintln(l.out, args[0], "attached") })
			}),
		boardRotate(e), boardTell(e),
	)
}

func boardTell(e *env) *cobra.Command {
	var channel, payload, raw string
	var alone bool
	return labCommand(e, "tell BOARD", "Send a message to a simulated board as if it came from the server; attach brings it back, empty", `  doorlab board tell brd_...                   # the epoch and session time that a message needs
  doorlab board tell brd_... --channel cmd \
    --payload '{"id":"cmd_1","epoch":4294967301,"channel":1,"command":"open","notAfterMs":900000}'`, "one board id",
		func(l labCall, args []string) error {
			if l.c.Flags().Changed("payload") && !json.Valid([]byte(payload)) {
				return usagef("--payload must be JSON; --raw sends anything")
			}
			body := l.given(map[string]any{"channel": channel, "raw": raw, "payload": json.RawMessage(payload), "alone": alone})
			var out toldRow
			return l.do(http.MethodPost, "/boards/"+url.PathEscape(args[0])+"/tell", body, &out, func() { out.show(l.out) })
		}, func(c *cobra.Command) {
			c.Flags().StringVar(&channel, "channel", "", "channel of the message: cmd, sync, cfg or ack (default: no message is sent)")
			c.Flags().StringVar(&payload, "payload", "", "the message as JSON (default {})")
			c.Flags().StringVar(&raw, "raw", "", "the message as it is, instead of --payload")
			c.Flags().BoolVar(&alone, "alone", false, "from now on the board gets only this command's messages, so its hello waits until you answer it on ack; --alone=false gives it back to its server")
		})
}

// toldRow is where a board stands after it was told something.
type toldRow struct {
	Epoch, SessionMs, Revision int64
	Boot                       int
	Digest, Dropped            string
	Meanwhile, Said            []saidRow
	Journal                    []journalRow
}

// saidRow is a message that a board sent.
type saidRow struct {
	Channel string
	Payload json.RawMessage
}

func (t toldRow) show(out io.Writer) {
	fmt.Fprintf(out, "epoch %d  session %d ms  boot %d  revision %d  digest %s\n", t.Epoch, t.SessionMs, t.Boot, t.Revision, t.Digest)
	if t.Dropped != "" {
		fmt.Fprintln(out, "dropped:", t.Dropped)
	}
	for _, s := range t.Meanwhile {
		fmt.Fprintf(out, "meanwhile: %s %s\n", s.Channel, s.Payload)
	}
	for _, j := range t.Journal {
		fmt.Fprintf(out, "relay: %s %s, %s %s\n", cmp.Or(j.DoorID, "no door"), j.Action, j.Cause, j.by())
	}
	for _, s := range t.Said {
		fmt.Fprintf(out, "said: %s %s\n", s.Channel, s.Payload)
	}
}

func boardRotate(e *env) *cobra.Command {
	return besideCommand(e, "rotate BOARD", "Give a board a new password (shown only once) and close its old connection within 5 s",
		"  doorlab board rotate brd_... --data /var/lib/doorlab", "one board id",
		func(l labCall, args []string) error {
			var out struct{ BoardID, Password string }
			return l.do(http.MethodPost, "/boards/"+url.PathEscape(args[0])+"/rotate", nil, &out, func() { fmt.Fprintf(l.out, "%s %s\n", out.BoardID, out.Password) })
		})
}

func boardList(e *env) *cobra.Command {
	var part pageFlags
	return labCommand(e, "list", "List boards with phase, outage age and revisions", "  doorlab board list --place plc_...", "no arguments",
		func(l labCall, _ []string) error {
			var list []boardRow
			return l.page("/boards", part.query(l), "board", &list, func() int {
				names := l.names()
				rows := each.Of(list, func(b boardRow) []string { return b.cells(names) })
				l.list(boardHeading, rows, "No simulated boards here.")
				return len(rows)
			})
		}, part.flags("only the boards of this place, by id or name", "skip this many boards"))
}

func boardShow(e *env) *cobra.Command {
	return labCommand(e, "show BOARD", "Show a board and its doors", "  doorlab board show brd_...", "one board id; 'doorlab board list' shows them",
		func(l labCall, args []string) error {
			var b boardRow
			return l.do(http.MethodGet, "/boards/"+url.PathEscape(args[0]), nil, &b, func() {
				l.table(boardHeading, [][]string{b.cells(l.names())})
				fmt.Fprintln(l.out)
				l.table("DOOR CHANNEL STATE LEAF", each.Of(b.Doors, func(d control.Door) []string {
					s := cmp.Or(d.Standing, &control.Standing{})
					return []string{d.DoorID, strconv.Itoa(d.Channel), s.State, s.Leaf}
				}))
				fmt.Fprint(l.out, b.dropped())
				if rows := b.troubles(); len(rows) > 0 {
					fmt.Fprintln(l.out)
					l.table("AT CHANNEL REASON FIELD TIMES", rows)
				}
			})
		})
}

// dropped says which of a board's messages the server dropped; "" if none.
func (b *boardRow) dropped() string {
	told := each.Of(slices.Sorted(maps.Keys(b.Dropped)), func(why string) string { return fmt.Sprintf("%s %d", why, b.Dropped[why]) })
	if len(told) == 0 {
		return ""
	}
	return fmt.Sprintf("\nMessages that the server dropped: %s.\n", strings.Join(told, ", "))
}

// troubles are the rows about what was wrong lately with the board's messages and connections.
func (b *boardRow) troubles() [][]string {
	return each.Of(b.Troubles, func(t control.Trouble) []string {
		return []string{t.At.UTC().Format(time.RFC3339), cmp.Or(t.Channel, "-"), t.Reason, cmp.Or(t.Field, "-"), strconv.FormatInt(t.Count, 10)}
	})
}

func boardJournal(e *env) *cobra.Command {
	return labCommand(e, "journal BOARD", "Show what a board's relays did, oldest first", "  doorlab board journal brd_...", "one board id",
		func(l labCall, args []string) error {
			var list []journalRow
			return l.do(http.MethodGet, "/boards/"+url.PathEscape(args[0])+"/journal", nil, &list, func() {
				l.list("SEQ AT DOOR ACTION CAUSE BY", each.Of(list, func(j journalRow) []string {
					return []string{strconv.FormatInt(j.Seq, 10), j.At, j.DoorID, j.Action, j.Cause, j.by()}
				}), "The journal is empty: the relays of this board have done nothing yet.")
			})
		})
}
