package judge

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// How many events a timeline shows before and after the breach.
const (
	timelineBefore = 24
	timelineAfter  = 12
)

// timeline is what belongs to an event, in order: its command or key, else the board and the place's revisions around
// it.
func (v *View) timeline(bad *history.Event) []history.Event {
	match := v.related(bad)
	var out []history.Event
	at := 0
	for i := range v.events {
		if e := &v.events[i]; e == bad || match(e) {
			if e == bad {
				at = len(out)
			}
			out = append(out, *e)
		}
	}
	return slices.Clone(out[max(0, at-timelineBefore):min(len(out), at+timelineAfter+1)])
}

func (v *View) related(bad *history.Event) func(*history.Event) bool {
	key := bad.Key
	if c := v.commands[bad.CommandID]; c != nil && key == "" {
		key = c.key
	}
	ids := map[string]bool{}
	if bad.CommandID != "" {
		ids[bad.CommandID] = true
	}
	if k := v.keys[key]; k != nil {
		maps.Copy(ids, each.Set(slices.Concat(k.intents, k.publishes, k.answers), func(e *history.Event) string { return e.CommandID }))
	}
	delete(ids, "")
	if len(ids) > 0 || key != "" {
		return func(e *history.Event) bool { return ids[e.CommandID] || key != "" && e.Key == key }
	}
	board, place := bad.BoardID, bad.PlaceID
	if b := v.boards[board]; b != nil && place == "" {
		place = b.place
	}
	return func(e *history.Event) bool {
		switch e.Kind {
		case history.Committed:
			return e.PlaceID == place
		case history.Content:
			return e.PlaceID == place && e.GrantID != "" && e.GrantID == bad.GrantID
		case history.Started, history.Label:
			return true
		case history.RecordIn:
			return bad.RecordID != "" && e.RecordID == bad.RecordID || board != "" && e.BoardID == board
		}
		return board != "" && e.BoardID == board
	}
}

// String is the breach as a person reads it: the reason, then the timeline with the event marked.
func (b Bad) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s\n", b.Why)
	_ = WriteTimeline(&s, b.Timeline, b.Event.Seq)
	return s.String()
}

// WriteTimeline writes one line per event, with times relative to the first, and marks the event with Seq mark.
func WriteTimeline(w io.Writer, events []history.Event, mark int64) error {
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
