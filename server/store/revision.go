package store

// OnRevision registers f, which is called after every commit that raised a place's revision, before the writes of that
// commit are answered. f must not block and must not write.
func (s *Store) OnRevision(f func(placeID string, rev int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRevision = append(s.onRevision, f)
}

func (s *Store) announce(b *batch) {
	s.mu.Lock()
	fs, tell := s.onRevision, s.history
	s.mu.Unlock()
	if tell != nil {
		for i := range b.settled {
			b.events = append(b.events, recordIn(&b.settled[i].Record))
		}
		s.tell(tell, b.events)
	}
	for _, r := range b.raised {
		for _, f := range fs {
			f(r.placeID, r.rev)
		}
	}
}

// Revision is a place's current revision. Error: fail.ErrNotFound.
func (s *Store) Revision(placeID string) (rev int64, err error) {
	rev, err = s.q.Revision(ctx, placeID)
	return rev, wrap(err)
}
