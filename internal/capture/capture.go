// Package capture records what a program writes, for tests of its output.
package capture

import (
	"strings"
	"sync"

	"github.com/doorlab/doorlab/internal/each"
)

// Text is what was written. The zero value is empty. Safe for concurrent use.
type Text struct {
	mu    sync.Mutex
	b     strings.Builder
	waits map[chan struct{}]string
}

// Write implements io.Writer.
func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b.Write(p)
	for c, want := range t.waits {
		if strings.Contains(t.b.String(), want) {
			close(c)
			delete(t.waits, c)
		}
	}
	return len(p), nil
}

func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// Reset forgets what was written.
func (t *Text) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b.Reset()
}

// Says returns a channel that is closed once want has been written.
func (t *Text) Says(want string) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := make(chan struct{})
	if strings.Contains(t.b.String(), want) {
		close(c)
		return c
	}
	each.Put(&t.waits, c, want)
	return c
}
