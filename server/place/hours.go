package place

// SetHours replaces the given days of the week [HRS-1]. week nil = absent.
// Errors (*rule.Error): place_not_found, missing_field, invalid_field; the store's.
func (s *Service) SetHours(placeID string, week Week) (Place, error) { panic("soon") }

// Schedule is the place's next days, today in its zone first [HRS-2]. days
// 1..60. Errors: place_not_found, invalid_query; the store's.
func (s *Service) Schedule(placeID string, days int) (Schedule, error) { panic("soon") }

// GateConfig is the access configuration of a place. Errors: place_not_found;
// the store's.
func (s *Service) GateConfig(placeID string) (GateConfig, error) { panic("soon") }
