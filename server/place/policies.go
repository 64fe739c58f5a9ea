package place

// Policies lists the window policies of a door of the place. Errors
// (*rule.Error): device_not_found; the store's.
func (s *Service) Policies(placeID, doorID string) ([]PolicyView, error) { panic("soon") }

// SetPolicy stores a window policy: one per ref, up to 20 custom ones; a repeat
// replaces [CMD-8]. Errors: device_not_found, missing_field, invalid_field,
// invalid_period, rule_violated (the 21st custom one); the store's.
func (s *Service) SetPolicy(placeID, doorID string, r PolicyRequest) (PolicyView, error) {
	panic("soon")
}

// DeletePolicies removes policies and says how many. Errors: device_not_found,
// invalid_query (ref); the store's.
func (s *Service) DeletePolicies(placeID, doorID string, q PolicyQuery) (deleted int, err error) {
	panic("soon")
}
