// Package faults is the one list of what can go wrong with a simulated board: names, parameters, meanings and what to
// expect. The fleet validates requests to arm faults with it (boardsim/fault performs them), and the JSON Schema of
// scenario files and docs/faults.md are generated from it.
package faults

import (
	"slices"
	"sort"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/wire"
)

// Acts is what a fault acts on, and so which fields of its body it takes.
type Acts string

// What faults act on.
const (
	OnCommand Acts = "command" // each matching command or its report
	OnLine    Acts = "line"    // the network line
	OnClock   Acts = "clock"   // the board's wall clock
	AtOnce    Acts = "at once" // the whole board, when armed; then it is gone
)

// Fault describes one fault.
type Fault struct {
	Name    string
	Acts    Acts
	Does    string // what happens
	Outcome string // what the caller of a door command sees
	Journal string // what the relay's journal shows
	Params  []Param
	// check validates the parameters together and fills in what follows from others.
	check func(v Values, given map[string]any) *Bad
}

// Param is a parameter: a number between Min and Max, or one of Names.
type Param struct {
	Name     string
	Means    string
	Unit     string
	Default  float64
	Alone    bool // the default holds only if no parameter of the fault is given; otherwise it is 0
	Min, Max float64
	Whole    bool
	Names    []string // not empty: a text, and the first is the default
}

const day = 24 * 3600

// All lists the faults. Of several in force on one command, earlier ones act first.
var All = []Fault{
	{Name: "silent", Acts: OnCommand, Does: "The board neither acts nor reports.",
		Outcome: "504 `noResponse`", Journal: "no line"},
	{Name: "refuse", Acts: OnCommand, Does: "The board doesn't act and reports a refusal. If several `refuse` faults apply, the one armed first wins.",
		Outcome: "502 `refused` with `deviceCode`", Journal: "`refuse`",
		Params: []Param{{Name: "code", Means: "the refusal code", Names: wire.RefusalCodes}}},
	{Name: "slow", Acts: OnCommand, Does: "The board waits before it acts. The delays of several `slow` faults add up. Past `notAfter` (5 s) it refuses with `expired`.",
		Outcome: "200 late, 502 `refused` (`expired`) or 504 `noResponse`", Journal: "`pulse`, `hold` or `lock` late, or `refuse`",
		Params: spread(1500, 4000), check: spreadOK},
	{Name: "silent-after", Acts: OnCommand, Does: "The board acts but doesn't report. A refusal is still reported.",
		Outcome: "504 `noResponse`", Journal: "`pulse`, `hold` or `lock`"},
	{Name: "garbage", Acts: OnCommand, Does: "24 random bytes are sent to the server instead of the report. At most one fault replaces a report: `garbage`, then `wrong-id`, then `stale`.",
		Outcome: "504 `noResponse`", Journal: "`pulse`, `hold` or `lock`"},
	{Name: "wrong-id", Acts: OnCommand, Does: "The report names a command that was never sent.",
		Outcome: "504 `noResponse`", Journal: "`pulse`, `hold` or `lock`"},
	{Name: "stale", Acts: OnCommand, Does: "The report carries the epoch of a previous connection. Reports are matched by command id, so it still counts.",
		Outcome: "200 `reported`", Journal: "`pulse`, `hold` or `lock`"},
	{Name: "late", Acts: OnCommand, Does: "The board acts at once and waits before it reports, by default longer than the server waits for it. The delays of several `late` faults add up.",
		Outcome: "504 `noResponse`; the record is settled when the report comes in", Journal: "`pulse`, `hold` or `lock`",
		Params: spread(9000, 12000), check: spreadOK},
	{Name: "duplicate", Acts: OnCommand, Does: "The report is sent to the server twice.",
		Outcome: "200 `reported`, once", Journal: "one line"},
	{Name: "reorder", Acts: OnCommand, Does: "The report is sent after the board's next one, or after 2 s.",
		Outcome: "200 `reported`", Journal: "`pulse`, `hold` or `lock`"},
	{Name: "noop", Acts: OnCommand, Does: "Has no effect; counts the commands that it matches.",
		Outcome: "unchanged", Journal: "unchanged"},

	{Name: "offline", Acts: OnLine, Does: "The line is cut cleanly: both ends notice at once, and the board doesn't reconnect while the fault is in force.",
		Outcome: "409 `device_offline`", Journal: "no line; after `graceSec` the resting behaviour (cause `outage`)"},
	{Name: "halfopen", Acts: OnLine, Does: "Nothing passes either way and neither end is notified. Both notice when their keep-alive runs out.",
		Outcome: "504 `noResponse`, then 409 `device_offline`", Journal: "no line; after `graceSec` the resting behaviour"},
	{Name: "oneway-up", Acts: OnLine, Does: "Everything that the board sends is lost.",
		Outcome: "504 `noResponse`, then 409 `device_offline`", Journal: "`pulse`, `hold` or `lock` until the board notices"},
	{Name: "oneway-down", Acts: OnLine, Does: "Everything that the server sends to the board is lost.",
		Outcome: "504 `noResponse`, then 409 `device_offline`", Journal: "no line; after `graceSec` the resting behaviour"},
	{Name: "lossy", Acts: OnLine, Does: "Messages are lost, repeated and delayed in both directions. Several `lossy` faults act like lines in series.",
		Outcome: "200 `reported` or 504 `noResponse`", Journal: "one line for each command that arrived",
		Params: []Param{
			{Name: "percent", Means: "messages lost", Unit: "%", Default: 10, Alone: true, Max: 100},
			{Name: "duplicatePercent", Means: "messages that arrive twice", Unit: "%", Max: 100},
			{Name: "delayMs", Means: "delay of each packet in each direction, wall time", Unit: "ms", Max: 3600 * 1000, Whole: true},
		}},
	{Name: "flap", Acts: OnLine, Does: "The line is up and down in turn, in the lab's time. The seed shortens each board's first turn so that the boards don't change in step.",
		Outcome: "200 `reported` or 409 `device_offline`", Journal: "as `offline` while the line is down",
		Params: []Param{
			{Name: "upSec", Means: "how long the line stays up", Unit: "s", Default: 20, Min: 0.1, Max: 30 * day},
			{Name: "downSec", Means: "how long it stays down", Unit: "s", Default: 10, Min: 0.1, Max: 30 * day},
		}},

	{Name: "skew", Acts: OnClock, Does: "The board's wall clock is off by `seconds` and drifts by `ppm`. Several `skew` faults add up. The outage age stays right. The server drops records from more than an hour ahead or 30 days behind.",
		Outcome: "unchanged", Journal: "on site, permits and windows begin and end by the wrong clock",
		Params: []Param{
			{Name: "seconds", Means: "the offset", Unit: "s", Default: 300, Alone: true, Min: -366 * day, Max: 366 * day},
			{Name: "ppm", Means: "drift, from the moment the fault is armed", Unit: "ppm", Min: -500000, Max: 500000},
		}},

	{Name: "reboot", Acts: AtOnce, Does: "The board loses its memory and starts again from its flash file.",
		Outcome: "504 `noResponse` for a command in progress", Journal: "`boot` is one higher; a hold continues"},
	{Name: "reboot-wiped", Acts: AtOnce, Does: "The board starts again with an empty flash.",
		Outcome: "504 `noResponse` for a command in progress", Journal: "`boot` is one higher; on-site requests are denied until the board is synchronized"},
	{Name: "no-clock", Acts: AtOnce, Does: "The board loses its clock and starts again: its outage age counts as over 36 h until it hears from the server.",
		Outcome: "504 `noResponse` for a command in progress", Journal: "the resting behaviour at once (cause `outage`)"},
}

// spread is the pair p50Ms, p99Ms of a response time.
func spread(p50, p99 float64) []Param {
	return []Param{
		{Name: "p50Ms", Means: "median of the delay, wall time", Unit: "ms", Default: p50, Max: day * 1000, Whole: true},
		{Name: "p99Ms", Means: "99th percentile of the delay; no delay is longer than twice that", Unit: "ms", Default: p99, Max: day * 1000, Whole: true},
	}
}

// Names lists the faults, sorted.
func Names() []string {
	out := each.Of(All, func(f Fault) string { return f.Name })
	sort.Strings(out)
	return out
}

// Lookup finds a fault by name.
func Lookup(name string) (Fault, bool) {
	i := slices.IndexFunc(All, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return All[i], true
}
