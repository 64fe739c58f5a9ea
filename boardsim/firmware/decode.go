package firmware

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/doorlab/doorlab/internal/wire"
)

// ErrPayload is a message from the server that a board drops.
var ErrPayload = errors.New("firmware: invalid message")

// ErrEcho is the board's own acknowledgement, not a message of the server: its topic is used in both directions, and a
// broker other than the server's own sends it back.
var ErrEcho = errors.New("firmware: the board's own message")

// Decode parses a message from the server. The event's times are not set. Errors: ErrPayload, ErrEcho.
func Decode(channel string, payload []byte) (Event, error) {
	var ev Event
	var err error
	switch channel {
	case wire.DownCmd:
		ev.Kind = Command
		if err = wire.Unmarshal(payload, &ev.Command); err == nil && ev.Command.ID == "" {
			err = errors.New("a command without an id")
		}
	case wire.DownSync:
		ev.Kind = Sync
		var y wire.Sync
		if err = json.Unmarshal(payload, &y); err == nil && (y.From < 0 || y.To <= 0 || y.To < y.From && !y.Snapshot) {
			err = errors.New("revisions out of order")
		}
		if err == nil && (y.Page < 0 || y.Page > y.Pages || y.Pages > 0 && y.Page == 0) {
			err = errors.New("pages out of order")
		}
		if err == nil {
			ev.Change = Prepare(y)
		}
	case wire.DownCfg:
		ev.Kind = Config
		err = json.Unmarshal(payload, &ev.Config)
	case wire.DownAck:
		ev.Kind = Ack
		if err = wire.Unmarshal(payload, &ev.Ack); err == nil && ev.Ack.Type == "" {
			err = errors.New("an acknowledgement of nothing")
		}
		switch ev.Ack.Type {
		case wire.SyncDone, wire.SyncPage, wire.SyncConfig:
			return Event{}, ErrEcho
		}
	default:
		err = errors.New("not a channel to a board")
	}
	if err != nil {
		return Event{}, fmt.Errorf("%w: %s: %w", ErrPayload, channel, err)
	}
	return ev, nil
}
