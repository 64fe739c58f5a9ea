package api

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/rule"
)

// fromMs is no time for 0.
func fromMs(ms int64) stamp.Time {
	if ms == 0 {
		return stamp.Time{}
	}
	return stamp.Time(time.UnixMilli(ms))
}

// listBoards lists the boards with their doors [LEG-1].
func listBoards(c *call) (any, error) {
	boards, err := c.api.cfg.Directory.Boards(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	doors, err := c.api.cfg.Directory.Doors(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	return list{each(boards, func(b place.Board) gen.Board {
		s := c.api.cfg.Boards.Status(b.ID)
		row := gen.Board{BoardID: b.ID, Name: b.Name, Online: s.State == device.StateOnline, LastSeenAt: stamp.Time(s.LastSeenAt),
			DoorIDs: []string{}, Channels: []int{}}
		for _, d := range doors {
			if d.BoardID == b.ID {
				row.DoorIDs, row.Channels = append(row.DoorIDs, d.ID), append(row.Channels, d.Channel)
			}
		}
		return row
	}), len(boards)}, nil
}

// getNetloss shows what the board confirmed last, also while it is offline.
func getNetloss(c *call) (any, error) {
	s := c.api.cfg.Boards.Status(c.board.ID)
	return netlossView(c.board.ID, s.Netloss, s.NetlossAppliedAt), nil
}

// setNetloss stores an outage policy on the board [OFF-3].
func setNetloss(c *call) (any, error) {
	n, err := c.netlossRequest()
	if err != nil {
		return nil, err
	}
	got, err := c.api.cfg.Boards.SetNetloss(context.WithoutCancel(c.r.Context()), c.board.ID, n)
	var refused *device.RefusedError
	switch {
	case errors.Is(err, device.ErrOffline):
		return nil, rule.New(rule.StoreOffline, "the board is not connected; nothing was stored", "reason", device.Offline)
	case errors.Is(err, device.ErrLost):
		return nil, rule.New(rule.StoreUnreachable, "the line was lost before the board answered; try again")
	case errors.Is(err, device.ErrNoAnswer):
		return nil, rule.New(rule.DeviceNoResponse, "the board did not answer", "reason", device.NoResponse)
	case errors.Is(err, device.ErrNoBoard):
		return nil, rule.New(rule.BoardNotFound, "there is no such board")
	case errors.As(err, &refused):
		return nil, rule.New(rule.DeviceRefused, "the board refused", "reason", device.Refused, "deviceCode", refused.Code)
	case err != nil:
		return nil, err
	}
	return netlossView(c.board.ID, got, c.api.cfg.Boards.Status(c.board.ID).NetlossAppliedAt), nil
}

// netlossRequest lays the named channels over the confirmed ones.
func (c *call) netlossRequest() (wire.Netloss, error) {
	doors, err := c.api.cfg.Directory.Doors(c.who.PlaceID)
	if err != nil {
		return wire.Netloss{}, err
	}
	n := wire.Netloss{GraceSec: int64(c.body.num("graceSec")), Channels: map[int]string{}}
	maps.Copy(n.Channels, c.api.cfg.Boards.Status(c.board.ID).Netloss.Channels)
	named := c.body.obj("channels")
	for _, name := range slices.Sorted(maps.Keys(named)) {
		ch, err := strconv.Atoi(name)
		has := slices.ContainsFunc(doors, func(d place.Door) bool { return d.BoardID == c.board.ID && d.Channel == ch })
		if err != nil || !has || strconv.Itoa(ch) != name {
			return n, rule.Invalid("channels."+name, "is not a channel of this board")
		}
		n.Channels[ch], _ = named[name].(string)
	}
	return n, nil
}

func netlossView(boardID string, n wire.Netloss, at time.Time) gen.Netloss {
	out := gen.Netloss{BoardID: boardID, GraceSec: int(n.GraceSec), Channels: map[string]string{}, Version: int(n.Version), AppliedAt: stamp.Time(at)}
	for ch, rest := range n.Channels {
		out.Channels[strconv.Itoa(ch)] = rest
	}
	return out
}
