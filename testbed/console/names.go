package console

import (
	"cmp"
	"strings"

	"github.com/doorlab/doorlab/internal/world"
)

// names are what people call places, boards and doors.
type names struct {
	places map[string]*world.Place
	boards map[string]named
	doors  map[string]named
	byFull map[string]string // boards' ids by their names with their places'; "" = of several
}

// named is a board or a door with where it is.
type named struct {
	ID, Name string
	BoardID  string
	Doors    []world.Door // of a board
	Place    *world.Place
}

func namesOf(w *world.World) names {
	n := names{places: map[string]*world.Place{}, boards: map[string]named{}, doors: map[string]named{}, byFull: map[string]string{}}
	for i := range w.Places {
		p := &w.Places[i]
		n.places[p.ID] = p
		for j := range p.Boards {
			b := &p.Boards[j]
			name := cmp.Or(b.Name, b.ID)
			n.boards[b.ID] = named{ID: b.ID, Name: name, BoardID: b.ID, Doors: b.Doors, Place: p}
			text := n.place(p.ID) + " · " + name
			if _, again := n.byFull[text]; again {
				n.byFull[text] = ""
			} else {
				n.byFull[text] = b.ID
			}
			for _, d := range b.Doors {
				n.doors[d.ID] = named{ID: d.ID, Name: d.Name, BoardID: b.ID, Place: p}
			}
		}
	}
	return n
}

// door is a door's name, or its id if it has none.
func (n names) door(id string) string {
	return cmp.Or(n.doors[id].Name, id)
}

// place is a place's name.
func (n names) place(id string) string {
	if p := n.places[id]; p != nil && p.Name != "" {
		return p.Name
	}
	return id
}

// full is a board's name with its place's; the id if another board is called the same.
func (n names) full(id string) string {
	b := n.boards[id]
	if text := n.place(b.Place.ID) + " · " + b.Name; n.byFull[text] == id {
		return text
	}
	return id
}

// boardIDs reads ids and full names of boards, separated by commas or new lines; ids by spaces, too. What isn't a name is
// left to be judged as an id.
func (n names) boardIDs(text string) (out []string) {
	if id := n.byFull[strings.TrimSpace(text)]; id != "" {
		return []string{id}
	}
	out = []string{}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		if id := n.byFull[strings.TrimSpace(part)]; id != "" {
			out = append(out, id)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// placeID is the id of a place that was named or chosen; text that is neither, or the name of several, is left to be judged
// as an id.
func (n names) placeID(text string) string {
	found := ""
	for id, p := range n.places {
		switch {
		case p.Name != text || n.places[text] != nil:
		case found != "":
			return text
		default:
			found = id
		}
	}
	return cmp.Or(found, text)
}
