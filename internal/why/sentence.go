package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Sentence puts the answer into words: both sides, and the age of the copy.
func (a Answer) Sentence() string {
	var b strings.Builder
	if a.Server.Known {
		b.WriteString("For a call or a link the server decides, and it " + a.Server.does() + ". ")
	} else {
		b.WriteString("It isn't known what the server would have decided about a call or link, because the recording starts after that time; ask about a later one. ")
	}
	if !a.Board.Known {
		b.WriteString("It isn't known what board " + a.Copy.BoardID + " decides on site: " + a.unknown() + ".")
		return b.String()
	}
	b.WriteString("On site, board " + a.Copy.BoardID + " " + a.Board.does() + a.copied() + ".")
	return b.String()
}

// does is what a known side decides and on what basis, to follow its name.
func (s Side) does() string {
	switch {
	case s.Allow && s.Reason == vocab.FreeWindow:
		return "opens the door for everybody: window " + s.Window.Ref + " is free"
	case s.Allow:
		return fmt.Sprintf("opens the door: %s %s is valid", *s.Kind, *s.GrantID)
	}
	return "doesn't open the door: " + s.denied()
}

func (s Side) denied() string {
	nearest := func(text string) string {
		if len(s.Grants) == 0 {
			return text
		}
		return fmt.Sprintf(text+" (%s %s)", s.Grants[0].Kind, s.Grants[0].GrantID)
	}
	switch s.Reason {
	case vocab.OutageLimit:
		return "after more than 36 h without the server, or once its clock is lost, a board decides nothing until it is synchronized"
	case vocab.LinkInvalid:
		if s.LinkOf != nil {
			return "the link of permit " + *s.LinkOf + " was revoked"
		}
		return "the link is unknown"
	case vocab.ClosedWindow:
		return "window " + s.Window.Ref + " is closed"
	case vocab.DoorOutOfScope:
		return nearest("the grant is valid, but not for this door")
	case vocab.NotStarted:
		return nearest("the grant hasn't started")
	case vocab.Expired:
		return nearest("the grant has ended")
	case vocab.Revoked:
		return nearest("the grant is revoked")
	}
	return "this person has no grant here"
}

// copied is how old the board's copy was, if that matters.
func (a Answer) copied() string {
	c := a.Copy
	var parts []string
	if !c.Online && c.OutageAgeSec != nil && *c.OutageAgeSec >= 0 {
		parts = append(parts, "it has been offline for "+english.of(*c.OutageAgeSec))
	}
	if c.MissingSince != nil {
		parts = append(parts, fmt.Sprintf("its copy (revision %d of %d) lacks changes from the last %s", c.Revision, c.ServerRevision, english.of(c.BehindSec)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", and ")
}

// unknown is why the board's side is unknown.
func (a Answer) unknown() string {
	switch {
	case !a.Server.Known:
		return "the recording starts after that time"
	case a.Copy.Real:
		return "a real board is in its place, and that board's copy isn't recorded"
	case !a.Copy.Seen:
		return "the server hasn't heard from the board since the recording began"
	case a.Copy.OutageAgeSec == nil:
		return "it was offline before the recording began"
	}
	return "its copy is older than the recording"
}

// spans are the forms in which a language writes durations for people.
type spans struct{ ms, sec, min, hour, hourMin string }

var english = spans{"%d ms", "%d s", "%d m", "%d h", "%d h %d m"}

func (f spans) of(sec float64) string {
	d := time.Duration(sec * float64(time.Second))
	switch {
	case d < time.Second:
		return fmt.Sprintf(f.ms, d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf(f.sec, int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf(f.min, int(d.Minutes()))
	}
	if m := int(d.Minutes()) % 60; m != 0 {
		return fmt.Sprintf(f.hourMin, int(d.Hours()), m)
	}
	return fmt.Sprintf(f.hour, int(d.Hours()))
}
