package history

import (
	"cmp"
	"hash/fnv"
	"slices"
)

const (
	divisionShares = 512 // by place
	divisionPage   = 128 // events of a share that are written together; all shares together hold at most 30 MB
)

// Division is a history of any length on disk, divided by place. No guarantee about commands spans places, so groups of
// places can be judged separately. Common events, which name no place, such as the start of a server, belong to every
// group.
type Division struct {
	file   *pages
	shares [divisionShares]share
	common []Event
	boards map[string]string // board to place, of events that name only the board
	doors  map[string]string // door to place: what happens at a door is judged there, whoever asked
	n      int64             // events so far: their Seq until they are read
	begin  []int64           // of each list: n
}

// share is the part that belongs to some of the places.
type share struct {
	pages   []page
	pending []Event
	events  int64
}

// NewDivision is an empty division in an unnamed file of dir ("" = the system's directory for temporary files). Errors:
// the file system's.
func NewDivision(dir string) (*Division, error) {
	f, err := newPages(dir)
	if err != nil {
		return nil, err
	}
	return &Division{file: f, boards: map[string]string{}, doors: map[string]string{}}, nil
}

// Door tells where a door is, for the events that come before the history says so.
func (d *Division) Door(id, placeID string) { d.doors[id] = placeID }

// Next begins another list: what one process contributed. Lists are kept apart when they are read.
func (d *Division) Next() { d.begin = append(d.begin, d.n) }

// Add adds the next event of the list; its Seq is lost. Errors: the file system's.
func (d *Division) Add(e Event) error {
	d.n++
	e.Seq = d.n
	place := e.PlaceID
	switch {
	case Common(&e):
		d.common = append(d.common, e)
		return nil
	case place == "":
		place = d.boards[e.BoardID]
	case e.BoardID != "":
		d.boards[e.BoardID] = place
	}
	if e.Kind == Door {
		d.doors[e.DoorID] = place
	} else if at := d.doors[e.DoorID]; at != "" {
		place = at
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(place))
	s := &d.shares[h.Sum32()%divisionShares]
	s.events++
	s.pending = append(s.pending, e)
	if len(s.pending) < divisionPage {
		return nil
	}
	return d.flush(s)
}

func (d *Division) flush(s *share) error {
	if len(s.pending) == 0 {
		return nil
	}
	at, err := d.file.put(s.pending)
	s.pages, s.pending = append(s.pages, at), s.pending[:0]
	return err
}

// Common reports whether an event belongs to no place. A call that names none, answered or not, comes from an unknown
// caller; there is one group for all of those.
func Common(e *Event) bool {
	return e.PlaceID == "" && e.BoardID == "" && e.Kind != Call && e.Kind != Unanswered
}

// Groups calls f for one group of places after another, with the lists of its events, each in order. A group has at
// most most events besides the common ones, or else those of a single share. Errors: f's and the file system's.
func (d *Division) Groups(most int64, f func(lists [][]Event) error) error {
	var group []*share
	var size int64
	given := false
	give := func() error {
		lists, err := d.read(group)
		if err == nil {
			err = f(lists)
		}
		group, size, given = nil, 0, true
		return err
	}
	for i := range d.shares {
		s := &d.shares[i]
		if s.events == 0 {
			continue
		}
		if size > 0 && size+s.events > most {
			if err := give(); err != nil {
				return err
			}
		}
		group, size = append(group, s), size+s.events
	}
	if size > 0 || !given { // there is always at least one group
		return give()
	}
	return nil
}

// read restores the events of shares to the order of their lists.
func (d *Division) read(group []*share) ([][]Event, error) {
	all := slices.Clone(d.common)
	for _, s := range group {
		for _, at := range s.pages {
			events, err := d.file.get(at)
			if err != nil {
				return nil, err
			}
			all = append(all, events...)
		}
		all = append(all, s.pending...)
	}
	slices.SortFunc(all, func(a, b Event) int { return cmp.Compare(a.Seq, b.Seq) })
	lists := make([][]Event, len(d.begin))
	for i := len(d.begin) - 1; i >= 0; i-- {
		from, _ := slices.BinarySearchFunc(all, d.begin[i]+1, func(e Event, seq int64) int { return cmp.Compare(e.Seq, seq) })
		lists[i], all = all[from:], all[:from]
	}
	return lists, nil
}

// Close frees the space.
func (d *Division) Close() error { return d.file.close() }
