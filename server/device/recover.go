package device

// Recover settles the intents that an earlier life of the server left without
// an outcome as noResponse, their records included, and returns how many.
// Nothing is sent again [CMD-6].
func (s *Service) Recover() (int, error) {
	list, err := s.cfg.Ledger.Unsettled()
	if err != nil {
		return 0, err
	}
	for i, in := range list {
		if _, err := s.abandon(in); err != nil {
			return i, err
		}
	}
	return len(list), nil
}

// abandon settles an intent whose outcome nobody will ever know: the answer is
// the 504 that was committed with it.
func (s *Service) abandon(in Intent) (Answer, error) {
	st := Settlement{Intent: in, Outcome: NoResponse, Status: in.Status, Body: in.Body}
	if err := s.cfg.Ledger.Settle(st); err != nil {
		return Answer{}, err
	}
	s.count.recovered.Add(1)
	return Answer{Status: in.Status, Body: in.Body, Result: Result{CommandID: in.CommandID, DoorID: in.DoorID, Command: in.Command,
		Outcome: NoResponse, TimeoutMs: s.cfg.Wait.Milliseconds(), RequestedAt: in.RequestedAt}}, nil
}
