package engine

import (
	"testing"
	"time"
)

// TestMarksOfSeveralClocks: a mark is no earlier than what any process has told before, though their
// clocks are apart; the server's view stays the server's.
func TestMarksOfSeveralClocks(t *testing.T) {
	t.Parallel()
	server, fleet := newFake(t), newFake(t)
	fleet.now = server.now.Add(30 * time.Millisecond)
	target := server.target()
	target.Control = append(target.Control, fleet.lab.URL)
	l := newRun(target, Options{}).lab
	if err := l.discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	at, view, err := l.moment(t.Context())
	if err != nil || !at.Equal(fleet.now) || !view.Now.Equal(server.now) {
		t.Errorf("the mark is at %v, the server's view %v, %v; want %v and %v", at, view.Now, err, fleet.now, server.now)
	}
}
