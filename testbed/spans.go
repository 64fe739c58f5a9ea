package testbed

import (
	"context"
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/spans"
)

// openSpans starts sending spans to a collector, if one is configured.
func (t *Testbed) openSpans(ctx context.Context, url string) (err error) {
	if t.spans = t.cfg.tracer; t.spans != nil || url == "" {
		return nil
	}
	if t.spans, err = spans.OTLP(ctx, url, t.cfg.Log); err != nil {
		return fmt.Errorf("--otlp %s: %w", url, err)
	}
	t.onStop(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		_ = t.spans.Stop(ctx) // the collector may be gone
		return nil
	})
	return nil
}

// toldByBoards is where this process's boards report their events: where told reports them, and the tracer, which needs
// to know when a relay moves.
func (t *Testbed) toldByBoards() func(history.Event) {
	tell := t.told()
	if t.spans == nil {
		return tell
	}
	return func(e history.Event) {
		if e.Kind == history.Actuation && e.CommandID != "" {
			t.spans.Relay(e.CommandID, time.Unix(0, e.WallNs))
		}
		if tell != nil {
			tell(e)
		}
	}
}
