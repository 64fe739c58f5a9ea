package board

import (
	"maps"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
)

// Standing is what a board says of one of its doors.
type Standing = wire.Standing

// Reported is a standing and when the board said so.
type Reported struct {
	Standing
	ReportedAt int64 `json:"reportedAt,omitempty"` // Unix ms; 0 in data of an older version
	Origin     `json:"-"`
}

// Origin is how a standing came, as far as the server needs it to tell which of two was made later.
type Origin struct {
	By By
	// Turn numbers the commands that were sent to a board, and the hellos and state messages that came from it, together
	// and in their order. A report has its command's turn. 0 = from before the server started, or longer ago.
	Turn int64
}

// By is the kind of message that brought a standing.
type By int

// Kinds of messages with standings. The zero value is a message to a previous run of the server.
const (
	ByPrevious By = iota
	ByHello       // the first of a connection
	ByState       // or a repeated hello
	ByReport      // the first on a command that is still running
	ByLate        // a report that came after the wait, or again
)

// Stand keeps the standings of the board's own channels that are newer than the known ones, as reported now. It returns
// whether there were any.
func (s *State) Stand(list []Standing, from Origin, now time.Time) (newer bool) {
	next := make(map[int]Reported, len(s.Doors))
	maps.Copy(next, s.Standings)
	if from.By != ByHello && from.Turn > 0 && from.Turn < s.HelloTurn { // of before: it may even be another board's
		return false
	}
	if from.By == ByHello { // another board may have taken its place, which starts from a lower number
		s.HelloTurn = from.Turn
		for channel, known := range next {
			known.Seq = 0
			next[channel] = known
		}
	}
	for _, x := range list {
		for _, d := range s.Doors {
			if d.Channel != x.Channel {
				continue
			}
			x.DoorID = d.DoorID
			says := Reported{x, now.UnixMilli(), from}
			if known, ok := next[x.Channel]; !ok || says.follows(known) {
				next[x.Channel], newer = says, true
			}
		}
	}
	s.Standings = next // never changed in place: a Status shares it
	return newer
}

// follows reports whether a standing was made after the known one. The board's own numbers tell; without them it is the
// order in which its commands were sent and, where state messages crossed them, the time of the last change.
func (r Reported) follows(known Reported) bool {
	switch {
	case r.By == ByHello:
		return true
	case r.Seq > 0 && known.Seq > 0:
		return r.Seq > known.Seq
	case r.By == ByState || r.Turn > known.Turn:
		return true
	case r.Turn == known.Turn && r.Turn > 0, r.Turn < known.Turn && known.By != ByState:
		return false // the same report again, or of an earlier command
	case r.By == ByReport: // a board reports in order, as far as we know
		return r.Since >= known.Since
	}
	return r.Since > known.Since
}

// MaxTime is the last Unix millisecond that RFC 3339 can express.
const MaxTime = 253402300799999

// A hello or a state message takes up to travel to arrive, and a wall clock that is off by up to slack counts as right.
const (
	travel = 10 * time.Second
	slack  = time.Second
)

// Heard is when a message with standings was made and when it came.
type Heard struct {
	At      int64 // by the board's wall clock, Unix ms; 0 = not told
	Report  bool
	Loose   bool      // a clock may be jumping, so At proves nothing unless it is a report's
	Sent    time.Time // when a report's command was sent; zero = not known
	Arrived time.Time
}

// OnTime moves the times of a standing to the server's clock, if the board's wall clock must be wrong. What a report tells
// happened after its command was sent and before the report came, however late it is; other messages are sent at once. A
// clock that can be right is left alone.
func (h Heard) OnTime(s Standing) Standing {
	now := h.Arrived.UnixMilli()
	if off := h.off(s.Since); off != 0 {
		s.Since = max(0, s.Since+off)
		if s.HoldUntil != nil {
			until := min(max(0, *s.HoldUntil+off), MaxTime)
			s.HoldUntil = &until
		}
	}
	if s.Since > now+slack.Milliseconds() { // kept from before the clock was turned
		s.Since = now
	}
	return s
}

// off is by how much a board's wall clock is behind the server's, 0 = it can be right. Without the time of the message,
// the last change of its door must not lie ahead.
func (h Heard) off(since int64) int64 {
	now, at := h.Arrived.UnixMilli(), h.At
	told := at > 0 && at <= MaxTime
	if !told {
		at = since
	}
	sent := h.Sent.UnixMilli()
	switch {
	case h.Loose && !h.Report:
		return 0
	case at > now+slack.Milliseconds():
		return now - at
	case told && h.Report && !h.Sent.IsZero() && at < sent-slack.Milliseconds():
		return sent - at
	case told && !h.Report && at < now-travel.Milliseconds():
		return now - at
	}
	return 0
}
