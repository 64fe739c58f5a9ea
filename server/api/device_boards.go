package api

import (
	"context"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/place"
)

// listBoards lists the boards with their doors, see LEG-1.
func listBoards(c *call) (any, error) {
	boards, err := c.api.cfg.Directory.Boards(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	doors, err := c.api.cfg.Directory.Doors(c.who.PlaceID)
	return list{each.Of(boards, func(b place.Board) gen.Board {
		s := c.api.cfg.Boards.Status(b.ID)
		own := each.If(doors, func(d place.Door) bool { return d.BoardID == b.ID })
		return gen.Board{BoardID: b.ID, Name: b.Name, Online: s.State == board.Online, LastSeenAt: stamp.Time(s.LastSeenAt),
			DoorIDs: each.Of(own, func(d place.Door) string { return d.ID }), Channels: each.Of(own, channelOf)}
	}), len(boards)}, err
}

// getNetloss shows the policy that the board confirmed last, even if it is offline now.
func getNetloss(c *call) (any, error) {
	s := c.api.cfg.Boards.Status(c.board.ID)
	return netlossView(c.board.ID, s.Policy, s.PolicyAppliedAt), nil
}

// setNetloss stores an outage policy on the board, see OFF-3.
func setNetloss(c *call, b gen.SetNetlossBody) (any, error) {
	channels, err := c.channels()
	if err != nil {
		return nil, err
	}
	named, err := board.Named(channels, b.Channels)
	if err != nil {
		return nil, err
	}
	n := board.Policy{GraceSec: int64(b.GraceSec), Channels: named}
	got, err := c.api.cfg.Boards.SetNetloss(context.WithoutCancel(c.r.Context()), c.caller(), c.board.ID, n)
	return netlossView(c.board.ID, got, c.api.cfg.Boards.Status(c.board.ID).PolicyAppliedAt), err
}

// channels are those of the board in the path.
func (c *call) channels() ([]int, error) {
	doors, err := c.api.cfg.Directory.Doors(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	return each.Of(each.If(doors, func(d place.Door) bool { return d.BoardID == c.board.ID }), channelOf), nil
}

func channelOf(d place.Door) int { return d.Channel }

func netlossView(boardID string, n board.Policy, at time.Time) gen.Netloss {
	out := gen.Netloss{BoardID: boardID, GraceSec: int(n.GraceSec), Channels: map[string]string{}, Version: int(n.Version), AppliedAt: stamp.Time(at)}
	for ch, rest := range n.Channels {
		out.Channels[strconv.Itoa(ch)] = rest
	}
	return out
}
