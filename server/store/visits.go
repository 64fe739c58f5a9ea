package store

import "sync"

// visits are the openings by people that are between reading a place's grants,
// windows and hours and handing the command to the board. A change that takes a
// right away is answered only when those that may have read it as it was have
// sent: after the answer no door opens for it any more [PERM-4].
type visits struct {
	mu  sync.Mutex
	now map[string]map[*visit]struct{} // by place
}

type visit struct{ over chan struct{} }

// Visit begins an opening at a place; end it, once or more, when its command is
// on its way or will never be. server/entry reads what it decides from in between.
func (s *Store) Visit(placeID string) (end func()) {
	v := &visit{over: make(chan struct{})}
	s.visits.mu.Lock()
	defer s.visits.mu.Unlock()
	if s.visits.now == nil {
		s.visits.now = map[string]map[*visit]struct{}{}
	}
	if s.visits.now[placeID] == nil {
		s.visits.now[placeID] = map[*visit]struct{}{}
	}
	s.visits.now[placeID][v] = struct{}{}
	return sync.OnceFunc(func() { s.visits.end(placeID, v) })
}

func (vs *visits) end(placeID string, v *visit) {
	close(v.over)
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if delete(vs.now[placeID], v); len(vs.now[placeID]) == 0 {
		delete(vs.now, placeID)
	}
}

// wait returns when the visits that are under way now are over. Those that
// begin later read what is committed already.
func (vs *visits) wait(placeID string) {
	vs.mu.Lock()
	var under []*visit
	for v := range vs.now[placeID] {
		under = append(under, v)
	}
	vs.mu.Unlock()
	for _, v := range under {
		<-v.over
	}
}
