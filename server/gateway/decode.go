package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// The decoders of uplinks turn JSON into wire types and check everything that the server relies on. They ignore unknown
// fields.

// errNull is a message that is null: encoding/json would take it for an object without fields.
var errNull = errors.New("gateway: null is not an object")

func decode[T any](payload []byte) (v T, err error) {
	if err = wire.Unmarshal(payload, &v); err != nil {
		return v, fmt.Errorf("gateway: %w", err)
	}
	if bytes.IndexByte(payload, '{') < 0 {
		return v, errNull
	}
	return v, nil
}

func decodeHello(payload []byte) (wire.Hello, error) {
	h, err := decode[wire.Hello](payload)
	if err == nil {
		p := wire.Partial{}
		if h.Partial != nil {
			p = *h.Partial
		}
		err = ranges(field{"boot", !whole(h.Boot)}, field{"buffered", !whole(h.Buffered)}, field{"digest", len(h.Digest) > 64}, field{"dropped", !whole(h.Dropped)},
			field{"outageAgeMs", h.OutageAgeMs != -1 && !whole(h.OutageAgeMs)},
			field{"partial", !whole(p.To) || !whole(p.Page) || len(p.Digest) > 64}, field{"proto", h.Proto != wire.Version},
			field{"revision", !whole(h.Revision)})
	}
	if err == nil && h.Netloss != nil {
		if board.CheckPolicy(*h.Netloss) != nil {
			err = rangeError{"netloss"}
		}
	}
	h.Doors = standings(h.Doors)
	return h, err
}

// field is one of an uplink, and whether it is out of range.
type field struct {
	name  string
	wrong bool
}

// ranges returns an error that names the first field out of range; they are given in order of names.
func ranges(fields ...field) error {
	for _, f := range fields {
		if f.wrong {
			return rangeError{f.name}
		}
	}
	return nil
}

// whole is wire.Whole of any integer.
func whole[T int | int64](n T) bool { return wire.Whole(int64(n)) }

// lastSeq is the highest sequence number that can be recognized in a batch that doesn't decode; 0 = none.
func lastSeq(payload []byte) (last int64) {
	var batch struct {
		Records []json.RawMessage `json:"records"`
	}
	_ = json.Unmarshal(payload, &batch)
	for _, raw := range batch.Records {
		var r struct {
			Seq int64 `json:"seq"`
		}
		if json.Unmarshal(raw, &r) == nil && whole(r.Seq) {
			last = max(last, r.Seq)
		}
	}
	return last
}

func isTime(ms int64) bool { return ms >= 0 && ms <= board.MaxTime }

// standings keeps the valid ones.
func standings(list []wire.Standing) []wire.Standing {
	return slices.DeleteFunc(list, func(s wire.Standing) bool {
		return !slices.Contains([]string{"locked", "unlocked", "open", "warning"}, s.State) || (s.Leaf != "open" && s.Leaf != "closed") ||
			!isTime(s.Since) || !whole(s.Seq) || s.HoldUntil != nil && !isTime(*s.HoldUntil)
	})
}

func decodeReport(payload []byte) (wire.Report, error) {
	r, err := decode[wire.Report](payload)
	if err == nil {
		err = ranges(field{"code", len(r.Code) > 64}, field{"commandId", r.CommandID == "" || len(r.CommandID) > 64}, field{"result", len(r.Result) > 64})
	}
	if r.Standing != nil && len(standings([]wire.Standing{*r.Standing})) == 0 {
		r.Standing = nil
	}
	return r, err
}

func decodeAck(payload []byte) (wire.SyncAck, error) {
	a, err := decode[wire.SyncAck](payload)
	if err == nil {
		err = ranges(field{"code", len(a.Code) > 64}, field{"digest", len(a.Digest) > 64}, field{"page", !whole(a.Page)},
			field{"result", len(a.Result) > 64}, field{"revision", !whole(a.Revision)}, field{"type", a.Type != wire.SyncDone && a.Type != wire.SyncPage && a.Type != wire.SyncConfig})
	}
	if err == nil && a.Netloss != nil {
		err = board.CheckPolicy(*a.Netloss)
	}
	return a, err
}

func decodeDigest(payload []byte) (wire.Digest, error) {
	d, err := decode[wire.Digest](payload)
	if err == nil {
		err = ranges(field{"digest", len(d.Digest) > 64}, field{"revision", !whole(d.Revision)})
	}
	return d, err
}

// misfit names the field of an answer to a command or a configuration that isn't one of the protocol's words; "" = none.
func misfit(result vocab.Result, code string) (field string) {
	switch {
	case result != vocab.OK && result != vocab.Refused:
		return "result"
	case result == vocab.Refused && !slices.Contains(wire.RefusalCodes, code):
		return "code"
	}
	return ""
}

// maxRecords bounds a batch of records.
const maxRecords = 100

func decodeRecords(payload []byte) (wire.Records, error) {
	r, err := decode[wire.Records](payload)
	if err == nil {
		err = ranges(field{"dropped", !whole(r.Dropped)})
	}
	return r, err
}
