package gateway

import (
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
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

// drops counts what was dropped, by reason.
type drops struct {
	mu   sync.Mutex
	n    map[string]int64
	told map[string]time.Duration // Mono of the last line in the log
}

// logEvery limits log lines per board and reason.
const logEvery = time.Minute

func (d *drops) add(why string, n int64) (total int64, tell bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.n == nil {
		d.n, d.told = map[string]int64{}, map[string]time.Duration{}
	}
	d.n[why] += n
	last, before := d.told[why]
	now := clock.Mono()
	if tell = !before || now-last >= logEvery; tell {
		d.told[why] = now
	}
	return d.n[why], tell
}

func (d *drops) all() map[string]int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.n)
}

// drop counts what was dropped, in the metrics and on the board, and logs it at most once a minute per board and
// reason. field names the invalid part, "" = all of it.
func (b *peer) drop(why, channel, field string, n int) {
	b.g.drops.add(why, int64(n))
	if total, tell := b.drops.add(why, int64(n)); tell {
		b.g.cfg.Log.Warn("messages from the board dropped", "board", b.id, "channel", channel, "reason", why, "field", field, "total", total)
	}
}

// unsaved says what the disk didn't take, once a minute for all boards together: they all meet the same disk.
func (b *peer) unsaved(what string, err error) {
	if total, tell := b.g.unsaved.add(what, 1); tell {
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
		return wrong.Field
	}
	return ""
}

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
