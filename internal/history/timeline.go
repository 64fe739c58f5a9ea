package history

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// How many events a timeline shows before and after the bad one.
const (
	timelineBefore = 24
	timelineAfter  = 12
)

// timeline is what belongs to an event, in order: the command or key it is
// about, else the board and the place's revisions around it.
func (v *View) timeline(bad *Event) []Event {
	match := v.related(bad)
	var out []*Event
	for _, p := range v.events {
		for i := range p {
			if e := &p[i]; e == bad || match(e) {
				out = append(out, e)
			}
		}
	}
	at := 0
	for i, e := range out {
		if e == bad {
			at = i
		}
	}
	out = out[max(0, at-timelineBefore):min(len(out), at+timelineAfter+1)]
	events := make([]Event, len(out))
	for i, e := range out {
		events[i] = *e
	}
	return events
}

func (v *View) related(bad *Event) func(*Event) bool {
	key := bad.Key
	if c := v.commands[bad.CommandID]; c != nil && key == "" {
		key = c.key
	}
	ids := map[string]bool{}
	if bad.CommandID != "" {
		ids[bad.CommandID] = true
	}
	if k := v.keys[key]; k != nil {
		for _, es := range [][]*Event{k.intents, k.publishes, k.answers} {
			for _, e := range es {
				ids[e.CommandID] = true
			}
		}
	}
	delete(ids, "")
	if len(ids) > 0 || key != "" {
		return func(e *Event) bool { return ids[e.CommandID] || key != "" && e.Key == key }
	}
	board, place := bad.BoardID, bad.PlaceID
	if b := v.boards[board]; b != nil && place == "" {
		place = b.place
	}
	return func(e *Event) bool {
		switch e.Kind {
		case Committed:
			return e.PlaceID == place
		case Content:
			return e.PlaceID == place && e.GrantID != "" && e.GrantID == bad.GrantID
		case Started, Label:
			return true
		case RecordIn:
			return bad.RecordID != "" && e.RecordID == bad.RecordID || board != "" && e.BoardID == board
		}
		return board != "" && e.BoardID == board
	}
}

// String is the breach as a person reads it: why, then the timeline with the
// bad event marked.
func (b Bad) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s\n", b.Why)
	_ = WriteTimeline(&s, b.Timeline, b.Event.Seq)
	return s.String()
}

// WriteTimeline writes events a line each, times relative to the first, the one
// with Seq mark marked.
func WriteTimeline(w io.Writer, events []Event, mark int64) error {
	for i, e := range events {
		sign, wall := "  ", ""
		if e.Seq == mark {
			sign = "> "
		}
		if e.WallNs != 0 && events[0].WallNs != 0 {
			wall = fmt.Sprintf("%+.3fs", time.Duration(e.WallNs-events[0].WallNs).Seconds())
		}
		at := time.UnixMilli(e.At).UTC().Format("2006-01-02 15:04:05.000")
		if i > 0 && e.At == events[i-1].At {
			at = strings.Repeat(" ", len(at)-1) + "\""
		}
		if _, err := fmt.Fprintf(w, "%s%s %9s %s\n", sign, at, wall, e); err != nil {
			return err
		}
	}
	return nil
}

// String is an event in a line: its kind and what it carries.
func (e Event) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%-9s", e.Kind)
	text := func(name, v string) {
		if v != "" {
			s.WriteString(" " + name + v)
		}
	}
	num := func(name string, n int64) {
		if n != 0 {
			fmt.Fprintf(&s, " %s%d", name, n)
		}
	}
	text("", e.Op)
	text("", e.Action)
	text("by ", e.Cause)
	num("", int64(e.Status))
	text("", e.Code)
	text("", e.Outcome)
	text("", e.Result)
	text("", e.Reason)
	if e.Replayed {
		text("", "replayed")
	}
	text("", e.CommandID)
	text("key=", e.Key)
	text("", e.PlaceID)
	text("", e.BoardID)
	text("", e.DoorID)
	text("", e.GrantID)
	text("", e.RecordID)
	num("channel=", int64(e.Channel))
	num("boot=", int64(e.Boot))
	num("epoch=", e.Epoch)
	num("rev=", e.Revision)
	text("digest=", e.Digest)
	num("notAfter=", e.NotAfterMs)
	num("record=", e.RecordSeq)
	if e.OutageAgeMs != 0 {
		text("age=", age(e.OutageAgeMs))
	}
	text("body=", e.BodyHash)
	text("meaning=", e.Meaning)
	text("", e.Text)
	return s.String()
}

// age writes an outage age to the millisecond.
func age(ms int64) string {
	if ms < 0 {
		return "clock lost"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}
