package sip

import (
	"crypto/sha256"
	"strconv"
	"sync"
	"time"

	msg "github.com/emiago/sipgo/sip"
)

// callLife is how long a call is remembered: 64 * T1 later no part of it is in progress any more (RFC 3261, 17).
const callLife = 64 * time.Second

// maxSeen bounds the calls that are remembered, those above a peer's rate included.
const maxSeen = 100_000

// callID is a hash: a Call-ID may be as long as a packet.
type callID [sha256.Size]byte

// seen remembers calls, so that each is decided once, however often it is repeated or forked on its way.
type seen struct {
	mu    sync.Mutex
	at    map[callID]time.Duration
	order []callID // oldest first
}

func newSeen() *seen { return &seen{at: map[callID]time.Duration{}} }

// first reports whether a call is new, and remembers it.
func (s *seen) first(id callID, now time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.order) > 0 && (now-s.at[s.order[0]] >= callLife || len(s.order) >= maxSeen) {
		delete(s.at, s.order[0])
		s.order = s.order[1:]
	}
	if _, ok := s.at[id]; ok {
		return false
	}
	s.at[id] = now
	s.order = append(s.order, id)
	return true
}

// idOf is what all copies of an INVITE have in common.
func idOf(req *msg.Request) callID {
	var id string
	if h := req.CallID(); h != nil {
		id = h.Value()
	}
	if h := req.CSeq(); h != nil {
		id += "\n" + strconv.FormatUint(uint64(h.SeqNo), 10)
	}
	if h := req.From(); h != nil {
		tag, _ := h.Params.Get("tag")
		id += "\n" + tag
	}
	return sha256.Sum256([]byte(id))
}
