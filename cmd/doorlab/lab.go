package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/near"
)

// The commands below do by hand what scenarios do with the control API: arm faults,
// look at boards, move the clock, play people.

// labFlags name the control API that a command speaks to.
type labFlags struct {
	keysFlags
	json bool
}

// labCall is a command's work: it speaks to the control API and prints.
type labCall struct {
	*env
	client.Client
	json   bool
	c      *cobra.Command
	failed *error // of place and query; do and page return it instead of calling
}

// do calls the control API and decodes the data into out (nil = ignored). With --json the data is printed; else show prints
// it (nil = nothing is).
func (l labCall) do(method, path string, body, out any, show func()) error {
	var raw json.RawMessage
	if *l.failed != nil {
		return *l.failed
	}
	if err := l.Do(l.c.Context(), method, control.Prefix+path, body, &raw); err != nil {
		return fieldError(l.c, err)
	}
	if out != nil {
		if err := json.Unmarshal(raw, out); err != nil {
			return fieldError(l.c, fmt.Errorf("%w: %w", client.ErrUnfit, err))
		}
	}
	switch {
	case l.json:
		fmt.Fprintln(l.out, string(raw))
	case show != nil:
		show()
	}
	return nil
}

// page is do for a part of a list that has limit and offset. show returns how many rows it had; if that isn't the whole list,
// stderr says which part it is and how to see the next. thing is one of the listed, such as board.
func (l labCall) page(path string, q url.Values, thing string, out any, show func() (rows int)) error {
	var raw json.RawMessage
	if *l.failed != nil {
		return *l.failed
	}
	total, err := l.List(l.c.Context(), control.Prefix+path+"?"+q.Encode(), &raw)
	if err != nil {
		return fieldError(l.c, err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fieldError(l.c, fmt.Errorf("%w: %w", client.ErrUnfit, err))
	}
	rows := 0
	if l.json {
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // it was one a moment ago
		rows = len(list)
		fmt.Fprintln(l.out, string(raw))
	} else {
		rows = show()
	}
	offset, _ := strconv.Atoi(q.Get("offset")) // from a flag that is a number
	last := offset + rows
	part := fmt.Sprintf("%ss %s to %s of %s", thing, amount.Number(offset+1), amount.Number(last), amount.Number(total))
	if rows == 1 {
		part = fmt.Sprintf("%s %s of %s", thing, amount.Number(last), amount.Number(total))
	}
	switch {
	case rows == total:
	case rows == 0:
		fmt.Fprintf(l.err, "there are only %s; --offset %d skips all of them\n", amount.Many(total, thing), offset)
	case last < total:
		fmt.Fprintf(l.err, "%s; --offset %d shows the next\n", part, last)
	default:
		fmt.Fprintln(l.err, part)
	}
	return nil
}

// table prints rows under a heading, columns aligned.
func (e *env) table(heading string, rows [][]string) {
	for _, line := range aligned(append([][]string{strings.Split(heading, " ")}, rows...)) {
		fmt.Fprintln(e.out, line)
	}
}

// list is table, or a sentence when there is nothing to list.
func (e *env) list(heading string, rows [][]string, nothing string) {
	if len(rows) == 0 {
		fmt.Fprintln(e.out, nothing)
		return
	}
	e.table(heading, rows)
}

// orElse is a text that may be missing, or what stands for it.
func orElse(s *string, missing string) string {
	if s == nil {
		return missing
	}
	return *s
}

// aGroup marks commands that only have commands, and show their help when they are run alone.
var aGroup = map[string]string{"group": "yes"}

// group is a command that only has commands of its own.
func group(use, short, example string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Annotations: aGroup,
		Args: subcommand(use),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(subs...)
	return c
}

// subcommand refuses the arguments of a group: each would be a command, and none is.
func subcommand(use string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("%s: unknown command %q%s ('doorlab %s --help' lists them)", use, args[0], near.Hints(args[0], commandNames(c)), use)
		}
		return nil
	}
}

// takes checks how many arguments are given. what says what they are, for the error when their number is wrong.
func takes(what string, number cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if number(c, args) != nil {
			return usagef("%s takes %s", commandPath(c), what)
		}
		if slices.Contains(args, "") && commandPath(c) != "person call" { // a caller may have no number
			return usagef("%s: an argument is empty; it takes %s", commandPath(c), what)
		}
		return nil
	}
}

// backwards explains why clock advance takes no -1h, which looks like a flag.
func backwards(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		unknown, ok := errors.AsType[*pflag.NotExistError](err)
		if _, bad := time.ParseDuration("-" + unknown.GetSpecifiedShortnames()); ok && bad == nil {
			return onlyForward("-" + unknown.GetSpecifiedShortnames())
		}
		return flagError(c, err)
	})
}

func onlyForward(by string) error {
	return usagef("clock advance %s: a clock only moves forward; give a duration such as 36h, or a later time", by)
}

// labCommand is one command over the control API; what is as for takes.
func labCommand(e *env, use, short, example, what string, run func(l labCall, args []string) error, more ...func(*cobra.Command)) *cobra.Command {
	return controlCommand(e, &labFlags{}, use, short, example, what, run, more...)
}

// besideCommand is a labCommand that also works on a data directory (--data).
func besideCommand(e *env, use, short, example, what string, run func(l labCall, args []string) error, more ...func(*cobra.Command)) *cobra.Command {
	f := &labFlags{}
	return controlCommand(e, f, use, short, example, what, run, append(more, f.addData)...)
}

func controlCommand(e *env, f *labFlags, use, short, example, what string, run func(l labCall, args []string) error, more ...func(*cobra.Command)) *cobra.Command {
	args := takes(what, cobra.ExactArgs(len(strings.Fields(use))-1))
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: args,
		RunE: func(c *cobra.Command, args []string) error {
			cl, stop, err := f.open()
			if err != nil {
				return err
			}
			return cmp.Or(run(labCall{e, cl, f.json, c, new(error)}, args), callError(stop()))
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.json, "json", false, "print the answer's data as JSON")
	for _, m := range more {
		m(c)
	}
	return c
}

func clockCommand(e *env) *cobra.Command {
	const shows = "no arguments"
	type view struct{ Now, Mode, State string }
	show := func(l labCall, method, path string, body any) error {
		var v view
		return l.do(method, path, body, &v, func() {
			fmt.Fprintf(l.out, "%s  %s clock, %s\n", v.Now, v.Mode, cmp.Or(map[string]string{"ready": "running"}[v.State], v.State))
		})
	}
	move := func(path string) func(l labCall, _ []string) error {
		return func(l labCall, _ []string) error { return show(l, http.MethodPost, path, nil) }
	}
	return group("clock", "Show, freeze, run or advance the lab's clock", `  doorlab clock show
  doorlab clock advance 36h                   # everything that falls due meanwhile happens, in order
  doorlab clock freeze`,
		labCommand(e, "show", "Show the lab's time", "  doorlab clock show", shows,
			func(l labCall, _ []string) error { return show(l, http.MethodGet, "/clock", nil) }),
		labCommand(e, "advance BY", "Advance the clock by a duration, or to an RFC 3339 time", `  doorlab clock advance 5m
  doorlab clock advance 2027-01-01T00:00:00Z`, "a duration such as 36h, or a time",
			func(l labCall, args []string) error {
				d, err := amount.ParseDuration(args[0])
				body := map[string]any{"by": args[0]}
				switch {
				case err == nil && d < 0:
					return onlyForward(args[0])
				case strings.Contains(args[0], "T"):
					body = map[string]any{"to": args[0]}
				case err != nil && !amount.TooLong(args[0]):
					return usagef("clock advance %s: must be a duration such as 36h or 2d, or a time such as 2027-01-01T00:00:00Z", args[0])
				}
				return show(l, http.MethodPost, "/clock/advance", body)
			}, backwards),
		labCommand(e, "freeze", "Stop the clock", "  doorlab clock freeze", shows, move("/clock/freeze")),
		labCommand(e, "run", "Let the clock run again", "  doorlab clock run", shows, move("/clock/run")),
	)
}

func personCommand(e *env) *cobra.Command {
	type outcome struct {
		Answered               *bool
		Result, Reason, DoorID string
	}
	show := func(l labCall, path string, body any) error {
		var o outcome
		return l.do(http.MethodPost, path, body, &o, func() {
			if o.Answered != nil && !*o.Answered {
				fmt.Fprintln(l.out, "not answered: the number belongs to no place, phone entry is off, or this caller has called too often")
				return
			}
			fmt.Fprintln(l.out, strings.TrimSpace(strings.Join([]string{o.Result, o.Reason, o.DoorID}, "  ")))
		})
	}
	return group("person", "Act as a person: call a place, present a phone or link, move a door leaf", `  doorlab person call 05012345678 01011112222   # the place's number, the caller's
  doorlab person present dor_... 01011112222
  doorlab person leaf dor_... open`,
		labCommand(e, "call TO FROM", "Call a place's entry number", "  doorlab person call 05012345678 01011112222", "the number called and the caller's",
			func(l labCall, args []string) error {
				if !strings.ContainsAny(args[0], "0123456789") {
					return usagef("person call %s: the number that is called comes first; 'doorlab place list' shows the places' numbers", args[0])
				}
				return show(l, "/people/call", map[string]any{"to": args[0], "from": args[1]})
			}),
		labCommand(e, "present DOOR PHONE_OR_TOKEN", "Present a phone, or a link's token, at a door's reader", "  doorlab person present dor_... 01011112222", "a door and a phone or an entry token",
			func(l labCall, args []string) error {
				if strings.HasPrefix(args[1], "dor_") {
					return usagef("person present: the door comes first: doorlab person present %s PHONE", args[1])
				}
				body := map[string]any{"doorId": args[0]}
				if phone, token := client.Person(args[1]); phone != "" {
					body["phone"] = phone
				} else {
					body["token"] = token
				}
				return show(l, "/people/present", body)
			}),
		labCommand(e, "leaf DOOR ACTION", "Move a door's leaf: open, close or force", "  doorlab person leaf dor_... force", "a door and open, close or force",
			func(l labCall, args []string) error {
				return l.do(http.MethodPost, "/people/leaf", map[string]any{"doorId": args[0], "action": args[1]}, nil, func() { fmt.Fprintln(l.out, args[0], args[1]) })
			}),
	)
}
