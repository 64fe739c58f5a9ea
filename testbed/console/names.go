package console

import "github.com/doorlab/doorlab/internal/world"

// names are what people call places, boards and doors.
type names struct {
	places map[string]*world.Place
	boards map[string]named
	doors  map[string]named
}

// named is a board or a door with where it is.
type named struct {
	ID, Name string
	BoardID  string
	Doors    []world.Door // of a board
	Place    *world.Place
}

func namesOf(w *world.World) names {
	n := names{places: map[string]*world.Place{}, boards: map[string]named{}, doors: map[string]named{}}
	for i := range w.Places {
		p := &w.Places[i]
		n.places[p.ID] = p
		for j := range p.Boards {
			b := &p.Boards[j]
			name := b.Name
			if name == "" {
				name = b.ID
			}
			n.boards[b.ID] = named{ID: b.ID, Name: name, BoardID: b.ID, Doors: b.Doors, Place: p}
			for _, d := range b.Doors {
				n.doors[d.ID] = named{ID: d.ID, Name: d.Name, BoardID: b.ID, Place: p}
			}
		}
	}
	return n
}

// door is a door's name, or its id if it has none.
func (n names) door(id string) string {
	if d := n.doors[id]; d.Name != "" {
		return d.Name
	}
	return id
}

// place is a place's name.
func (n names) place(id string) string {
	if p := n.places[id]; p != nil && p.Name != "" {
		return p.Name
	}
	return id
}
