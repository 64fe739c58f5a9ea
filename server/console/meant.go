package console

import (
	"errors"
	"fmt"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// noPlace names a place that doesn't exist, and the one that was probably meant. Other errors stay as they are.
func (c Config) noPlace(id string, err error) error {
	if !errors.Is(err, fail.ErrNotFound) && fail.CodeOf(err) != fail.PlaceNotFound {
		return err
	}
	known := each.Of(c.places(), func(p place.Place) string { return p.ID })
	return fail.New(fail.PlaceNotFound, fmt.Sprintf("place %q not found%s ('doorlab place list' shows them)", id, near.Hint(id, known)), "field", "placeId")
}

// noDoor is noPlace for a door. where says where it was looked for; placeID "" = at any place.
func (c Config) noDoor(id, placeID, where string, err error) error {
	if !errors.Is(err, fail.ErrNotFound) && fail.CodeOf(err) != fail.DeviceNotFound {
		return err
	}
	var known []string
	for _, p := range c.places() {
		if placeID != "" && p.ID != placeID {
			continue
		}
		doors, _ := c.Explain.Doors(p.ID) // none: the refusal has no hint
		known = append(known, each.Of(doors, func(d place.Door) string { return d.ID })...)
	}
	return fail.New(fail.DeviceNotFound, fmt.Sprintf("no door %q %s%s ('doorlab place show' lists a place's doors)", id, where, near.Hint(id, known)), "field", "doorId")
}

// places are all places; none beside a stopped server, or if they can't be read: then a refusal has no hint.
func (c Config) places() []place.Place {
	if c.Explain.Places == nil {
		return nil
	}
	list, _ := c.Explain.Places()
	return list
}
