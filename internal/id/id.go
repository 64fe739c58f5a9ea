// Package id makes the opaque, sortable ids of the API: a prefix by kind, then 26
// digits of time and randomness.
package id

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// Prefixes by kind.
const (
	Permit      = "pmt_"
	Membership  = "mem_"
	Reservation = "rsv_"
	Customer    = "cus_"
	Command     = "cmd_"
	Event       = "evt_"
	Record      = "rec_"
	Policy      = "pol_"
	Key         = "key_"
)

const digits = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's base 32

var last struct {
	sync.Mutex
	ms   int64
	hi   uint16
	rand uint64
}

// New returns a new id. Ids made by one process sort in the order in which they were made,
// as long as now does not run backwards; they never repeat in any case.
func New(prefix string, now time.Time) string {
	last.Lock()
	ms := now.UnixMilli()
	if ms > last.ms {
		var b [10]byte
		_, _ = rand.Read(b[:]) // never fails
		last.ms, last.hi, last.rand = ms, binary.BigEndian.Uint16(b[:2])>>1, binary.BigEndian.Uint64(b[2:])
	} else {
		ms = last.ms
		if last.rand++; last.rand == 0 {
			last.hi++
		}
	}
	hi, lo := uint64(ms)<<16|uint64(last.hi), last.rand
	last.Unlock()
	return prefix + encode(hi, lo)
}

// encode writes 128 bits as 26 digits.
func encode(hi, lo uint64) string {
	var out [26]byte
	for i := 25; i >= 0; i-- {
		out[i] = digits[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}

// Request is a new X-Request-Id: 24 hex digits.
func Request() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
