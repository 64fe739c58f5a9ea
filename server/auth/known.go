package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

// known remembers tokens whose signature was right, by hash: checking one costs as
// much as everything else between a request and its handler. What may change while
// a token lives, its age and its key's revocation, is looked at each time.
type known struct {
	mu  sync.RWMutex
	now map[[sha256.Size]byte]good // and those before them, until there are many
	old map[[sha256.Size]byte]good
}

// good is what a genuine token says.
type good struct {
	who  Principal
	ends time.Time
}

const mostKnown = 4096 // in each of the two

func (k *known) get(sum [sha256.Size]byte) (good, bool) {
	k.mu.RLock()
	g, ok := k.now[sum]
	if !ok {
		g, ok = k.old[sum]
		k.mu.RUnlock()
		if ok { // used: it outlives the next change
			k.put(sum, g)
		}
		return g, ok
	}
	k.mu.RUnlock()
	return g, true
}

func (k *known) put(sum [sha256.Size]byte, g good) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now == nil || len(k.now) >= mostKnown {
		k.old, k.now = k.now, map[[sha256.Size]byte]good{}
	}
	k.now[sum] = g
}
