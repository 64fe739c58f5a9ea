package api

import (
	"cmp"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/place"
)

// listDevices lists the doors, the only kind of device so far.
func listDevices(c *call) (any, error) {
	doors, err := c.api.cfg.Directory.Doors(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	devices := each.Of(doors, func(d place.Door) gen.Device { return deviceView(d, c.api.cfg.Boards.Status(d.BoardID)) })
	return listed(devices, len(devices), appendDevice), nil
}

// getDevice shows one door, with its standing.
func getDevice(c *call) (any, error) {
	s := c.api.cfg.Boards.Status(c.door.BoardID)
	d := gen.DeviceDetail{Device: deviceView(c.door, s)}
	if w, ok := s.Standings[c.door.Channel]; ok {
		at := s.LastSeenAt
		if w.ReportedAt != 0 {
			at = time.UnixMilli(w.ReportedAt)
		}
		d.Standing = standingView(&w.Standing, at, s.State == board.Online)
	}
	return d, nil
}

func deviceView(d place.Door, s board.Status) gen.Device {
	h := gen.Health{State: s.State, Since: stamp.Time(s.Since), LastSeenAt: stamp.Time(s.LastSeenAt)}
	h.State = cmp.Or(h.State, board.Unknown)
	return gen.Device{ID: d.ID, Name: d.Name, Kind: "door", Health: h,
		Capabilities: gen.Capabilities{Door: doorCommands}}
}

// doorCommands is what every door can do. Read only.
var doorCommands = []string{command.Open, command.Hold, command.Close}

// standingView is nil for a board that has said nothing about the door.
func standingView(w *board.Standing, at time.Time, fresh bool) *gen.Standing {
	if w == nil {
		return nil
	}
	s := &gen.Standing{State: w.State, Since: stamp.Time(time.UnixMilli(w.Since)), Leaf: w.Leaf, ReportedAt: stamp.Time(at), Fresh: fresh}
	if w.HoldUntil != nil {
		s.HoldUntil = stamp.Time(time.UnixMilli(*w.HoldUntil))
	}
	return s
}
