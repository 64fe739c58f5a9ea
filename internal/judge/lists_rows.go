package judge

import (
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// What the rows of a list of records or events say of who did it, and by what.

// asMade: a row shows who it was and why, as the record was made. (A key's name is an operator's own text, and may be a mark
// in the history.)
func (v *View) asMade(t *tally, r *reading, due map[string]*history.Event) {
	for _, row := range r.rows {
		e := due[text(row, "recordId")]
		if e == nil || e.Reason == "" {
			continue
		}
		made := map[string]string{"reason": string(e.Reason), "method": e.Method, "actor": e.Actor}
		if strings.HasPrefix(e.Actor, guestActor) {
			made["actorLabel"] = e.Text
		}
		for _, field := range []string{"reason", "method", "actor", "actorLabel"} {
			want, known := made[field]
			if got := text(row, field); known && got != want {
				t.bad(r.first.Event, "record %s was made with %s %q, but a list shows %q", e.RecordID, field, want, got) // [ENT-4]
			}
		}
	}
}

// guestActor is what an actor begins with that isn't an operator.
const guestActor = "guest:"

// withTheirReference: an event that names a permit names its reference, which is its for good.
func withTheirReference(t *tally, r *reading, refs map[string]string) {
	for _, row := range r.rows {
		id := text(row, "permitId")
		if want := refs[id]; want != "" && text(row, "externalRef") != want {
			t.bad(r.first.Event, "an event of %s shows the reference %q, want %q", id, text(row, "externalRef"), want) // [ENT-4]
		}
	}
}

// references are those under which permits were registered, by permit.
func (v *View) references() map[string]string {
	out := map[string]string{}
	for _, c := range v.known() {
		if id := c.out("permitId"); c.Method == "POST" && c.Route == createRoute && c.ok() && id != "" {
			out[id] = c.in("externalRef")
		}
	}
	return out
}

// labelled: an operator has one label, the name of the key.
func (v *View) labelled(t *tally) {
	names := map[string]string{}
	for _, e := range v.records {
		if !strings.HasPrefix(e.Actor, "api:") {
			continue
		}
		if was, known := names[e.Actor]; known && was != e.Text {
			t.bad(e, "record %s shows %s as %q, but another as %q", e.RecordID, e.Actor, e.Text, was) // [ENT-4]
		}
		names[e.Actor] = e.Text
	}
}

// reused is how many requests with the key were refused because they asked for something else: no replays.
func (k *keyUse) reused() int {
	return len(each.If(k.answers, func(e *history.Event) bool { return e.Code == codeReused }))
}
