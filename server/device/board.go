package device

import (
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
)

// Health of a board (and of its doors): never back to unknown.
const (
	StateUnknown = "unknown" // has never said hello
	StateOnline  = "online"
	StateOffline = "offline"
)

// BoardStatus is what the server knows of a board now.
type BoardStatus struct {
	BoardID          string
	PlaceID          string
	State            string    // online, offline, unknown
	Since            time.Time // domain time of the last change; zero while unknown
	LastSeenAt       time.Time // domain time of the last message; zero while unknown
	Epoch            int64     // of the live connection; 0 unless online
	AppliedRevision  int64
	Digest           string // as the board said it at AppliedRevision; may be empty
	AppliedAt        time.Time
	Netloss          wire.Netloss          // what the board confirmed last, or the default
	NetlossAppliedAt time.Time             // zero = never configured
	Standings        map[int]wire.Standing // by channel
	Buffered         int                   // records waiting on the board, as of its last hello
	Dropped          int                   // records the board had to drop
}

// Errors of sending to a board.
var (
	// ErrOffline: the board has no live connection; nothing was sent.
	ErrOffline = errors.New("device: board is offline")
	// ErrLost: the line was lost after the send and before the answer.
	ErrLost = errors.New("device: line lost midway")
	// ErrNoAnswer: the board did not answer in time.
	ErrNoAnswer = errors.New("device: board did not answer")
	// ErrNoBoard: there is no such board.
	ErrNoBoard = errors.New("device: no such board")
)

// RefusedError: the board refused a configuration.
type RefusedError struct{ Code string }

func (e *RefusedError) Error() string { return "device: board refused: " + e.Code }

// BoardState is what is kept of a board over a restart.
type BoardState struct {
	BoardID          string
	PlaceID          string
	Password         string      // read only
	Doors            []BoardDoor // read only, by channel
	FirstSeenAt      time.Time   // zero = never said hello
	Since            time.Time
	LastSeenAt       time.Time
	Online           bool // was connected when this was written
	AppliedRevision  int64
	Digest           string
	AppliedAt        time.Time
	Netloss          *wire.Netloss // nil = never configured
	NetlossAppliedAt time.Time
	Standings        map[int]wire.Standing
	Dropped          int
}

// BoardDoor is a door on a board's channel.
type BoardDoor struct {
	DoorID  string
	Channel int
}

// DefaultNetloss is the outage policy of a board that was never configured [OFF-3].
func DefaultNetloss(doors []BoardDoor) wire.Netloss {
	n := wire.Netloss{GraceSec: wire.DefaultGraceSec, Channels: map[int]string{}}
	for _, d := range doors {
		n.Channels[d.Channel] = wire.RestClose
	}
	return n
}

// BoardConn is a connection of a board that has just said hello.
type BoardConn struct {
	BoardID  string
	PlaceID  string
	Epoch    int64
	Revision int64  // applied on the board; 0 = nothing stored
	Digest   string // of that content; may be empty
}
