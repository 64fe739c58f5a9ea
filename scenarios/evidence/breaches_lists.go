package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// exactly are clauses that promise how many of something there are, with what they promise: that there is none, at most one, or
// exactly as many as were found.
var exactly = map[string]howMany{
	"AUTH-4": none, "CMD-2": none, "CMD-3": none,
	"CMD-4": atMostOne,
	"CMD-1": asFound, "CMD-5": asFound, "CMD-6": asFound, "CMD-7": asFound, "PERM-2": asFound, "IMP-1": asFound, "ENT-4": asFound, "OFF-4": asFound,
}

type howMany int

const (
	none howMany = iota + 1
	atMostOne
	asFound
)

// elementsOf are results that are lists, with what one of their elements is.
var elementsOf = map[string]string{"lines": "line", "records": "record", "events": "event", "data": "element"}

// counted are results with more or fewer elements than a clause promises, if the step says how many there are.
func counted(clause string, out map[string]any, said Said) (all []Breach) {
	promised, name := exactly[clause], ""
	for _, n := range sortedKeys(elementsOf) {
		if _, list := out[n].([]any); list {
			name = n
		}
	}
	if promised == none {
		return said.moved(out, name)
	}
	if promised == 0 || name == "" || !said.counts(name, out) {
		return nil
	}
	list := out[name].([]any)
	n := len(list)
	sizes := []int{max(n, 1) + 1}
	if promised == asFound && n > 0 {
		sizes = []int{0, sizes[0], n - 1}
	}
	for _, size := range sizes {
		all = append(all, Breach{"there had been " + amount.Many(size, elementsOf[name]), resized(out, name, size)})
	}
	return all
}

// moved is a journal with a line more, of a door that moved although none should have.
func (s Said) moved(out map[string]any, name string) []Breach {
	if name != "lines" || !s.counts(name, out) && !s.names(name) {
		return nil
	}
	list := out[name].([]any)
	changed := resized(out, name, len(list)+1)
	line := map[string]any{"action": "pulse", "cause": "command"}
	if len(list) > 0 {
		was, _ := list[0].(map[string]any)
		line = maps.Clone(was)
		line["action"], line["cause"] = "pulse", "command"
	}
	for _, v := range s.beside(out) { // it looks for what a certain command did
		if id, _ := v.(string); strings.HasPrefix(id, "cmd_") {
			line["commandId"] = id
		}
	}
	lines := changed[name].([]any)
	lines[len(lines)-1], changed["last"] = line, line
	if len(list) == 0 {
		changed["first"] = line
	}
	return []Breach{{"there had been a line of a door that moved", changed}}
}

// counts reports whether the step says how many there are.
func (s Said) counts(list string, out map[string]any) bool {
	return s.names("count") && has(out, "count") || s.names("total") && has(out, "total") || s.calls("len", list) || s.calls("count", list)
}

// names reports whether the step names a part of its result.
func (s Said) names(name string) bool {
	return slices.ContainsFunc(s.spots, func(p spot) bool { return p[0] == name }) || slices.ContainsFunc(s.Exprs, func(e *expression.Expr) bool {
		_, named := e.Names[name]
		return named
	})
}

// calls reports whether the step calls a function with a list, or with a part of it.
func (s Said) calls(function, list string) bool {
	return slices.ContainsFunc(s.Exprs, func(e *expression.Expr) bool {
		src := strings.ReplaceAll(e.Src, " ", "")
		return strings.Contains(src, function+"("+list) || strings.Contains(src, function+"(filter("+list)
	})
}

// resized is a result whose list has another length; what it has more is like what was there.
func resized(was map[string]any, name string, size int) map[string]any {
	out, list := maps.Clone(was), slices.Clone(was[name].([]any))
	for i := len(list); i < size; i++ {
		element := map[string]any{"action": "pulse", "cause": "command"}
		if len(list) > 0 {
			like, _ := list[0].(map[string]any)
			element = maps.Clone(like)
		}
		for _, id := range []string{"recordId", "commandId", "eventId", "permitId", "customerId", "membershipId"} {
			if _, there := element[id]; there {
				element[id] = fmt.Sprint("another", i)
			}
		}
		list = append(list, element)
	}
	list = list[:size]
	out[name] = list
	for _, n := range []string{"count", "total"} {
		if v, there := was[n]; there && v != nil {
			out[n] = as(v, float64(size))
		}
	}
	if _, there := was["first"]; there {
		out["first"], out["last"] = nil, nil
		if size > 0 {
			out["first"], out["last"] = list[0], list[size-1]
		}
	}
	if body, ok := was["body"].(map[string]any); ok {
		out["body"] = put(put(body, spot{name}, list), spot{"total"}, out["total"])
	}
	return out
}

// otherDays are the days of a schedule turned round, and with other hours.
func otherDays(v any, _ []any) []any {
	days, _ := v.([]any)
	if len(days) == 0 {
		return nil
	}
	return []any{
		each.Of(days, func(d any) any {
			open, _ := read(d, spot{"open"}).(bool)
			return dayLike(d, !open, read(d, spot{"note"}))
		}),
		each.Of(days, func(d any) any {
			open, _ := read(d, spot{"open"}).(bool)
			return dayLike(d, open, read(d, spot{"note"}))
		}),
	}
}

// daysWithoutNotes are those days as if nobody had heard of closures and holidays, and one day more or less.
func daysWithoutNotes(v any, known []any) []any {
	days, _ := v.([]any)
	if len(days) == 0 {
		return nil
	}
	plain := each.Of(days, func(d any) any {
		if read(d, spot{"note"}) == nil {
			return d
		}
		return dayLike(d, true, nil)
	})
	return append(otherDays(v, known), plain, slices.Clone(days[1:]), append(slices.Clone(days), days[0]))
}

// dayLike is a day with other hours, open or not.
func dayLike(day any, open bool, note any) any {
	was, _ := day.(map[string]any)
	out, date := maps.Clone(was), fmt.Sprint(was["date"])
	out["open"], out["note"], out["intervals"] = open, note, []any{}
	if open {
		out["intervals"] = []any{map[string]any{"start": "03:07", "end": "04:07", "startsAt": date + "T03:07:00.000Z", "endsAt": date + "T04:07:00.000Z"}}
	}
	return out
}

// otherRows are results of an import in which rows that were there already were created again, or all failed or none did.
func otherRows(v any, _ []any) (out []any) {
	data, _ := v.(map[string]any)
	number := func(field string) int {
		n, _ := expression.Number(data[field])
		return int(n)
	}
	rows, _ := data["results"].([]any)
	if rows == nil {
		return nil
	}
	all := func(status, field string, which ...string) any {
		changed, n := maps.Clone(data), number(field)
		for _, w := range which {
			if w != field {
				n += number(w)
				changed[w] = as(data[w], 0)
			}
		}
		changed[field] = as(data[field], float64(n))
		changed["results"] = each.Of(rows, func(r any) any {
			if s, _ := read(r, spot{"status"}).(string); !slices.Contains(which, s) {
				return r
			}
			return put(put(r, spot{"status"}, status), spot{"id"}, "another")
		})
		return changed
	}
	if number("unchanged")+number("updated") > 0 {
		out = append(out, all("created", "created", "unchanged", "updated"))
	}
	if number("failed") > 0 {
		out = append(out, all("failed", "failed", "created", "updated", "unchanged"), all("created", "created", "failed"))
	}
	return out
}
