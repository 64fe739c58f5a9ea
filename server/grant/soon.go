package grant

func (s *Service) register(by By, r RegisterRequest) (Registered, error)            { panic("soon") }
func (s *Service) revoke(by By, r RevokeRequest) (Permit, error)                    { panic("soon") }
func (s *Service) listPermits(placeID string, q ListQuery) ([]Permit, int, error)   { panic("soon") }
func (s *Service) get(placeID, permitID string) (PermitDetail, error)               { panic("soon") }
func (s *Service) createTerm(by By, kind string, r TermRequest) (Term, error)       { panic("soon") }
func (s *Service) cancel(by By, kind, id string) (Term, error)                      { panic("soon") }
func (s *Service) listTerms(placeID, kind string, q ListQuery) ([]Term, int, error) { panic("soon") }
func paged(q ListQuery) ListQuery                                                   { return q }
func (s *Service) customerRow(tx Tx, by By, source string, row []byte) (RowResult, error) {
	panic("soon")
}
func (s *Service) membershipRow(tx Tx, by By, source string, row []byte) (RowResult, error) {
	panic("soon")
}
func (s *Service) importRows(by By, r ImportRequest, f func(Tx, By, string, []byte) (RowResult, error)) (ImportResult, error) {
	panic("soon")
}
