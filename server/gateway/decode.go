package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
)

// Decoders of uplinks: JSON into wire types, with everything checked that the
// server relies on. Unknown fields are ignored.

var errRange = errors.New("gateway: value out of range")

func decode[T any](payload []byte) (v T, err error) {
	if err = json.Unmarshal(payload, &v); err != nil {
		return v, fmt.Errorf("gateway: %w", err)
	}
	return v, nil
}

func decodeHello(payload []byte) (wire.Hello, error) {
	h, err := decode[wire.Hello](payload)
	if err == nil && (h.Revision < 0 || h.Boot < 0 || h.Buffered < 0 || h.Dropped < 0 || h.OutageAgeMs < -1 || len(h.Digest) > 64) {
		err = errRange
	}
	if err == nil && h.Netloss != nil {
		err = checkNetloss(*h.Netloss)
	}
	h.Doors = standings(h.Doors)
	return h, err
}

func checkNetloss(n wire.Netloss) error {
	if n.GraceSec < 0 || n.GraceSec > 604800 || n.Version < 0 {
		return errRange
	}
	for _, rest := range n.Channels {
		if !slices.Contains([]string{wire.RestOpen, wire.RestClose, wire.RestHold, wire.RestOff}, rest) {
			return errRange
		}
	}
	return nil
}

// maxTime is the last millisecond that RFC 3339 can say.
const maxTime = 253402300799999

func isTime(ms int64) bool { return ms >= 0 && ms <= maxTime }

// standings keeps those that mean something.
func standings(list []wire.Standing) []wire.Standing {
	return slices.DeleteFunc(list, func(s wire.Standing) bool {
		return !slices.Contains([]string{"locked", "unlocked", "open", "warning"}, s.State) || (s.Leaf != "open" && s.Leaf != "closed") ||
			!isTime(s.Since) || s.HoldUntil != nil && !isTime(*s.HoldUntil)
	})
}

func decodeReport(payload []byte) (wire.Report, error) {
	r, err := decode[wire.Report](payload)
	if err == nil && (r.CommandID == "" || len(r.CommandID) > 64) {
		err = errRange
	}
	if r.Standing != nil && len(standings([]wire.Standing{*r.Standing})) == 0 {
		r.Standing = nil
	}
	return r, err
}

func decodeAck(payload []byte) (wire.SyncAck, error) {
	a, err := decode[wire.SyncAck](payload)
	if err == nil && (a.Revision < 0 || len(a.Digest) > 64 || (a.Type != "sync" && a.Type != "cfg")) {
		err = errRange
	}
	if err == nil && a.Netloss != nil {
		err = checkNetloss(*a.Netloss)
	}
	return a, err
}

// maxRecords bounds a batch of records.
const maxRecords = 100

func decodeRecords(payload []byte) (wire.Records, error) {
	r, err := decode[wire.Records](payload)
	if err == nil && (len(r.Records) > maxRecords || r.Dropped < 0) {
		err = errRange
	}
	return r, err
}

// goodRecord reports whether a record can be kept: of the board's own door,
// with a known result and reason. It masks what it must.
func (b *board) goodRecord(r *wire.Record) bool {
	if r.Seq <= 0 || r.At <= 0 || !isTime(r.At) || !b.hasDoor(r.DoorID) || len(r.GrantID) > 64 {
		return false
	}
	r.PhoneTail = tail(r.PhoneTail)
	if len(r.PhoneHead) != 3 || strings.Trim(r.PhoneHead, "0123456789") != "" {
		r.PhoneHead = ""
	}
	switch r.Result {
	case "opened":
		return r.Reason == access.MethodOnsite || r.Reason == access.FreeWindow
	case "denied":
		return slices.Contains([]string{access.NoValidGrant, access.NotStarted, access.Expired, access.Revoked, access.DoorOutOfScope,
			access.ClosedWindow, access.LinkInvalid, access.OutageLimit}, r.Reason)
	}
	return false
}

// tail is at most the last four digits: no board gets a whole phone into the records.
func tail(s string) string {
	s = s[max(0, len(s)-4):]
	if len(s) != 4 || strings.Trim(s, "0123456789") != "" {
		return ""
	}
	return s
}
