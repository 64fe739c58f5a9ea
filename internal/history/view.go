package history

import "slices"

// View is a history indexed once: by command, key, board and place. Checkers
// read it and change nothing.
type View struct {
	events   [][]Event
	commands map[string]*command
	order    []*command // by first event
	keys     map[string]*keyUse
	boards   map[string]*board
	places   map[string]*place
	doors    map[string]*board // by door, from Door events
	records  []*Event
	starts   []*Event

	hasIntents bool  // the server's device part tells
	hasServer  bool  // ... or at least publishes
	hasRecords bool  // records are told
	hasDoors   bool  // boards say which journals are in here
	hasTruth   bool  // any journal line at all
	end        int64 // last domain time
	endWall    int64
}

// command is everything about one command id.
type command struct {
	id                                                   string
	place, door, key, op                                 string
	intents, publishes, acts, refusals, answers, records []*Event
}

// keyUse is everything under one Idempotency-Key.
type keyUse struct {
	key                                   string
	attempts, answers, intents, publishes []*Event
}

// board is everything about one board.
type board struct {
	id, place string
	truth     bool // its journal is in the history
	channels  []int
	conn      []*Event // Online, Offline, Line, Started, Wiped, Attached, Detached
	applied   []*Event // Applied and Online, Wiped: what moves the known revision
	onsite    []*Event // Presented, Actuation, Netloss, Online, Applied in order
	presented []*Event
	records   []*Event
	dropped   map[int64]bool
	wiped     []*Event
}

// place is everything about one place.
type place struct {
	id      string
	commits []*Event // rising by revision
	digests map[int64]string
	content content
}

// NewView indexes events, which stand in their order; Seqs are given to events
// that have none. The slice is kept and must not change.
func NewView(events []Event) *View {
	for i := range events {
		if events[i].Seq == 0 {
			events[i].Seq = int64(i + 1)
		}
	}
	return newView([][]Event{events})
}

func newView(parts [][]Event) *View {
	v := &View{
		events: parts, commands: map[string]*command{}, keys: map[string]*keyUse{},
		boards: map[string]*board{}, places: map[string]*place{}, doors: map[string]*board{},
	}
	for _, p := range parts {
		for i := range p {
			v.add(&p[i])
		}
	}
	for _, p := range v.places {
		p.finish()
	}
	return v
}

func (v *View) add(e *Event) {
	v.end, v.endWall = max(v.end, e.At), max(v.endWall, e.WallNs)
	switch e.Kind {
	case Attempt, Answer, Intent, Publish:
		v.addCommand(e)
	case Started:
		v.starts = append(v.starts, e)
		for _, b := range v.boards {
			b.conn = append(b.conn, e)
		}
	case Committed, Content:
		v.place(e.PlaceID).add(e)
	case RecordIn:
		v.addRecord(e)
	case Actuation:
		v.addActuation(e)
	case Door, Online, Offline, Applied, Presented, Netloss, Line, Dropped, Wiped, Detached, Attached:
		if e.BoardID != "" {
			v.board(e.BoardID).add(v, e)
		}
	}
}

func (v *View) addCommand(e *Event) {
	v.hasIntents = v.hasIntents || e.Kind == Intent
	v.hasServer = v.hasServer || e.Kind == Intent || e.Kind == Publish
	if e.Key != "" {
		k := v.keys[e.Key]
		if k == nil {
			k = &keyUse{key: e.Key}
			v.keys[e.Key] = k
		}
		switch e.Kind {
		case Attempt:
			k.attempts = append(k.attempts, e)
		case Answer:
			k.answers = append(k.answers, e)
		case Intent:
			k.intents = append(k.intents, e)
		case Publish:
			k.publishes = append(k.publishes, e)
		}
	}
	if e.CommandID == "" {
		return
	}
	c := v.command(e)
	switch e.Kind {
	case Answer:
		c.answers = append(c.answers, e)
	case Intent:
		c.intents = append(c.intents, e)
	case Publish:
		c.publishes = append(c.publishes, e)
	}
}

// command is the command of an event, with what the event knows of it.
func (v *View) command(e *Event) *command {
	c := v.commands[e.CommandID]
	if c == nil {
		c = &command{id: e.CommandID}
		v.commands[e.CommandID] = c
		v.order = append(v.order, c)
	}
	fill := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	if e.Kind != Actuation { // what was asked, not what a board did
		fill(&c.place, e.PlaceID)
		fill(&c.door, e.DoorID)
		fill(&c.key, e.Key)
	}
	if e.Kind == Intent || e.Kind == Publish {
		fill(&c.op, e.Op)
	}
	return c
}

func (v *View) addRecord(e *Event) {
	v.hasRecords = true
	v.records = append(v.records, e)
	if e.CommandID != "" {
		c := v.command(e)
		c.records = append(c.records, e)
	}
	if e.BoardID != "" && e.RecordSeq != 0 {
		b := v.board(e.BoardID)
		b.records = append(b.records, e)
	}
}

func (v *View) addActuation(e *Event) {
	v.hasTruth = true
	b := v.board(e.BoardID)
	b.onsite = append(b.onsite, e)
	if b.place == "" {
		b.place = e.PlaceID
	}
	if e.Cause != "command" || e.CommandID == "" {
		return
	}
	c := v.command(e)
	if moved(e) {
		c.acts = append(c.acts, e)
	} else {
		c.refusals = append(c.refusals, e)
	}
}

// moved: the relay did something; refuse and deny are journal lines only.
func moved(e *Event) bool {
	switch e.Action {
	case "pulse", "hold", "lock", "off":
		return true
	}
	return false
}

func (v *View) board(id string) *board {
	b := v.boards[id]
	if b == nil {
		b = &board{id: id}
		v.boards[id] = b
	}
	return b
}

func (b *board) add(v *View, e *Event) {
	if b.place == "" || e.Kind == Door {
		if e.PlaceID != "" {
			b.place = e.PlaceID
		}
	}
	switch e.Kind {
	case Door:
		v.hasDoors, b.truth = true, true
		v.doors[e.DoorID] = b
		if !slices.Contains(b.channels, e.Channel) {
			b.channels = append(b.channels, e.Channel)
		}
	case Online:
		b.conn, b.applied, b.onsite = append(b.conn, e), append(b.applied, e), append(b.onsite, e)
	case Offline, Line, Detached:
		b.conn = append(b.conn, e)
	case Attached, Wiped:
		b.conn, b.applied, b.onsite = append(b.conn, e), append(b.applied, e), append(b.onsite, e)
		if e.Kind == Wiped {
			b.wiped = append(b.wiped, e)
		}
	case Applied:
		b.applied, b.onsite = append(b.applied, e), append(b.onsite, e)
	case Presented:
		v.hasTruth = true
		b.presented, b.onsite = append(b.presented, e), append(b.onsite, e)
	case Netloss:
		b.onsite = append(b.onsite, e)
	case Dropped:
		if b.dropped == nil {
			b.dropped = map[int64]bool{}
		}
		b.dropped[e.RecordSeq] = true
	}
}

func (v *View) place(id string) *place {
	p := v.places[id]
	if p == nil {
		p = &place{id: id, digests: map[int64]string{}}
		v.places[id] = p
	}
	return p
}

func (p *place) add(e *Event) {
	if e.Kind == Content {
		p.content.add(e)
		return
	}
	p.commits = append(p.commits, e)
	if e.Digest != "" {
		p.digests[e.Revision] = e.Digest
	}
}

func (p *place) finish() {
	slices.SortStableFunc(p.commits, func(a, b *Event) int { return int(a.Revision - b.Revision) })
	p.content.finish()
}

// truth reports whether the journal of a command's board is in the history.
func (v *View) truth(c *command) bool {
	if !v.hasDoors {
		return v.hasTruth
	}
	for _, e := range c.publishes {
		if b := v.boards[e.BoardID]; b == nil || !b.truth {
			return false
		}
	}
	return len(c.publishes) > 0 || v.doors[c.door] != nil
}

// sortedBoards are the boards by id: verdicts must not depend on map order.
func (v *View) sortedBoards() []*board {
	out := make([]*board, 0, len(v.boards))
	for _, b := range v.boards {
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b *board) int {
		switch {
		case a.id < b.id:
			return -1
		case a.id > b.id:
			return 1
		}
		return 0
	})
	return out
}

// before orders two events: by the wall when both have a stamp, else by arrival.
func before(a, b *Event) bool {
	if a.WallNs != 0 && b.WallNs != 0 && a.WallNs != b.WallNs {
		return a.WallNs < b.WallNs
	}
	return a.Seq < b.Seq
}

// earliest is the first of some events, nil of none.
func earliest(events ...[]*Event) *Event {
	var out *Event
	for _, es := range events {
		for _, e := range es {
			if out == nil || before(e, out) {
				out = e
			}
		}
	}
	return out
}
