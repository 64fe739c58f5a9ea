package engine

import (
	"regexp"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/vocab"
)

// where is what the step was about, for the evidence: nil if its verb can show a promise wherever it came up.
func (x *frame) where() *report.Where {
	w, _ := guarded(func() (*report.Where, error) { return x.about(&x.step.Verbs), nil })
	return w
}

func (x *frame) about(v *Verbs) *report.Where {
	switch {
	case v.Command != nil:
		return x.atDoors(v.Command.Door)
	case v.Present != nil:
		return x.atDoors(v.Present.Door)
	case v.Link != nil && v.Link.Door.set():
		return x.atDoors(v.Link.Door)
	case v.PresentEach != nil:
		return &report.Where{Doors: x.doors(v.PresentEach.Doors), Decides: true}
	case v.Phone != nil:
		return &report.Where{Decides: true}
	case v.Load != nil:
		w := &report.Where{Decides: true}
		if v.Load.Of.set() {
			w.Doors = x.doors(v.Load.Of)
		}
		return w
	case v.Call != nil:
		return x.atDevice(v.Call)
	case v.Journal != nil:
		return x.atBoards(v.Journal.Of)
	case v.Boards != nil:
		return x.atBoards(v.Boards.Of)
	case v.Synced != nil:
		return x.atBoards(v.Synced.Of)
	case v.Records != nil:
		w := &report.Where{Places: []string{x.place(v.Records.Place)}}
		if v.Records.Door.set() {
			w.Doors = []string{x.door(v.Records.Door)}
		}
		return w
	}
	return nil
}

// atDoors is a decision at one door.
func (x *frame) atDoors(r Ref) *report.Where {
	return &report.Where{Doors: []string{x.door(r)}, Decides: true}
}

// ofDevice finds a door or board in a path.
var ofDevice = regexp.MustCompile(`^/device/v1/(devices|doors|boards)/([^/?]+)`)

// atDevice is a request about one door or board.
func (x *frame) atDevice(c *Call) *report.Where {
	m := ofDevice.FindStringSubmatch(need(c.Path.str(x.scope)))
	switch {
	case m == nil:
		return nil
	case m[1] == "boards":
		return &report.Where{Boards: []string{m[2]}}
	}
	return &report.Where{Doors: []string{m[2]}}
}

// atBoards is a look at some boards, or at the one door that is named.
func (x *frame) atBoards(r Ref) *report.Where {
	if !r.set() {
		return nil
	}
	if id, ok := need(r.eval(x.scope)).(string); ok && x.run.dir.door(id) != nil {
		return &report.Where{Doors: []string{id}}
	}
	return &report.Where{Boards: each.Of(x.boards(r), func(b *boardInfo) string { return b.id })}
}

// plain reports whether the step says no more than that a command, a press, a call or a presentation succeeds.
func (s *Step) plain() bool {
	v := &s.Verbs
	if len(s.Capture) > 0 || s.Background != "" && v.Wait == nil || slices.ContainsFunc(s.Expect, func(e Expr) bool { return !aboutSuccessAlone(e) }) {
		return false
	}
	switch {
	case v.Wait != nil:
		asked := s.asked()
		return asked != s && asked.Verbs.saysSuccess() && len(asked.Expect)+len(asked.Capture) == 0
	case len(v.nested()) > 0:
		return !slices.ContainsFunc(v.nested(), func(n Step) bool { return n.asserts && !n.plain() })
	}
	return v.saysSuccess()
}

// saysSuccess reports whether the verb expects that something at a door succeeds, and nothing else.
func (v *Verbs) saysSuccess() bool {
	if a := v.answered(); a != nil && (a.Match != nil || a.Error.set() || len(a.Status) > 0 && !slices.Equal(a.Status.codes(), []int{200})) {
		return false
	}
	switch {
	case v.Command != nil:
		return !v.Command.Outcome.set() || v.Command.Outcome.raw == string(vocab.Reported)
	case v.Phone != nil:
		return v.Phone.saysSuccess()
	case v.Present != nil:
		return !v.Present.Reason.set() && (v.Present.Result.raw == string(vocab.Opened) || !v.Present.Result.set())
	}
	return v.Link != nil
}

// aboutSuccessAlone reports whether an expectation names nothing of an answer but how it ended and how long it took.
func aboutSuccessAlone(e Expr) bool {
	for _, p := range e.Paths {
		if !slices.Contains([]string{"status", "error", "outcome", "result", "ms", "data.outcome", "data.result", "body.success"}, p) {
			return false
		}
	}
	return len(e.Paths) > 0
}
