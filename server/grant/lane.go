package grant

import (
	"sync"
	"time"

	"github.com/doorlab/doorlab/server/fail"
)

// imports runs one import at a time per place; a few more may wait.
type imports struct {
	mu sync.Mutex
	of map[string]*lane // by place; none when nothing runs there
}

type lane struct {
	turn  chan struct{} // holds the one that runs
	there int           // the running one and those that wait
}

// maxImports bounds the imports of a place, including waiting ones: each holds its rows in memory.
const maxImports = 8

// begin waits its turn; end passes the turn on. Error (*fail.Error): too_many_in_flight.
func (i *imports) begin(placeID string) (end func(), err error) {
	i.mu.Lock()
	l := i.of[placeID]
	if l == nil {
		l = &lane{turn: make(chan struct{}, 1)}
		i.of[placeID] = l
	}
	if l.there >= maxImports {
		i.mu.Unlock()
		return nil, &fail.Error{Code: fail.TooManyInFlight, Message: "too many imports are waiting at this place; try again", RetryAfter: time.Second}
	}
	l.there++
	i.mu.Unlock()
	l.turn <- struct{}{}
	return func() {
		<-l.turn
		i.mu.Lock()
		defer i.mu.Unlock()
		if l.there--; l.there == 0 {
			delete(i.of, placeID)
		}
	}, nil
}
