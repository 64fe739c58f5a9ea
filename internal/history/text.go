package history

import (
	"fmt"
	"strings"
	"time"
)

// String is an event on one line: its kind and its fields.
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
	text("", string(e.Outcome))
	text("", string(e.Result))
	text("", string(e.Reason))
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
		text("age=", Age(e.OutageAgeMs))
	}
	text("body=", e.BodyHash)
	text("meaning=", e.Meaning)
	text("", e.Text)
	return s.String()
}

// Age writes an outage age to the millisecond.
func Age(ms int64) string {
	if ms < 0 {
		return "clock lost"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}
