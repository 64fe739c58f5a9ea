package entry

import (
	"context"
	"sync"
	"time"

	"github.com/doorlab/doorlab/server/fail"
)

// press is one button of one link, or one door of one calling number.
type press struct{ who, door string }

// opening is what a press led to. done is closed once res and err stand.
type opening struct {
	at   time.Time
	done chan struct{}
	res  OpenResult
	err  error
}

// over reports whether the next press starts a new opening.
func (o *opening) over(now time.Time) bool {
	select {
	case <-o.done:
		return o.err != nil || now.Sub(o.at) >= onePress
	default:
		return false
	}
}

// presses remembers the openings that another press would join.
type presses struct {
	mu    sync.Mutex
	last  map[press]*opening
	sweep int // size at which finished ones are thrown out
}

const manyPresses = 1024

// join finds the opening that is running or just done, or starts one.
func (p *presses) join(k press, now time.Time, admit func() error) (o *opening, mine bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.last[k]; o != nil && !o.over(now) {
		return o, false, nil
	}
	if err := admit(); err != nil {
		return nil, false, err
	}
	if len(p.last) >= max(manyPresses, p.sweep) {
		for k, o := range p.last {
			if o.over(now) {
				delete(p.last, k)
			}
		}
		p.sweep = 2 * len(p.last)
	}
	o = &opening{at: now, done: make(chan struct{})}
	p.last[k] = o
	return o, true, nil
}

// press opens once for the same person and door within 3 s, and at most 6 times per minute per link or number. open
// runs to its end even if the caller has gone. A press that joins sends nothing, so its visit ends right away.
func (s *Service) press(ctx context.Context, k press, v visit, open func() (OpenResult, error)) (OpenResult, error) {
	now := v.now
	o, mine, err := s.presses.join(k, now, func() error {
		if ok, retry := s.openings.Allow(k.who, now); !ok {
			return &fail.Error{Code: fail.RateLimited, Message: "too many openings within a minute", RetryAfter: retry}
		}
		return nil
	})
	if err != nil {
		return OpenResult{}, err
	}
	if mine {
		o.err = errAborted // what the others get if open panics
		defer close(o.done)
		o.res, o.err = open()
		return o.res, o.err
	}
	v.end()
	select {
	case <-o.done:
		return o.res, o.err
	case <-ctx.Done():
		return OpenResult{}, ctx.Err()
	}
}
