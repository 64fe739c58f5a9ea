package engine

import (
	"regexp"

	"github.com/doorlab/doorlab/internal/report"
)

// where is what the step was about, for the evidence: nil if its verb can show a promise wherever it came up.
func (x *frame) where() *report.Where {
	v := &x.step.Verbs
	switch {
	case v.Command != nil:
		return x.atDoors(v.Command.Door)
	case v.Present != nil:
		return x.atDoors(v.Present.Door)
	case v.Link != nil && v.Link.Door.set():
		return x.atDoors(v.Link.Door)
	case v.PresentEach != nil:
		doors, err := x.doors(v.PresentEach.Doors)
		if err != nil {
			return nil
		}
		return &report.Where{Doors: doors, Decides: true}
	case v.Phone != nil:
		return &report.Where{Decides: true}
	case v.Call != nil:
		return x.atDevice(v.Call)
	case v.Journal != nil:
		return x.atBoards(v.Journal.Of)
	case v.Boards != nil:
		return x.atBoards(v.Boards.Of)
	case v.Synced != nil:
		return x.atBoards(v.Synced.Of)
	case v.Records != nil:
		place, err := x.place(v.Records.Place)
		if err != nil {
			return nil
		}
		w := &report.Where{Places: []string{place}}
		if door, err := x.door(v.Records.Door); v.Records.Door.set() && err == nil {
			w.Doors = []string{door}
		}
		return w
	}
	return nil
}

// atDoors is a decision at one door.
func (x *frame) atDoors(r Ref) *report.Where {
	door, err := x.door(r)
	if err != nil {
		return nil
	}
	return &report.Where{Doors: []string{door}, Decides: true}
}

// ofDevice finds a door or board in a path.
var ofDevice = regexp.MustCompile(`^/device/v1/(devices|doors|boards)/([^/?]+)`)

// atDevice is a request about one door or board.
func (x *frame) atDevice(c *Call) *report.Where {
	path, err := c.Path.str(x.scope)
	m := ofDevice.FindStringSubmatch(path)
	switch {
	case err != nil || m == nil:
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
	of, err := r.eval(x.scope)
	if err != nil {
		return nil
	}
	if id, ok := of.(string); ok && x.run.dir.door(id) != nil {
		return &report.Where{Doors: []string{id}}
	}
	list, err := x.boards(r)
	if err != nil {
		return nil
	}
	w := &report.Where{}
	for _, b := range list {
		w.Boards = append(w.Boards, b.id)
	}
	return w
}
