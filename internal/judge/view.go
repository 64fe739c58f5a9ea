package judge

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// View is a history indexed once: by command, key, board and place. Checkers only read it.
type View struct {
	events   []history.Event
	commands map[string]*command
	order    []*command // by first event
	keys     map[string]*keyUse
	boards   map[string]*board
	seats    map[string]*seat // of boards that were ever detached
	places   map[string]*place
	doors    map[string]*board // by door, from Door events
	records  []*history.Event
	starts   []*history.Event
	signs    []*history.Event // what each start's server had told of last before it, nil = nothing
	lastSign *history.Event
	nameless []*history.Event            // 200 of a door command without its id
	misfits  []*history.Event            // answers to commands whose status isn't that of their outcome
	unasked  []*history.Event            // movements for a command without its id
	looks    []*history.Event            // at what boards have
	hands    map[string][]*history.Event // by board: Hand, and Attached after one

	tells
	whole    *whole // the history of which this is a part; nil = this is all of it
	rawCalls []*history.Event
	found    int                               // how many of rawCalls are from before the run
	unheard  []*history.Event                  // requests without an answer
	known    func() []*call                    // of the public API, taken apart once
	unsure   func() []*call                    // that may have changed something, though nobody was told
	excused  map[*history.Event]*history.Event // attempts, by the record whose missing intent they explain
	decided  func() *decisions                 // all presentations, judged once
	claims   func() []*claim                   // what clients were told, read once
	second   func() *second                    // ... and held against the server's content
	driven   func() book                       // how long relays were driven
	served   func() *served                    // links and phones decided by the server
	tokens   func() tokens                     // given out to clients
	read     func() book                       // permits that clients read
	counted  struct {                          // each once: CMD-6 looks at their findings, too
		cmd1, cmd2, cmd3 func() *tally
		cmd4             func() (*tally, cmd4numbers)
		cmd5             func() (t *tally, repeats int)
	}

	byDoor   func() map[string][]*command     // in order
	lastSeen func() map[string]*history.Event // by board or place, "" = all: see lastLooked

	begun *history.Event  // the start of the run, nil if the history covers the target's whole life
	early map[string]bool // commands in flight when the run began: others gave them, and their start is missing

	end     int64 // last domain time
	endWall int64

	clocks clocks // of the processes that told the history
}

// command is everything about one command id.
type command struct {
	traffic
	id                   string
	place, door, key, op string
	acts, records        []*history.Event

	reports []*history.Event // Received
	faults  []*history.Event // that hit it
	to      *board           // whom it was sent to first
	found   bool             // by the run when it began
}

// keyUse is everything under one Idempotency-Key.
type keyUse struct {
	traffic
	key string
}

// traffic is what was asked for and answered, and what the server told of it.
type traffic struct {
	attempts, answers, intents, publishes []*history.Event
}

func (t *traffic) add(e *history.Event) {
	switch e.Kind {
	case history.Attempt:
		t.attempts = append(t.attempts, e)
	case history.Answer:
		t.answers = append(t.answers, e)
	case history.Intent:
		t.intents = append(t.intents, e)
	case history.Publish:
		t.publishes = append(t.publishes, e)
	}
}

// board is everything about one board.
type board struct {
	id, place string
	truth     bool  // its journal is in the history
	guest     bool  // a real board in place of a detached simulated one
	told      bool  // a guest that somebody speaks to in the server's place: whether it is in sync isn't the server's doing
	epoch     int64 // of its last connection
	channels  []int
	conn      []*history.Event // Online, Offline, Line, Started, Wiped, Attached, Detached
	applied   []*history.Event // Applied and Online, Wiped: what moves the known revision
	onsite    []*history.Event // Presented, Actuation, Netloss, Applied and all of conn, in order
	presented []*history.Event
	records   []*history.Event
	dropped   map[int64]bool
	wiped     []*history.Event
	deaths    []*history.Event // Rebooted, Wiped
	connected []span           // once asked for
}

// place is everything about one place.
type place struct {
	id      string
	commits []*history.Event // rising by revision
	raised  []*history.Event // the same with what they changed: a run may have begun between the two
	digests map[int64]string
	content content
	entries []stated[[]string] // the entry doors, in the order in which callers get them
}

// NewView indexes events, which must be in order; those without a Seq get one. The slice is kept and must not change.
func NewView(events []history.Event) *View { return viewOf(numbered(events), nil) }

func numbered(events []history.Event) []history.Event {
	for i := range events {
		events[i].Seq = cmp.Or(events[i].Seq, int64(i+1))
	}
	return events
}

// Told reports whether a history contains anything from server or boards, beside what clients saw.
func Told(events []history.Event) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool { return more(e.Kind) })
}

func more(kind string) bool {
	switch kind {
	case history.Started, history.Committed, history.Intent, history.Publish, history.Online, history.Door, history.Actuation, history.RecordIn:
		return true
	}
	return false
}

func viewOf(events []history.Event, of *whole) *View {
	v := &View{
		events: events, whole: of, commands: map[string]*command{}, keys: map[string]*keyUse{},
		boards: map[string]*board{}, places: map[string]*place{}, seats: map[string]*seat{}, hands: map[string][]*history.Event{}, doors: map[string]*board{}, excused: map[*history.Event]*history.Event{}, early: map[string]bool{},
	}
	for i := range events {
		v.add(&events[i])
	}
	if of != nil {
		v.tells, v.clocks.of = of.tells, of.clocks.of
	}
	v.end, v.endWall = v.clocks.ends()
	for _, p := range v.places {
		p.finish()
	}
	v.known = sync.OnceValue(func() []*call { return parseCalls(v.rawCalls, v.found) })
	v.unsure = sync.OnceValue(v.unsureCalls)
	v.decided = sync.OnceValue(v.decisions)
	v.claims = sync.OnceValue(v.claimed)
	v.second = sync.OnceValue(v.secondContent)
	v.driven = sync.OnceValue(v.relays)
	v.served = sync.OnceValue(v.serverDecisions)
	v.tokens = sync.OnceValue(v.givenTokens)
	v.read = sync.OnceValue(v.readBack)
	v.counted.cmd1, v.counted.cmd2, v.counted.cmd3 = sync.OnceValue(v.cmd1), sync.OnceValue(v.cmd2), sync.OnceValue(v.cmd3)
	v.counted.cmd4, v.counted.cmd5 = sync.OnceValues(v.cmd4), sync.OnceValues(v.cmd5)
	v.byDoor = sync.OnceValue(v.commandsByDoor)
	v.lastSeen = sync.OnceValue(v.lastLooked)
	return v
}

// fromServer are the events that only a server that is running tells of.
var fromServer = each.Set([]string{history.Committed, history.Intent, history.Publish, history.Received, history.Online, history.Applied, history.RecordIn}, func(kind string) string { return kind })

func (v *View) add(e *history.Event) {
	v.clocks.see(e)
	v.tells.see(e)
	if fromServer[e.Kind] {
		v.lastSign = e
	}
	switch e.Kind {
	case history.Attempt, history.Answer, history.Intent, history.Publish:
		v.addCommand(e)
	case history.Started:
		v.starts, v.signs = append(v.starts, e), append(v.signs, v.lastSign)
		for _, b := range v.everyBoard() {
			b.conn, b.onsite = append(b.conn, e), append(b.onsite, e)
		}
	case history.Begun:
		v.begin(e)
		for _, b := range v.everyBoard() {
			b.onsite = append(b.onsite, e)
		}
	case history.Entries:
		say(&v.place(e.PlaceID).entries, e)
	case history.Committed, history.Content:
		v.place(e.PlaceID).add(e)
	case history.RecordIn:
		v.addRecord(e)
	case history.Actuation:
		v.addActuation(e)
	case history.Call:
		v.rawCalls = append(v.rawCalls, e)
		v.addPolicy(e)
	case history.Unanswered:
		v.unheard = append(v.unheard, e)
	case history.Hand:
		v.hands[e.BoardID] = append(v.hands[e.BoardID], e)
		if s := v.seats[e.BoardID]; s != nil && e.Op == "tell" {
			s.guests[len(s.guests)-1].told = true
		}
	case history.Look:
		v.looks = append(v.looks, e)
	case history.Received:
		if e.CommandID != "" {
			c := v.command(e)
			c.reports = append(c.reports, e)
		}
	case history.Fault:
		if e.CommandID != "" {
			c := v.command(e)
			c.faults = append(c.faults, e)
		}
	case history.Door, history.Online, history.Offline, history.Applied, history.Presented, history.Released, history.Netloss, history.Line, history.Dropped, history.Wiped, history.Rebooted, history.Detached, history.Attached:
		if e.BoardID != "" {
			v.speaker(e).add(v, e)
		}
	}
}

func (v *View) addCommand(e *history.Event) {
	if e.Key != "" {
		each.Made(v.keys, e.Key, func() *keyUse { return &keyUse{key: e.Key} }).add(e)
	}
	switch named := e.CommandID != ""; {
	case e.Kind == history.Answer && !named && e.Status == 200 && e.Meaning != "":
		v.nameless = append(v.nameless, e)
	case e.Kind == history.Answer && e.Meaning != "" && (named || definite(e)) && statusOf[e.Outcome] != e.Status:
		v.misfits = append(v.misfits, e)
	}
	if e.CommandID == "" {
		return
	}
	c := v.command(e)
	if e.Kind == history.Publish && c.to == nil && e.BoardID != "" {
		c.to = v.speaker(e)
	}
	c.add(e)
}

// command is the command of an event, updated with what the event knows about it.
func (v *View) command(e *history.Event) *command {
	c := v.commands[e.CommandID]
	if c == nil {
		c = &command{id: e.CommandID}
		v.commands[e.CommandID] = c
		if v.early[c.id] = v.isEarly(e); !v.early[c.id] {
			v.order = append(v.order, c)
		}
	}
	if e.Kind == history.Intent && v.early[c.id] && !c.found { // the board's clock is a little behind: its actuation seemed to come first
		delete(v.early, c.id)
		v.order = append(v.order, c)
	}
	if e.Kind != history.Actuation && e.Kind != history.Received && e.Kind != history.Fault { // what was asked for, not what a board did
		c.place, c.door, c.key = cmp.Or(c.place, e.PlaceID), cmp.Or(c.door, e.DoorID), cmp.Or(c.key, e.Key)
	}
	if e.Kind == history.Intent || e.Kind == history.Publish {
		c.op = cmp.Or(c.op, e.Op)
	}
	return c
}

// begin handles the start of a run: everything reported so far is the state that the run found. That isn't judged
// again, but the run's own commands and calls are compared with it.
func (v *View) begin(e *history.Event) {
	v.begun, v.found, v.order, v.unasked = e, len(v.rawCalls), nil, nil // a hold that stands has no command any more
	for id, c := range v.commands {
		v.early[id], c.found = true, true
	}
}

// earlyMs is how long after the start of a run, in wall time, a command given before it may still be in progress.
const earlyMs = 15 * 1000

// isEarly reports whether a command was given before the run: its first event isn't its intent, and comes soon after
// the start of the run.
func (v *View) isEarly(e *history.Event) bool {
	return v.begun != nil && v.begun.Op != history.Quiet && e.Kind != history.Intent && e.Kind != history.Answer && e.WallNs-v.begun.WallNs < earlyMs*1e6
}

func (v *View) addRecord(e *history.Event) {
	v.records = append(v.records, e)
	if e.CommandID != "" {
		c := v.command(e)
		c.records = append(c.records, e)
	}
	if e.BoardID != "" && e.RecordSeq != 0 {
		b := v.speaker(e)
		b.records = append(b.records, e)
	}
}

// truth reports whether the journal of a command's board is in the history.
func (v *View) truth(c *command) bool {
	if !v.hasDoors {
		return v.hasTruth
	}
	for _, e := range c.publishes {
		if b := v.boards[e.BoardID]; b == nil || !b.truth || c.to.guest {
			return false
		}
	}
	return len(c.publishes) > 0 || v.doors[c.door] != nil
}

func (v *View) commandsByDoor() map[string][]*command {
	return each.By(v.order, func(c *command) string { return c.door })
}

// sortedBoards are the boards by id: verdicts must not depend on map order.
func (v *View) sortedBoards() []*board {
	out := v.everyBoard()
	slices.SortStableFunc(out, func(a, b *board) int { return strings.Compare(a.id, b.id) })
	return out
}
