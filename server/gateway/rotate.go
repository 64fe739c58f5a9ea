package gateway

import "errors"

var errRotated = errors.New("the board's password was rotated")

// Rotated sets a board's new password and ends connections that were made with the old one. Repeating it with the same
// hash changes nothing.
func (g *Gateway) Rotated(boardID, passwordHash string) (changed bool) {
	b := g.boards[boardID]
	if b == nil {
		return false
	}
	b.mu.Lock()
	if b.st.PasswordHash == passwordHash {
		b.mu.Unlock()
		return false
	}
	b.st.PasswordHash = passwordHash
	b.mu.Unlock()
	g.mu.Lock()
	var old []*link
	for c := range g.conns {
		if l := c.link.Load(); l != nil && l.b == b {
			old = append(old, l)
		}
	}
	g.mu.Unlock()
	for _, l := range old {
		l.close(errRotated)
	}
	return true
}
