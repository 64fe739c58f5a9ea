package device

import (
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/plant"
)

// Planted bugs, dead code without the build tag "planted".

// plantedSend sends before the intent is committed.
func (c *call) plantedSend() (sent bool) {
	if !plant.Is("publish-before-commit") || c.plantedSeen() != nil {
		return false
	}
	return c.s.send(c.in, c.door) == nil
}

// plantedClaim looks the key up in memory only and keeps it from the database.
func (c *call) plantedClaim() *call {
	if !plant.Is("memory-only-ledger") {
		return nil
	}
	old := c.plantedSeen()
	switch {
	case old == nil:
		c.in.Key = ""
	case old.meaning != c.meaning:
		c.err = ErrReused
	default:
		c.ans = old.ans
		c.ans.Replayed = true
	}
	return old
}

// plantedConflict sends the command and only then notices the conflict.
func (c *call) plantedConflict() {
	if plant.Is("conflict-after-send") {
		c.s.sendPlanted(c.req, c.door)
	}
}

func (s *Service) sendPlanted(r Request, d Door) {
	_ = s.send(Intent{CommandID: id.New(id.Command, s.now()), Command: r.Command, Minutes: r.Minutes}, d)
}

func (c *call) plantedSeen() *call {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.planted[keyID{c.req.PlaceID, c.req.Key}]
}

func (c *call) plantedFinish(ans Answer) {
	if c.req.Key == "" || !plant.Is("memory-only-ledger") && !plant.Is("publish-before-commit") {
		return
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.planted[keyID{c.req.PlaceID, c.req.Key}] = &call{meaning: c.meaning, ans: ans}
}
