package judge

import (
	"cmp"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// Parts judges a history that is too long for memory, one group of places after another: no guarantee about commands
// spans places. What does span them is known for the whole history: who owns an id, an address's token exchanges, when
// the history ends, and which kinds of events it has. A call belongs to the place that it names. First it sees every
// event, then it judges the groups. The zero value works.
type Parts struct {
	whole     whole
	exchanges []history.Event // and the servers' starts, and the run's
	callers   *View           // only those
	verdicts  [][]Verdict
	foreign   Foreign
	unordered int
}

// whole is what a part of a history needs to know about all of it.
type whole struct {
	tells
	clocks    clocks
	owners    map[string]string // places by id
	exchanges []*call           // of tokens
}

// tells are the kinds of evidence in a history.
type tells struct {
	hasIntents bool // the server's device part tells
	hasServer  bool // ... or at least publishes
	hasRecords bool // records are told
	hasReports bool // reports are told
	hasDoors   bool // boards say which journals are in here
	hasTruth   bool // any journal line at all
	hasFalls   bool // boards tell when relays fall
	told       bool // anything beside what clients saw
}

func (t *tells) see(e *history.Event) {
	t.told = t.told || more(e.Kind)
	t.hasFalls = t.hasFalls || e.Kind == history.Released || e.PulseMs != 0 // boards that write how long they pulse tell of falls
	switch e.Kind {
	case history.Intent:
		t.hasIntents, t.hasServer = true, true
	case history.Publish:
		t.hasServer = true
	case history.RecordIn:
		t.hasRecords = true
	case history.Received:
		t.hasReports = true
	case history.Door:
		t.hasDoors = true
	case history.Actuation, history.Presented:
		t.hasTruth = true
	}
}

// See processes an event, in the form in which it will be judged.
func (p *Parts) See(e *history.Event) {
	w := &p.whole
	w.clocks.see(e)
	w.tells.see(e)
	// A server that starts counts its exchanges from zero, so its starts are kept, too, and whether others may have made any.
	exchange := (e.Kind == history.Call || e.Kind == history.Unanswered) && e.Route == ExchangeRoute
	if exchange || e.Kind == history.Started || e.Kind == history.Begun {
		p.exchanges = append(p.exchanges, *e)
	}
	if e.PlaceID == "" {
		return
	}
	each.Put(&w.owners, e.PlaceID, e.PlaceID)
	switch e.Kind {
	case history.Door, history.Online:
		for _, id := range []string{e.BoardID, e.DoorID} {
			if id != "" {
				w.owners[id] = e.PlaceID
			}
		}
	case history.Content:
		if e.GrantID != "" {
			w.owners[e.GrantID] = e.PlaceID
		}
	}
}

// Judge judges a group, whose events are in order and have their Seqs.
func (p *Parts) Judge(events []history.Event) {
	if p.callers == nil {
		slices.SortStableFunc(p.exchanges, func(a, b history.Event) int { return cmp.Compare(a.WallNs, b.WallNs) })
		p.callers = viewOf(numbered(p.exchanges), &p.whole)
		p.whole.exchanges = p.callers.calls()
	}
	v := viewOf(events, &p.whole)
	p.verdicts = append(p.verdicts, Judge(v))
	p.foreign.join(v.Foreign())
	p.unordered += v.Unordered()
}

// Verdicts are the verdicts on the whole history.
func (p *Parts) Verdicts() []Verdict {
	if len(p.verdicts) == 1 {
		return p.verdicts[0]
	}
	out := Combine(p.verdicts...)
	for i := range out {
		if out[i].Clause == "AUTH-3" { // an address has no place
			out[i] = p.callers.clocks.allow(auth3(p.callers))
		}
	}
	return out
}

// Foreign is what others did on the target, at all places.
func (p *Parts) Foreign() Foreign { return p.foreign }

// Unordered is how many pairs of events lay closer than their clocks are known.
func (p *Parts) Unordered() int { return p.unordered }

// join adds the findings of other places.
func (f *Foreign) join(o Foreign) {
	var first []string
	take := func(n *int, names *[]string) string {
		if *n == 0 {
			return ""
		}
		name := (*names)[0]
		*names = (*names)[1:]
		return name
	}
	mine, others := f.First, o.First
	for _, kind := range []struct{ to, from *int }{{&f.Commands, &o.Commands}, {&f.Changes, &o.Changes}, {&f.Presentations, &o.Presentations}} {
		a, b := take(kind.to, &mine), take(kind.from, &others)
		a = cmp.Or(a, b)
		if a != "" {
			first = append(first, a)
		}
		*kind.to += *kind.from
	}
	f.First = first
}
