package api

import (
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/place"
)

type deviceRow struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Kind         string       `json:"kind"`
	Health       deviceHealth `json:"health"`
	Capabilities capabilities `json:"capabilities"`
}

type deviceHealth struct {
	State      string `json:"state"`
	Since      stamp  `json:"since"`
	LastSeenAt stamp  `json:"lastSeenAt"`
}

type capabilities struct {
	Door []string `json:"door"`
}

type deviceDetail struct {
	deviceRow
	Standing *standing `json:"standing"`
}

type standing struct {
	State      string `json:"state"`
	Since      stamp  `json:"since"`
	HoldUntil  stamp  `json:"holdUntil"`
	Leaf       string `json:"leaf"`
	ReportedAt stamp  `json:"reportedAt"`
	Fresh      bool   `json:"fresh"`
}

// listDevices lists the doors: there is no other kind of device yet.
func listDevices(c *call) (any, error) {
	doors, err := c.api.cfg.Directory.Doors(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	return list{each(doors, func(d place.Door) deviceRow {
		return deviceView(d, c.api.cfg.Boards.Status(d.BoardID))
	}), len(doors)}, nil
}

// getDevice shows one door, with its standing.
func getDevice(c *call) (any, error) {
	s := c.api.cfg.Boards.Status(c.door.BoardID)
	d := deviceDetail{deviceRow: deviceView(c.door, s)}
	if w, ok := s.Standings[c.door.Channel]; ok {
		d.Standing = standingView(&w, s.LastSeenAt, s.State == device.StateOnline)
	}
	return d, nil
}

func deviceView(d place.Door, s device.BoardStatus) deviceRow {
	h := deviceHealth{State: s.State, Since: stamp(s.Since), LastSeenAt: stamp(s.LastSeenAt)}
	if h.State == "" {
		h.State = device.StateUnknown
	}
	return deviceRow{ID: d.ID, Name: d.Name, Kind: "door", Health: h,
		Capabilities: capabilities{Door: []string{wire.CmdOpen, wire.CmdHold, wire.CmdClose}}}
}

// standingView is nil for a board that said nothing about the door.
func standingView(w *wire.Standing, at time.Time, fresh bool) *standing {
	if w == nil {
		return nil
	}
	s := &standing{State: w.State, Since: stamp(time.UnixMilli(w.Since)), Leaf: w.Leaf, ReportedAt: stamp(at), Fresh: fresh}
	if w.HoldUntil != nil {
		s.HoldUntil = stamp(time.UnixMilli(*w.HoldUntil))
	}
	return s
}
