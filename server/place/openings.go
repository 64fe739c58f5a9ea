package place

import (
	"maps"
	"slices"
	"sync"

	"github.com/doorlab/doorlab/internal/each"
)

// Openings are people's openings in progress: from reading a place's grants, windows and hours until the command is
// handed to the board. A change that takes a right away is answered only once the openings that may have read the old
// state have sent their command; after the answer, no door opens on that right. A nil *Openings counts none.
type Openings struct {
	mu  sync.Mutex
	now map[string]map[*opening]struct{} // by place
}

type opening struct{ ended chan struct{} }

// Begin begins an opening at a place; call it before reading anything. Call end, once or more, when the command is on
// its way or never will be.
func (o *Openings) Begin(placeID string) (end func()) {
	if o == nil {
		return func() {}
	}
	x := &opening{ended: make(chan struct{})}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now == nil {
		o.now = map[string]map[*opening]struct{}{}
	}
	each.Made(o.now, placeID, func() map[*opening]struct{} { return map[*opening]struct{}{} })[x] = struct{}{}
	return sync.OnceFunc(func() { o.end(placeID, x) })
}

func (o *Openings) end(placeID string, x *opening) {
	close(x.ended)
	o.mu.Lock()
	defer o.mu.Unlock()
	if delete(o.now[placeID], x); len(o.now[placeID]) == 0 {
		delete(o.now, placeID)
	}
}

// Wait returns when the openings now in progress at a place have ended. Later ones read what is committed already.
func (o *Openings) Wait(placeID string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	current := slices.Collect(maps.Keys(o.now[placeID]))
	o.mu.Unlock()
	for _, x := range current {
		<-x.ended // [PERM-4]
	}
}
