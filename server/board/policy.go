package board

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/fail"
)

// Policy is a board's outage policy: what its doors do when it has been
// without the server for longer than the grace period. It goes over the wire,
// into the database and to the API as it is.
type Policy = wire.Netloss

// maxGraceSec is the longest grace period: a week.
const maxGraceSec = 7 * 24 * 3600

var errPolicy = errors.New("board: outage policy is out of range")

// DefaultPolicy is the outage policy of a board that was never configured.
func DefaultPolicy(doors []Door) Policy {
	p := Policy{GraceSec: wire.DefaultGraceSec, Channels: map[int]string{}}
	for _, d := range doors {
		p.Channels[d.Channel] = wire.RestClose // [OFF-3]
	}
	return p
}

// CheckPolicy returns an error for a policy that no board can have confirmed.
func CheckPolicy(p Policy) error {
	if p.GraceSec < 0 || p.GraceSec > maxGraceSec || !wire.Whole(p.Version) {
		return errPolicy
	}
	for _, rest := range p.Channels {
		if !slices.Contains([]string{wire.RestOpen, wire.RestClose, wire.RestHold, wire.RestOff}, rest) {
			return errPolicy
		}
	}
	return nil
}

// Named are the channels of a request, which names them by their number as text. Errors: invalid_field for a channel
// that the board, which has the given ones, doesn't have.
func Named(channels []int, named map[string]string) (map[int]string, error) {
	out := map[int]string{}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		ch, err := strconv.Atoi(name)
		if err != nil || !slices.Contains(channels, ch) || strconv.Itoa(ch) != name {
			return nil, fail.Invalid("channels."+name, fmt.Sprintf("is not a channel of this board, valid: %s", strings.Trim(fmt.Sprint(channels), "[]")))
		}
		out[ch] = named[name]
	}
	return out, nil
}

// Merge is the next policy to send to the board: the channels that n names over what the board confirmed last, see
// OFF-3, as the next version. If it is what the board confirmed, it stays the same version: a caller whose answer was
// lost asks again and must get the first answer.
func (s State) Merge(n Policy) Policy {
	p := s.Confirmed()
	maps.Copy(p.Channels, n.Channels)
	p.GraceSec = n.GraceSec
	if s.Policy == nil || !equal(p, *s.Policy) {
		p.Version++
	}
	if !wire.Whole(p.Version) { // a board may have claimed any version
		p.Version = 1
	}
	return p
}

// equal reports whether two policies have the same content and version.
func equal(a, b Policy) bool {
	return a.Version == b.Version && a.GraceSec == b.GraceSec && maps.Equal(a.Channels, b.Channels)
}

// Confirmed is the policy that the board confirmed last, or the default.
func (s State) Confirmed() Policy {
	if s.Policy == nil {
		return DefaultPolicy(s.Doors)
	}
	p := *s.Policy
	p.Channels = maps.Clone(p.Channels)
	return p
}

// Confirm records the policy that the board says it has stored. Channels that it doesn't name get the default; version
// 0 means never configured.
func (s *State) Confirm(p Policy, now time.Time) {
	if p.Version == 0 {
		s.Policy, s.PolicyAppliedAt = nil, time.Time{}
		return
	}
	full := DefaultPolicy(s.Doors)
	for ch := range full.Channels {
		if rest, ok := p.Channels[ch]; ok {
			full.Channels[ch] = rest
		}
	}
	full.GraceSec, full.Version = p.GraceSec, p.Version
	if old := s.Policy; old == nil || !equal(*old, full) {
		s.Policy, s.PolicyAppliedAt = &full, now
	}
}
