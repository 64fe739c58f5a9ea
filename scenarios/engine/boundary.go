package engine

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/scenarios/evidence"
)

// A boundary is the file's own word, shown in the report. Where it is a time, such as 36 h + 1 ms, and the step claims a
// guarantee about how long something lasts, something that the file did has to lie that long back.

// lasting are the guarantees whose boundary values are times since something: a cut, an exchange, a hold, a change, a start.
const lasting = "AUTH-1 AUTH-2 AUTH-5 CMD-7 ENT-1 ENT-2 HRS-1 OFF-1 OFF-2 OFF-3 PERM-7 SYNC"

// aged are those of them that a read shows at that time. Of holds and policies it may also show the value itself.
const aged = "AUTH-1 AUTH-2 AUTH-5 PERM-7"

// limited are those of a token exchange.
const limited = "AUTH-3 AUTH-5"

// kept is the one whose boundary is a time that a command looks back on.
const kept = "CMD-5"

// beside is how far off a boundary may be: set-ups take time on a running clock.
func beside(d time.Duration) time.Duration { return max(nearly, d/100) }

// nearly is how far off the length of a permit may be: its start and its end may be said by a clock that runs.
const nearly = 3 * time.Second

// farFrom is why nothing that happened is as long ago as the step's boundary says, "" if something is, or if the boundary
// isn't such a time.
func (x *frame) farFrom(claims []string) string {
	d, timed := timeOf(x.res.Boundary)
	v, among := &x.step.asked().Verbs, lasting
	if timed && d >= shortest && v.Permit != nil && slices.Contains(claims, "PERM-5") && (x.period-d).Abs() > nearly {
		return fmt.Sprintf("its boundary is %s, but the permit that it asks for lasts %s: ask for one that is as long as that, or say in words what the boundary is", x.res.Boundary, x.period)
	}
	switch {
	case v.Call != nil && v.Call.exchanges():
		among = limited
	case v.Call != nil:
		among = aged
	case v.Boards != nil:
		among = aged + " OFF-1 OFF-2 OFF-3 SYNC"
	case v.Command != nil:
		among = kept
	}
	if !timed || d < shortest || !v.looksBack() || !slices.ContainsFunc(claims, func(c string) bool { return evidence.Among(among, c) }) {
		return ""
	}
	x.file.mu.Lock()
	defer x.file.mu.Unlock()
	since := slices.AppendSeq(slices.Clone(x.file.began), maps.Values(x.file.labels))
	for _, now := range []time.Time{x.res.At, x.run.now()} {
		if slices.ContainsFunc(since, func(t time.Time) bool { return (now.Sub(t) - d).Abs() <= beside(d) }) {
			return ""
		}
	}
	return fmt.Sprintf("its boundary is %s, but nothing was marked and no step began that long before: jump to it, or say in words what the boundary is", x.res.Boundary)
}

// shortest is how long a boundary is at least for its time to be looked for: seconds pass by themselves, and may be a bound for
// how long something takes.
const shortest = time.Minute

// looksBack reports whether the verb finds out what a time has done. The others may have the time among what they send, and a
// journal has what happened at any time.
func (v *Verbs) looksBack() bool {
	return v.Command != nil || v.Present != nil || v.PresentEach != nil || v.Phone != nil || v.Link != nil || v.Boards != nil || v.Call != nil && (v.Call.reads() || v.Call.exchanges())
}

// exchanges reports whether the request asks for a token.
func (c *Call) exchanges() bool { return c.Path.raw == exchangePath }

// term is one part of a time: 36 h, + 1 ms, 5 minutes.
var term = regexp.MustCompile(`^\s*([+-]?)\s*(\d+(?:\.\d+)?)\s*((?:millisecond|second|sec|minute|min|hour|hr|day)s?|ms|s|m|h|d)`)

// units are those of boundaries.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "min": time.Minute, "sec": time.Second, "hr": time.Hour,
	"millisecond": time.Millisecond, "second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
}

// unit is that of a boundary by its name, in the singular or plural.
func unit(name string) time.Duration {
	return cmp.Or(units[name], units[strings.TrimSuffix(name, "s")])
}

// timeOf reads a boundary that is a time, perhaps a little before or after it, and nothing else: 900 s, 36 hours + 1 ms, 10 min - 1 ms, 48h1ms.
func timeOf(text string) (d time.Duration, ok bool) {
	for strings.TrimSpace(text) != "" {
		m := term.FindStringSubmatch(text)
		if m == nil {
			return 0, false
		}
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return 0, false
		}
		part := time.Duration(n * float64(unit(m[3])))
		if m[1] == "-" {
			part = -part
		}
		if ok && part.Abs() >= shortest { // a sum of two times, not a little before or after one
			return 0, false
		}
		d, ok, text = d+part, true, text[len(m[0]):]
	}
	return d, ok && d > 0
}
