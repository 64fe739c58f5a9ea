package grant

import (
	"sync"
	"time"

	"github.com/doorlab/doorlab/server/fail"
)

// imports runs one import at a time per place; a few more may wait.
type imports struct{ of sync.Map } // place id -> *lane

// lane is a place's queue. It stays once it is there: only places with a key get one.
type lane struct {
	there chan struct{} // filled by the import that runs and those that wait
	turn  chan struct{} // filled by the one that runs
}

// maxImports bounds the imports of a place, including waiting ones: each holds its rows in memory.
const maxImports = 8

// begin waits its turn; end passes the turn on. Error (*fail.Error): too_many_in_flight.
func (i *imports) begin(placeID string) (end func(), err error) {
	v, _ := i.of.LoadOrStore(placeID, &lane{there: make(chan struct{}, maxImports), turn: make(chan struct{}, 1)})
	l := v.(*lane)
	select {
	case l.there <- struct{}{}:
	default:
		return nil, &fail.Error{Code: fail.TooManyInFlight, Message: "too many imports are waiting at this place; try again", RetryAfter: time.Second}
	}
	l.turn <- struct{}{}
	return func() { <-l.turn; <-l.there }, nil
}
