package engine

import (
	"net/http"
	"strings"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/scenarios/evidence"
)

// By what a look chooses its lines or records decides what it can be evidence for: who was let in on site says nothing of
// commands, and that nothing was recorded of links says nothing where nobody pressed one.

// chooses reports whether what a look chooses has nothing to do with the clause, or can't be there.
func (s *Step) chooses(clause string, did map[string]bool) bool {
	v := &s.Verbs
	switch {
	case v.Journal != nil:
		j := v.Journal
		return madeUp(j.Command) || evidence.OtherAction(j.Action.raw, clause) || evidence.OtherCause(j.Cause.raw, clause) || j.Action.raw == "hold" && !did["hold"]
	case v.Records != nil:
		r := v.Records
		return madeUp(r.Command) || evidence.OtherMethod(r.Method, clause) || r.Method != "" && !did[r.Method]
	case v.Events != nil:
		return madeUp(v.Events.Query["permitId"])
	}
	return false
}

// madeUp reports whether a command's or permit's id is written in the file. The server gives ids, so nothing has that one.
func madeUp(id Text) bool { return id.set() && !strings.Contains(id.raw, "${") }

// deeds are the methods of entry that some step of a file may use, and "hold" if one may hold a door.
func deeds(d *Doc) map[string]bool {
	did := map[string]bool{string(vocab.API): true}
	does := func(names ...string) {
		for _, n := range names {
			did[n] = true
		}
	}
	eachStep(func(s *Step) {
		v := &s.Verbs
		switch {
		case v.Call != nil && !v.Call.reads() && strings.ContainsAny(v.Call.Path.raw, "$"), v.Load != nil, v.MQTT != nil:
			does("hold", string(vocab.Link), string(vocab.Onsite)) // whatever they ask for, or say
		case v.Call != nil && !v.Call.reads():
			does("hold")
			did[string(vocab.Link)] = did[string(vocab.Link)] || strings.HasPrefix(v.Call.Path.raw, "/entry")
		case v.Control != nil && v.Control.method() != http.MethodGet:
			does(string(vocab.Phone), string(vocab.Onsite))
		case v.Netloss != nil, v.Tell != nil:
			does("hold")
		case v.Phone != nil:
			does(string(vocab.Phone))
		case v.Present != nil, v.PresentEach != nil:
			does(string(vocab.Onsite))
		case v.Command != nil:
			does(v.Command.deed())
		case v.Link != nil:
			does(v.Link.deed())
		case v.HangUp != nil:
			does(v.HangUp.Command.deed(), v.HangUp.Link.deed())
		case v.Crash != nil:
			does(v.Crash.Command.deed(), v.Crash.Link.deed())
		}
	}, d.Setup, d.Steps)
	return did
}

func (c *Command) deed() string {
	if c != nil && (strings.Contains(c.Command.raw, "hold") || strings.Contains(c.Command.raw, "${")) {
		return "hold"
	}
	return ""
}

func (l *Link) deed() string {
	if l != nil && l.Door.set() {
		return string(vocab.Link)
	}
	return ""
}
