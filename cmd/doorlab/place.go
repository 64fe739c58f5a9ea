package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
)

// pickPlace is the id of a place that goes by its id or its name.
func pickPlace(list []client.Place, named string) (string, error) {
	var ids, known []string
	for _, p := range list {
		if p.PlaceID == named {
			return named, nil
		}
		if strings.EqualFold(p.Name, named) {
			ids = append(ids, p.PlaceID)
		}
		known = append(known, p.PlaceID, p.Name)
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", usagef("no place %q%s ('doorlab place list' shows them)", named, near.Hint(named, known))
	}
	return "", usagef("several places are called %q; give an id: %s", named, strings.Join(ids, ", "))
}

// nameOf has the names of places by their ids.
type nameOf map[string]string

func namesOf(list []client.Place) nameOf {
	names := make(nameOf, len(list))
	for _, p := range list {
		names[p.PlaceID] = p.Name
	}
	return names
}

// of is a place's id and its name, or the id alone if the name isn't known.
func (n nameOf) of(id string) string { return strings.TrimSpace(id + " " + n[id]) }

// names are the places' names. A fleet in a process of its own doesn't know them: the ids have to do there.
func (l labCall) names() nameOf {
	list, _ := l.Places(l.c.Context())
	return namesOf(list)
}

// place is the id of a place that goes by its id or its name; "" stays "". An id isn't
// looked up: a fleet in a process of its own doesn't know the places. An error is l's.
func (l labCall) place(named string) (id string) {
	if named == "" || strings.HasPrefix(named, "plc_") || *l.failed != nil {
		return named
	}
	list, err := l.Places(l.c.Context())
	if *l.failed = callError(err); err == nil {
		id, *l.failed = pickPlace(list, named)
	}
	return id
}

// door is the id of a place's door by its id or name.
func (l labCall) door(placeID, named string) string {
	if named == "" || strings.HasPrefix(named, "dor_") || *l.failed != nil {
		return named
	}
	var p placeRow
	if err := l.Do(l.c.Context(), http.MethodGet, control.Prefix+"/places/"+url.PathEscape(placeID), nil, &p); err != nil {
		*l.failed = fieldError(l.c, err)
		return ""
	}
	var ids, known []string
	for _, d := range p.Doors {
		if strings.EqualFold(d.Name, named) {
			ids = append(ids, d.DoorID)
		}
		known = append(known, d.DoorID, d.Name)
	}
	switch len(ids) {
	case 1:
		return ids[0]
	case 0:
		*l.failed = usagef("no door %q at %s%s ('doorlab place show %s' lists its doors)", named, p.Name, near.Hint(named, known), p.PlaceID)
	default:
		*l.failed = usagef("several doors are called %q; give an id: %s", named, strings.Join(ids, ", "))
	}
	return ""
}

// placeOrTest is the id of a place by its id or name, or of the only test place if none is named.
func (l labCall) placeOrTest(named string) string {
	if named != "" {
		return l.place(named)
	}
	list, err := l.Places(l.c.Context())
	list = slices.DeleteFunc(list, func(p client.Place) bool { return p.Kind != "test" })
	switch {
	case err != nil:
		*l.failed = callError(err)
	case len(list) != 1:
		*l.failed = usagef("there are %d test places; give --place ('doorlab place list' shows them)", len(list))
	default:
		return list[0].PlaceID
	}
	return ""
}

// placeRow is a place as GET /places/{placeId} shows it.
type placeRow struct {
	PlaceID, Name, Timezone string
	EntryPhone              string
	PhoneEnabled            bool
	Closures                []struct{ From, To, Name string }
	Holidays                []struct {
		Date, Name string
		Intervals  [][]string
	}
	Doors []struct {
		DoorID, Name        string
		Entry               bool
		EntryPermitMaxHours int
	}
}

func placeCommand(e *env) *cobra.Command {
	return group("place", "Show places and change what an operator sets", `  doorlab place list
  doorlab place set Gangnam --phone-entry=false
  doorlab place set Gangnam --closure 2026-12-24..2026-12-25=Refit
  doorlab place door dor_... --max-hours 48`,
		labCommand(e, "list", "List places with kind, entry phone and key", "  doorlab place list", "no arguments",
			func(l labCall, _ []string) error {
				var list []client.Place
				return l.do(http.MethodGet, "/places", nil, &list, func() {
					l.table("PLACE NAME KIND PHONE KEY", each.Of(list, func(p client.Place) []string {
						return []string{p.PlaceID, p.Name, p.Kind, cmp.Or(p.EntryPhone, "-"), orElse(p.APIKey, "revoked")}
					}))
				})
			}),
		labCommand(e, "show PLACE", "Show a place's settings and doors", "  doorlab place show Gangnam", "one place, by id or name",
			func(l labCall, args []string) error {
				var p placeRow
				return l.do(http.MethodGet, "/places/"+url.PathEscape(l.place(args[0])), nil, &p, func() { p.print(l) })
			}),
		placeSet(e), placeDoor(e),
	)
}

func (p placeRow) print(l labCall) {
	fmt.Fprintf(l.out, "%s  %s\nentry phone  %s, phone entry %s\ntimezone     %s\n", p.PlaceID, p.Name,
		cmp.Or(p.EntryPhone, "none"), map[bool]string{true: "on", false: "off"}[p.PhoneEnabled], p.Timezone)
	for _, c := range p.Closures {
		fmt.Fprintf(l.out, "closed       %s to %s  %s\n", c.From, c.To, c.Name)
	}
	for _, h := range p.Holidays {
		hours := "closed"
		if len(h.Intervals) > 0 {
			hours = fmt.Sprint(h.Intervals)
		}
		fmt.Fprintf(l.out, "holiday      %s  %s  %s\n", h.Date, hours, h.Name)
	}
	if len(p.Doors) == 0 {
		return
	}
	fmt.Fprintln(l.out)
	var rows [][]string
	for _, d := range p.Doors {
		rows = append(rows, []string{d.DoorID, d.Name, map[bool]string{true: "yes", false: "no"}[d.Entry], strconv.Itoa(d.EntryPermitMaxHours) + " h"})
	}
	l.table("DOOR NAME ENTRY LONGEST-PERMIT", rows)
}

func placeSet(e *env) *cobra.Command {
	var phone, zone string
	var entry bool
	var closures, holidays []string
	c := labCommand(e, "set PLACE", "Change a place's phone, timezone, closures or holidays", `  doorlab place set Gangnam --entry-phone 05012345678 --timezone Asia/Seoul
  doorlab place set Gangnam --closure 2026-12-24..2026-12-25=Refit --holiday '2026-10-09=Hangul Day'
  doorlab place set Gangnam --closure '' --entry-phone ''`, "one place, by id or name",
		func(l labCall, args []string) error {
			closed := l.dated("closure", closures, func(when string) (map[string]string, bool) {
				from, to, ok := strings.Cut(when, "..")
				return map[string]string{"from": from, "to": to}, ok
			})
			days := l.dated("holiday", holidays, func(when string) (map[string]string, bool) {
				return map[string]string{"date": when}, true
			})
			body := l.given(map[string]any{"entryPhone": phone, "phoneEnabled": entry, "timezone": zone, "closures": closed, "holidays": days})
			if body["entryPhone"] == "" {
				body["entryPhone"] = nil
			}
			if len(body) == 0 {
				return usagef("place set: nothing to change; give at least one of --entry-phone, --phone-entry, --timezone, --closure, --holiday")
			}
			var p placeRow
			return l.do(http.MethodPatch, "/places/"+url.PathEscape(l.place(args[0])), body, &p, func() { p.print(l) })
		})
	c.Flags().StringVar(&phone, "entry-phone", "", "the number that people call, empty for none (default: unchanged)")
	c.Flags().BoolVar(&entry, "phone-entry", false, "whether calls are answered (default: unchanged)")
	c.Flags().StringVar(&zone, "timezone", "", "an IANA name (default: unchanged)")
	c.Flags().StringArrayVar(&closures, "closure", nil, "days on which the place is closed, FROM..TO=NAME; replaces the current ones (repeatable; empty for none)")
	c.Flags().StringArrayVar(&holidays, "holiday", nil, "a day on which the place is closed, DATE=NAME; replaces the current ones (repeatable; empty for none)")
	return c
}

// dated reads WHEN=NAME values; an empty one alone means an empty list. An error is l's.
func (l labCall) dated(flag string, values []string, read func(when string) (map[string]string, bool)) []map[string]string {
	out := []map[string]string{}
	for _, v := range values {
		if v == "" {
			continue
		}
		when, name, _ := strings.Cut(v, "=")
		m, ok := read(when)
		if !ok {
			*l.failed = cmp.Or(*l.failed, usagef("--%s %q must be FROM..TO=NAME", flag, v))
			continue
		}
		if name != "" {
			m["name"] = name
		}
		out = append(out, m)
	}
	return out
}

func placeDoor(e *env) *cobra.Command {
	var entry bool
	var hours int
	c := labCommand(e, "door DOOR", "Change a door: whether people can enter through it, the maximum length of a permit", "  doorlab place door dor_... --entry=false --max-hours 48", "one door id",
		func(l labCall, args []string) error {
			body := l.given(map[string]any{"entry": entry, "entryPermitMaxHours": hours})
			if len(body) == 0 {
				return usagef("place door: nothing to change; give --entry or --max-hours")
			}
			if err := between("max-hours", hours, 1, 720); err != nil && body["entryPermitMaxHours"] != nil {
				return err
			}
			return l.do(http.MethodPatch, "/doors/"+url.PathEscape(args[0]), body, nil, func() { fmt.Fprintln(l.out, args[0], "changed") })
		})
	c.Flags().BoolVar(&entry, "entry", false, "whether people can enter through this door (default: unchanged)")
	c.Flags().IntVar(&hours, "max-hours", 0, "maximum length of a permit in hours, 1 to 720 (default: unchanged)")
	return c
}

func auditCommand(e *env) *cobra.Command {
	var part pageFlags
	return labCommand(e, "audit", "List who read or changed what, newest first", "  doorlab audit --place Gangnam --limit 20", "no arguments",
		func(l labCall, _ []string) error {
			var list []struct {
				At, PlaceID, KeyID, Action, Detail string
				Count                              int
			}
			return l.page("/audit", part.query(l), "line", &list, func() int {
				names := l.names()
				rows := make([][]string, 0, len(list))
				for _, a := range list {
					rows = append(rows, []string{a.At, names.of(a.PlaceID), cmp.Or(a.KeyID, "-"), a.Action, strconv.Itoa(a.Count), a.Detail})
				}
				l.list("AT PLACE KEY ACTION ROWS DETAIL", rows, "No entries.")
				return len(rows)
			})
		}, part.flags("only this place, by id or name", "skip this many of the newest"))
}
