package testbed

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
)

// Within one process, a jump of the clock waits for what is in flight between server and boards. Between processes it
// can't see that, so check asks both sides first (POST /clock/settle).

// endsWithin bounds the wait for a server that doesn't notice the end of a connection, which the network between the
// two processes may have lost.
const endsWithin = 5 * time.Second

// endings are the connections that a fleet has ended: the address by board.
type endings struct {
	Connections map[string]string `json:"connections"`
}

// pending is what was given up: connections whose end the server doesn't know about, or boards that lack a change.
type pending struct {
	Pending int `json:"pending"`
}

// settle makes the fleet's server handle the end of every connection that the fleet has ended, so that the server dates
// the outage to the cut, not to a jump of both clocks after it.
func (p *peer) settle(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	server := p.server
	p.mu.Unlock()
	out := pending{}
	if server != nil {
		connections := p.flight.TakeEnded()
		out.Pending = len(connections) // a server that doesn't answer has handled none
		if len(connections) > 0 {
			ctx, cancel := context.WithTimeout(r.Context(), endsWithin+peerTimeout)
			defer cancel()
			_ = server.Do(ctx, http.MethodPost, control.Prefix+"/connections/ended", endings{connections}, &out)
		}
	}
	control.Data(w, out)
}

// awaitEnded is the server's side of settle.
func (t *Testbed) awaitEnded(w http.ResponseWriter, r *http.Request) {
	var b endings
	if !control.Body(w, r, &b) {
		return
	}
	if b.Connections == nil {
		control.FailMissing(w, "connections", "is missing: the address of each ended connection, by board")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), endsWithin)
	defer cancel()
	control.Data(w, pending{standing(ctx, t.flight, b.Connections)})
}

// standing waits, for at most as long as ctx allows, until the server has handled the end of these connections, and
// returns how many are left.
func standing(ctx context.Context, f *clock.Flight, connections map[string]string) (n int) {
	for boardID, address := range connections {
		left := f.Left(boardID, address)
		if left == nil {
			continue
		}
		select {
		case <-left:
		case <-ctx.Done():
			n++
		}
	}
	return n
}

// A board that is sent a change has it within milliseconds. If no board got one for this long, those that still lack
// one are given up, once per revision, as Flight.Settle does with messages.
const (
	quietBoards = 2 * time.Second
	lookBoards  = 5 * time.Millisecond
)

// settle waits until the connected boards of other processes have what they should have.
func (t *Testbed) settle(w http.ResponseWriter, r *http.Request) {
	lacking := untilQuiet(r.Context(), t.lacking)
	t.givenUp.Lock()
	defer t.givenUp.Unlock()
	if t.givenUp.revision == nil {
		t.givenUp.revision = map[string]int64{}
	}
	maps.Copy(t.givenUp.revision, lacking)
	control.Data(w, pending{len(lacking)})
}

// untilQuiet polls until nothing is lacking any more, nothing has changed for a while, or new changes have come for too long.
func untilQuiet(ctx context.Context, look func() map[string]int64) map[string]int64 {
	lacking, began := look(), clock.Mono()
	for moved := began; len(lacking) > 0 && clock.Mono()-moved < quietBoards && clock.Mono()-began < endsWithin; {
		if client.Pause(ctx, lookBoards) != nil {
			break
		}
		now := look()
		if !maps.Equal(now, lacking) {
			moved = clock.Mono()
		}
		lacking = now
	}
	return lacking
}

// lacking are the connected boards of other processes that lack a change and haven't been given up, with the revision
// they should have.
func (t *Testbed) lacking() map[string]int64 {
	out, fleet := map[string]int64{}, t.boards.Load()
	for id := range t.life.Load().behind() {
		if fleet == nil || !fleet.Simulates(id) {
			out[id] = t.desired(id)
		}
	}
	t.givenUp.Lock()
	defer t.givenUp.Unlock()
	maps.DeleteFunc(out, func(id string, revision int64) bool { return t.givenUp.revision[id] == revision })
	return out
}
