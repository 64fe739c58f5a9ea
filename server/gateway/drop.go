package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/board"
)

// Reasons for dropping something a board said, a closed list.
const (
	dropEarly     = "early"           // before hello, or from a connection that was taken over
	dropGarbage   = "garbage"         // doesn't decode, or a value is out of range
	dropForbidden = "forbidden"       // a topic of another board
	dropRetained  = "retained"        // a retained message
	dropOversized = "oversized"       // a packet over 64 KiB; the connection ends
	dropUnknown   = "unknown_command" // a report on a command that this board never got
	dropMisfit    = "misfit"          // a report or an answer to cfg with a result or code that doesn't exist
	dropRecord    = "bad_record"      // a record that can never be kept
	dropCredit    = "bad_credit"      // a permit that the board can't have opened by; the record is kept without it
	dropQuota     = "record_quota"    // records beyond the quota; not acknowledged, they may come again
)

// DropReasons lists all of them.
var DropReasons = []string{dropEarly, dropGarbage, dropForbidden, dropRetained, dropOversized, dropUnknown, dropMisfit, dropRecord, dropCredit, dropQuota}

// drops counts what was dropped, by reason, and remembers the latest troubles.
type drops struct {
	mu   sync.Mutex
	n    map[string]int64
	told map[board.Trouble]time.Duration // Mono of the last line in the log about the same, which has neither At nor Count
	last []board.Trouble                 // oldest first
}

const (
	logEvery    = time.Minute // between log lines about the same board, reason, channel and field
	mostTold    = 64          // of these at a time
	keptTrouble = 10          // troubles that are remembered per board
)

func (d *drops) add(why string, n int64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	each.Put(&d.n, why, d.n[why]+n)
	return d.n[why]
}

// note remembers a trouble and reports whether it's time to log it.
func (d *drops) note(t board.Trouble) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	same := board.Trouble{Reason: t.Reason, Channel: t.Channel, Field: t.Field}
	if i := len(d.last) - 1; i >= 0 && d.last[i].Reason == t.Reason && d.last[i].Channel == t.Channel && d.last[i].Field == t.Field {
		d.last[i].At, d.last[i].Count = t.At, d.last[i].Count+t.Count
	} else {
		d.last = append(d.last[max(0, len(d.last)-keptTrouble+1):], t)
	}
	last, before := d.told[same]
	now := clock.Mono()
	if before && now-last < logEvery || !before && len(d.told) >= mostTold {
		return false
	}
	each.Put(&d.told, same, now)
	return true
}

// latest are the troubles that are remembered, newest first.
func (d *drops) latest() []board.Trouble {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := slices.Clone(d.last)
	slices.Reverse(out)
	return out
}

func (d *drops) all() map[string]int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.n)
}

// drop counts what was dropped, in the metrics and on the board, and logs it at most once a minute per board, reason,
// channel and field. field names the invalid part, "" = all of it.
func (b *peer) drop(why, channel, field string, n int) {
	b.g.drops.add(why, int64(n))
	total := b.drops.add(why, int64(n))
	if b.drops.note(board.Trouble{At: b.g.cfg.Clock.Now().UTC(), Reason: why, Channel: channel, Field: field, Count: int64(n)}) {
		b.g.cfg.Log.Warn("messages from the board dropped", "board", b.id, "channel", channel, "reason", why, "field", field, "total", total)
	}
}

// refused remembers a connection that was refused, and logs it as drop does. field is what CONNECT had wrong. The peer
// hasn't proved to be the board.
func (b *peer) refused(field string) {
	if b.drops.note(board.Trouble{At: b.g.cfg.Clock.Now().UTC(), Reason: board.NotAdmitted, Field: field, Count: 1}) {
		b.g.cfg.Log.Warn("a connection as the board was refused", "board", b.id, "field", field)
	}
}

// unsaved says what the disk didn't take, once a minute for all boards together: they all meet the same disk.
func (b *peer) unsaved(what string, err error) {
	total := b.g.unsaved.add(what, 1)
	if b.g.unsaved.note(board.Trouble{Reason: what, Count: 1}) {
		b.g.cfg.Log.Warn(what, "board", b.id, "error", err, "total", total)
	}
}

// rangeError is a value out of range.
type rangeError struct{ field string }

func (e rangeError) Error() string { return "gateway: " + e.field + " is out of range" }

// fieldOf names the field that a decoding error is about.
func fieldOf(err error) string {
	var wrong *json.UnmarshalTypeError
	var beyond rangeError
	switch {
	case errors.As(err, &beyond):
		return beyond.field
	case errors.As(err, &wrong):
		return cmp.Or(wrong.Field, notObject)
	}
	return notObject
}

// notObject is the field of a message that isn't a JSON object.
const notObject = "not a JSON object"

// bucket limits a rate: a burst of size, then so many per second.
type bucket struct {
	size, perSecond float64
	left            float64
	at              time.Duration
	used            bool
}

// fill adds what has accumulated until now and returns the level.
func (k *bucket) fill(now time.Duration) float64 {
	if !k.used {
		k.left, k.used = k.size, true
	} else if now > k.at {
		k.left = min(k.size, k.left+k.perSecond*(now-k.at).Seconds())
	}
	k.at = now
	return k.left
}

// Limits per board.
const (
	uplinkBurst, uplinkRate = 2000, 1000  // messages, per second of wall time; beyond it the connection is read more slowly
	recordBurst, recordRate = 10000, 10.0 // records, per second of domain time
)

// pace waits until a board may send its next message. Only that board's connection waits.
func (b *peer) pace() {
	b.qmu.Lock()
	left := b.uplinks.fill(clock.Mono())
	b.uplinks.left--
	b.qmu.Unlock()
	if left < 1 {
		b.g.sleep(time.Duration((1 - left) / uplinkRate * float64(time.Second)))
	}
}
