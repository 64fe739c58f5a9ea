package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/why"
)

func whyCommand(e *env) *cobra.Command {
	var place, phone, link, door, at string
	var exposure bool
	var line int
	c := labCommand(e, "why", "Explain why a person got in at a door, or didn't", `  doorlab why --place Gangnam --phone 01011112222 --door 'Front door'
  doorlab why --place plc_... --link 'http://127.0.0.1:8080/entry?t=...' --door dor_... --at 2026-10-05T09:00:00+09:00
  doorlab why --place plc_... --door dor_... --line 1     # whoever is behind line 1 of the journal of the door's board
  doorlab why --place plc_... --exposure        # who entered on site with a revoked right`, "no arguments",
		func(l labCall, _ []string) error {
			if place == "" {
				return usagef("why: --place is missing; 'doorlab place list' shows the places")
			}
			seq := ""
			if line != 0 {
				seq = strconv.Itoa(line)
			}
			if given := each.If([]string{phone, link, seq}, func(s string) bool { return s != "" }); !exposure && (door == "" || len(given) != 1) {
				return usagef("why: give --door and one of --phone, --link and --line, or --exposure ('doorlab place show PLACE' lists the doors)")
			}
			if exposure && phone+link+seq+door+at != "" {
				return usagef("why: --exposure is about a whole place; leave out --phone, --link, --line, --door and --at")
			}
			if seq != "" && at != "" {
				return usagef("why: leave out --at: --line says which moment is meant")
			}
			placeID := l.place(place)
			q := query(map[string]string{"placeId": placeID, "doorId": l.door(placeID, door), "phone": phone, "link": link, "journalSeq": seq, "at": at})
			if exposure {
				var list []why.Exposed
				return l.do(http.MethodGet, "/exposure?"+q.Encode(), nil, &list, func() { printExposure(l, list) })
			}
			var x why.Explanation
			return l.do(http.MethodGet, "/why?"+q.Encode(), nil, &x, func() { printWhy(l, x) })
		})
	c.Flags().StringVar(&place, "place", "", "the place, by id or name")
	c.Flags().StringVar(&phone, "phone", "", "the person's phone number")
	c.Flags().StringVar(&link, "link", "", "an entry link, or the token in it")
	c.Flags().IntVar(&line, "line", 0, "whoever came to the door's reader and led to this line of its board's journal ('doorlab board journal' shows the numbers), at that moment (default: none)")
	c.Flags().StringVar(&door, "door", "", "the door, by id or name")
	c.Flags().StringVar(&at, "at", "", "the time in question, RFC 3339; for a future time, the answer assumes that nothing changes (default: now)")
	c.Flags().BoolVar(&exposure, "exposure", false, "list who entered on site although the server would have denied it")
	return c
}

// unknownPerson is how the control API shows somebody whose phone it doesn't know.
var _, unknownPerson = access.MaskPhone("")

func printWhy(l labCall, x why.Explanation) {
	person := x.Person
	if person == unknownPerson {
		person = "Somebody unknown"
	}
	fmt.Fprintf(l.out, "%s at %s (%s), %s\n\n%s\n", person, x.DoorName, x.DoorID, x.At, x.Says)
	if x.PhoneEntry != "on" && x.By == "phone" {
		fmt.Fprintf(l.out, "Phone entry is %s at this place: calls aren't answered.\n", x.PhoneEntry)
	}
	for _, s := range x.Sides() {
		if !s.Known {
			continue
		}
		window := "none in force, so people need a grant"
		if s.Window != nil {
			window = fmt.Sprintf("%s %s is %s", s.Window.Ref, s.Window.PolicyID, s.Window.Mode)
		}
		fmt.Fprintf(l.out, "\n%s, revision %d: %s\nwindow: %s\n", s.Side, s.Revision, verdict(s), window)
		if len(s.Grants) > 0 {
			l.table("GRANT KIND STATE FROM TO", each.Of(s.Grants, func(g why.Grant) []string {
				return []string{g.GrantID, g.Kind, string(g.State), g.StartsAt, orElse(g.EndsAt, "-")}
			}))
		}
	}
	if len(x.Attempts) > 0 {
		fmt.Fprintln(l.out, "\nIn the ten minutes before:")
		l.table("AT SIDE METHOD RESULT REASON", each.Of(x.Attempts, func(a why.Tried) []string {
			return []string{a.At, a.Side, string(a.Method), string(a.Result), string(a.Reason)}
		}))
	}
	if len(x.Exposure) > 0 {
		fmt.Fprintln(l.out)
		printExposure(l, x.Exposure)
	}
}

func verdict(s why.Side) string {
	if s.Allow {
		return "opens (" + string(s.Reason) + ")"
	}
	return "denied (" + string(s.Reason) + ")"
}

func printExposure(l labCall, list []why.Exposed) {
	if len(list) == 0 {
		fmt.Fprintln(l.out, "Nobody entered on site against what the server would have decided.")
		return
	}
	fmt.Fprintln(l.out, "Entered on site although the server would have denied it:")
	l.table("AT PERSON DOOR GRANT SERVER AFTER BOARD", each.Of(list, func(x why.Exposed) []string {
		after, line := "-", "online"
		if x.ExposedSec != nil {
			after = strconv.FormatFloat(*x.ExposedSec, 'f', -1, 64) + "s"
		}
		if x.Offline {
			line = "offline"
		}
		return []string{x.At, cmp.Or(x.Actor, "-"), x.DoorID, orElse(x.GrantID, "-"), string(x.Reason), after, line}
	}))
}
