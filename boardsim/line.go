package boardsim

import (
	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/history"
)

// lineChanged applies the faults' current effect on the line. It must not block.
func (b *board) lineChanged() {
	defer b.flush()
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.f.faults.Line(b.id)
	was, is := b.lineBad, blocked(l)
	b.lineBad = is
	switch {
	case was == "" && is != "":
		b.emit(history.Event{Kind: history.Line, Op: "down", Text: is})
	case was != "" && is == "":
		b.emit(history.Event{Kind: history.Line, Op: "up", Text: was})
	}
	b.lossyChanged(is == "", l.Lossy)
	if b.stopped {
		return
	}
	s := b.ses
	switch {
	case l.Offline:
		b.drop()
		b.landed()
	case s != nil && s.line != nil:
		if is != "" && !s.deaf {
			b.deafen(s)
		}
		s.line.Set(l.State)
	}
	if was != "" && is == "" {
		if b.deaf != nil {
			b.deaf.Stop()
		}
		if s != nil && s.deaf { // the two ends no longer share a session
			b.drop()
		}
		b.tries = 0
		if b.ses == nil {
			b.redial()
		}
	}
}

// lossyChanged notes whether packets now get lost, delayed or repeated, or all of them lost. Called with mu held.
func (b *board) lossyChanged(carries bool, l link.Lossy) {
	lossy := ""
	switch {
	case !carries || l == link.Lossy{}:
	case l.Percent >= 100:
		lossy = history.AllPackets
	default:
		lossy = history.Packets
	}
	if lossy == b.lossy {
		return
	}
	b.lossy = lossy
	switch {
	case lossy != "":
		b.emit(history.Event{Kind: history.Line, Op: "lossy", Text: lossy})
	case b.lineBad == "":
		b.emit(history.Event{Kind: history.Line, Op: "up", Text: history.Packets})
	}
}

// deafen: from now on nothing arrives, and neither end is notified. The board notices when its keep-alive runs out, in
// domain time. Called with mu held.
func (b *board) deafen(s *session) {
	heard := b.heardMs(s)
	if b.f.walking() { // until now the jump counts as contact
		heard = b.f.nowMs()
	}
	s.heard.Store(heard)
	s.deaf = true
	if b.deaf != nil {
		b.deaf.Stop()
	}
	b.deaf = b.f.cfg.Clock.AfterFunc(deafAfter, func() {
		defer b.flush()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.ses != s || b.stopped {
			return
		}
		b.over(false)
		done := b.f.cfg.Flight.Begin()
		go func() {
			bye(s) // a half-open line passes nothing on
			done()
		}()
		b.redial()
	})
}
