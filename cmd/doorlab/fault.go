package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/faults"
)

// faultRow is a fault in force as the control API lists it.
type faultRow struct{ faults.Armed }

// on says which boards it is in force on: all of a few, of many the first and how many more.
func (f faultRow) on() string {
	const few = 3
	if len(f.Boards) == 0 {
		return "-"
	}
	if len(f.Boards) <= few {
		return strings.Join(f.Boards, ",")
	}
	return fmt.Sprintf("%s and %s more", f.Boards[0], amount.Number(int64(len(f.Boards)-1)))
}

// with is what it was armed with, as the flags of 'fault add' say it.
func (f faultRow) with() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f.Params)) {
		b, _ := json.Marshal(f.Params[name]) // it came as JSON
		out = append(out, name+"="+strings.Trim(string(b), `"`))
	}
	for _, list := range [][]string{f.Commands, f.DoorIDs} {
		if len(list) > 0 {
			out = append(out, strings.Join(list, ","))
		}
	}
	if f.Nth > 0 {
		out = append(out, "nth="+strconv.Itoa(f.Nth))
	}
	return cmp.Or(strings.Join(out, " "), "-")
}

// ends is when it ends by itself.
func (f faultRow) ends() string {
	if f.Until == nil {
		return "-"
	}
	return f.Until.UTC().Format(time.RFC3339)
}

func faultCommand(e *env) *cobra.Command {
	return group("fault", "Arm, list and remove faults", `  doorlab fault names                          # what can go wrong, with its parameters
  doorlab fault add offline --board brd_...
  doorlab fault add refuse --share 0.1 --param code=jammed
  doorlab fault reset`,
		faultNames(e), faultAdd(e), faultList(e),
		labCommand(e, "remove FAULT_ID", "Remove a fault", "  doorlab fault remove flt_...", "one fault id; 'doorlab fault list' shows them",
			func(l labCall, args []string) error {
				return l.do(http.MethodDelete, "/faults/"+url.PathEscape(args[0]), nil, nil, func() { fmt.Fprintln(l.out, args[0], "removed") })
			}),
		labCommand(e, "reset", "Remove every fault", "  doorlab fault reset", "no arguments",
			func(l labCall, _ []string) error {
				var out struct{ Removed int }
				return l.do(http.MethodPost, "/faults/reset", nil, &out, func() { fmt.Fprintf(l.out, "%d removed\n", out.Removed) })
			}),
	)
}

// faultNames needs no server: the list is part of the binary.
func faultNames(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "names", Short: "List what can go wrong, with parameters", Args: noArgs, Example: "  doorlab fault names",
		RunE: func(*cobra.Command, []string) error {
			rows := [][]string{{"FAULT", "PARAMETERS", "WHAT HAPPENS"}}
			for _, name := range faults.Names() {
				f, _ := faults.Lookup(name)
				params := each.Of(f.Params, func(p faults.Param) string { return p.Name })
				rows = append(rows, []string{f.Name, cmp.Or(strings.Join(params, " "), "-"), strings.ReplaceAll(f.Does, "`", "")})
			}
			for _, line := range aligned(rows) {
				fmt.Fprintln(e.out, line)
			}
			return nil
		},
	}
}

func faultAdd(e *env) *cobra.Command {
	var boards, doors, commands, params []string
	var place, lasts string
	var share shareFlag
	var nth int
	c := labCommand(e, "add FAULT", "Arm a fault on boards", `  doorlab fault add offline --board brd_... --for 10m
  doorlab fault add slow --place plc_... --param p50Ms=2000 --param p99Ms=4000
  doorlab fault add silent-after --share 0.05 --command open --nth 3`, "one fault; 'doorlab fault names' lists them",
		func(l labCall, args []string) error {
			if !slices.Contains(faults.Names(), args[0]) {
				return usagef("fault add: unknown fault %q%s ('doorlab fault names' lists them)", args[0], faults.Hint(args[0]))
			}
			given := l.c.Flags().Changed
			if given("nth") && nth < 1 {
				return usagef("--nth %d: must be 1 or more", nth)
			}
			body := map[string]any{"fault": args[0]}
			set := func(name string, given bool, v any) {
				if given {
					body[name] = v
				}
			}
			if err := cmp.Or(filled(l.c.Flags(), "board", boards), filled(l.c.Flags(), "door", doors), filled(l.c.Flags(), "command", commands)); err != nil {
				return err
			}
			targets := 0
			for _, given := range []bool{len(boards) > 0, place != "", given("share")} {
				if given {
					targets++
				}
			}
			if targets != 1 {
				return usagef("fault add: say where the fault acts: give one of --board, --place and --share")
			}
			set("boards", len(boards) > 0, boards)
			set("placeId", place != "", l.place(place))
			set("share", given("share"), float64(share))
			set("doorIds", len(doors) > 0, doors)
			set("commands", len(commands) > 0, commands)
			set("nth", given("nth"), nth)
			set("for", lasts != "", lasts)
			values, err := faultParams(params)
			if err != nil {
				return err
			}
			set("params", len(values) > 0, values)
			var out struct{ FaultID string }
			return l.do(http.MethodPost, "/faults", body, &out, func() { l.armed(out.FaultID) })
		})
	c.Flags().StringSliceVar(&boards, "board", nil, "board ids")
	c.Flags().StringVar(&place, "place", "", "every board of this place, by id or name")
	c.Flags().Var(&share, "share", "this `share` of all boards, chosen by the seed, such as 0.1 or 10%")
	c.Flags().StringSliceVar(&doors, "door", nil, "only these doors")
	c.Flags().StringSliceVar(&commands, "command", nil, "only these commands: open, hold, close")
	c.Flags().IntVar(&nth, "nth", 0, "only the n-th matching command")
	c.Flags().StringVar(&lasts, "for", "", "how long it lasts, in the lab's time (default: until removed)")
	c.Flags().StringArrayVar(&params, "param", nil, "a parameter, name=value (repeatable)")
	return c
}

// armed prints a fault's id, and for people, not for scripts that take the id from the output, on how many boards it is.
func (l labCall) armed(id string) {
	fmt.Fprintln(l.out, id)
	var f faultRow
	if l.Do(l.c.Context(), http.MethodGet, control.Prefix+"/faults/"+url.PathEscape(id), nil, &f) != nil {
		return // it is armed
	}
	done := ""
	if kind, _ := faults.Lookup(f.Fault); kind.Acts == faults.AtOnce {
		done = ", done"
	}
	fmt.Fprintf(l.err, "%s on %s%s\n", f.Fault, amount.Many(f.Count, "board"), done)
}

// shareFlag is a part of a whole, 0.1 or 10%.
type shareFlag float64

func (s *shareFlag) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*s), 'f', -1, 64)
}

func (s *shareFlag) Set(text string) error {
	v, err := amount.ParseShare(text)
	if err == nil && !(v > 0 && v <= 1) {
		err = errors.New("must be more than 0 and at most 1 (half the boards: 50% or 0.5)")
	}
	*s = shareFlag(v)
	return err
}

func (*shareFlag) Type() string { return "share" }

// faultParams reads parameters of the form name=value.
func faultParams(params []string) (map[string]any, error) {
	values := map[string]any{}
	for _, p := range params {
		name, v, ok := strings.Cut(p, "=")
		if !ok {
			return nil, usagef("--param %q must be name=value", p)
		}
		if _, twice := values[name]; twice {
			return nil, usagef("--param %s is given twice", name)
		}
		values[name] = v
		if n, err := strconv.ParseFloat(v, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			values[name] = n
		}
	}
	return values, nil
}

func faultList(e *env) *cobra.Command {
	return labCommand(e, "list", "List the faults in force", "  doorlab fault list", "no arguments",
		func(l labCall, _ []string) error {
			var list []faultRow
			return l.do(http.MethodGet, "/faults", nil, &list, func() {
				l.list("ID FAULT BOARDS WITH SINCE UNTIL HITS", each.Of(list, func(f faultRow) []string {
					return []string{f.FaultID, f.Fault, f.on(), f.with(), f.Since.UTC().Format(time.RFC3339), f.ends(), strconv.FormatInt(f.Hits, 10)}
				}), "No faults are armed.")
			})
		})
}
