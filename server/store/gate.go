package store

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// gate holds up new reads for a moment, so that the log can start over: SQLite does that only while nobody reads from
// it, and with overlapping readers that moment never comes by itself. Reads in progress continue, and the writer waits
// for none of them.
type gate struct {
	mu    sync.Mutex
	shut  chan struct{} // closed when the gate opens; nil = it is open
	timer clock.Timer
}

// pass returns when the gate is open.
func (g *gate) pass() {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
}

// close shuts the gate, for at most most.
func (g *gate) close(most time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
		g.timer = clock.WallAfter(most, g.open)
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		g.timer.Stop()
		close(g.shut)
		g.shut = nil
	}
}

// gated is the pool of readers, behind the gate.
type gated struct {
	*sql.DB
	gate gate
}

func (g *gated) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	g.gate.pass()
	return g.DB.QueryContext(ctx, query, args...)
}

func (g *gated) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	g.gate.pass()
	return g.DB.QueryRowContext(ctx, query, args...)
}

func (g *gated) Conn(ctx context.Context) (*sql.Conn, error) {
	g.gate.pass()
	return g.DB.Conn(ctx)
}
