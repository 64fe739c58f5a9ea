package place

// PatchPlace is the operator's change of a place. Errors (*rule.Error):
// place_not_found, invalid_field, invalid_phone, rule_violated (the number is
// another place's); the store's.
func (s *Service) PatchPlace(placeID string, p PlacePatch) (Place, error) { panic("soon") }

// PatchDoor is the operator's change of a door. Errors: device_not_found,
// invalid_field; the store's.
func (s *Service) PatchDoor(doorID string, p DoorPatch) (Door, error) { panic("soon") }
