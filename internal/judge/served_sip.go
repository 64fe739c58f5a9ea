package judge

import (
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// SIPMethod and SIPRoute mark a telephone call that was made over SIP. Who calls what is told as of a call over the control API,
// but the answer says neither which door opens nor why it doesn't, and doesn't tell offline, refused and noResponse apart.
const (
	SIPMethod = "INVITE"
	SIPRoute  = "sip"
)

// rings reports whether somebody called a place's number.
func (c *call) rings() bool { return c.Route == phoneRoute || c.Route == SIPRoute }

// overSIP completes what a call over SIP wasn't told: by which door the caller came in, and how the command ended. ok is false if
// several would fit. If there is none, d stays without a door.
func (v *View) overSIP(d *deciding) (ok bool) {
	var outcomes []vocab.Outcome
	switch vocab.Result(d.out("result")) {
	case vocab.Denied:
		return true
	case vocab.Opened:
		outcomes = []vocab.Outcome{vocab.Reported}
	case "":
		outcomes = []vocab.Outcome{vocab.Offline, vocab.Refused, vocab.NoResponse}
	default:
		return false
	}
	found := 0
	for _, door := range slices.Sorted(maps.Keys(v.doors)) {
		for _, o := range outcomes {
			if v.doors[door].place == d.place && v.endedAs(d, door, o) {
				d.door, d.outcome = door, o
				found++
			}
		}
	}
	if found == 0 {
		d.outcome = outcomes[0]
	}
	return found <= 1
}

// recordsOf are the denials that may be of a refused attempt.
type recordsOf struct {
	byAttempt map[deniedAs][]*history.Event
	byPlace   map[string][]*history.Event // by phone
}

type deniedAs struct{ method, door, reason string }

func (v *View) denials() recordsOf {
	r := recordsOf{map[deniedAs][]*history.Event{}, map[string][]*history.Event{}}
	for _, e := range v.records {
		if e.Result != vocab.Denied || e.BoardID != "" {
			continue
		}
		a := deniedAs{e.Method, e.DoorID, string(e.Reason)}
		r.byAttempt[a] = append(r.byAttempt[a], e)
		if e.Method == methodOf[phoneRoute] {
			r.byPlace[e.PlaceID] = append(r.byPlace[e.PlaceID], e)
		}
	}
	return r
}

// of are those of an attempt: of a call over SIP all of its place, because its caller wasn't told door and reason.
func (r recordsOf) of(d *denial) []*history.Event {
	if d.Route == SIPRoute {
		return r.byPlace[d.PlaceID]
	}
	return r.byAttempt[deniedAs{methodOf[d.Route], d.door, d.reason}]
}

// tellingFirst puts those attempts first that say which record is theirs.
func tellingFirst(all []*denial) []*denial {
	overSIP := func(d *denial) bool { return d.Route == SIPRoute }
	return append(each.If(all, func(d *denial) bool { return !overSIP(d) }), each.If(all, overSIP)...)
}
