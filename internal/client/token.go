package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Exchanged is the result of exchanging an API key.
type Exchanged struct {
	Token string
	Life  time.Duration
}

// Limited is an exchange that was refused because of the rate limit.
type Limited struct{ After time.Duration }

func (l *Limited) Error() string { return fmt.Sprintf("%s; try again in %s", LimitReached, l.After) }

// LimitReached is what every text of a Limited says.
const LimitReached = "exchange limit reached"

// ErrUnavailable: the server answered that it can't exchange keys now.
var ErrUnavailable = errors.New("unavailable")

// Token keeps one key's access token, so that 30 exchanges per minute suffice for any request rate (see AUTH-3). It
// renews the token in the background during the last third of its life, in domain time, and immediately if the server
// refuses it. Set the fields before the first use.
type Token struct {
	Now func() time.Time                         // domain time
	Ask func(context.Context) (Exchanged, error) // makes one exchange; *Limited when refused for the limit

	mu       sync.Mutex
	busy     chan struct{} // closed when the exchange that is under way ends; nil = none is
	token    string
	got      time.Time // domain time
	life     time.Duration
	renewing bool
	retry    time.Duration // clock.Mono before which no exchange is tried again
	failure  error         // of the last exchange
	patient  bool
}

// SetPatient says whether Bearer waits when the exchange limit is reached.
func (t *Token) SetPatient(patient bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.patient = patient
}

// Bearer is a token that is valid for a request sent now. Errors: an exchange's; ctx's while another caller's is under way.
func (t *Token) Bearer(ctx context.Context) (string, error) {
	return t.get(ctx, func() bool {
		age := t.Now().Sub(t.got)
		if t.token == "" || age < 0 || age >= t.life-time.Second { // see AUTH-2
			return false
		}
		if age > t.life*2/3 && !t.renewing && (t.failure == nil || clock.Mono() >= t.retry) {
			t.renewing = true
			go t.renewAhead(context.WithoutCancel(ctx), t.token)
		}
		return true
	})
}

// get is the token if it is good, which is asked with mu held, or else what an exchange brings. Only one is under way at a
// time. After a failed one it returns the same error for two seconds: a dead key must not use up the exchange limit.
func (t *Token) get(ctx context.Context, good func() bool) (string, error) {
	for {
		t.mu.Lock()
		token, ok, busy := t.token, good(), t.busy
		var failure error
		if t.failure != nil && clock.Mono() < t.retry {
			failure = t.failure
		}
		if !ok && failure == nil && busy == nil {
			t.busy = make(chan struct{})
		}
		t.mu.Unlock()
		switch {
		case ok:
			return token, nil
		case failure != nil:
			return "", failure
		case busy == nil:
			return t.exchange(ctx)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-busy:
		}
	}
}

func (t *Token) renewAhead(ctx context.Context, old string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	got := t.Now()
	x, err := t.Ask(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewing = false
	if t.settle(err) && t.token == old {
		t.token, t.life, t.got = x.Token, x.Life, got
	}
}

// settle notes how an exchange went; it needs mu.
func (t *Token) settle(err error) bool {
	t.failure = nil
	if err != nil && !errors.Is(err, ErrUnreachable) && !errors.Is(err, ErrUnavailable) { // the server didn't count the exchange, and may be back any moment
		t.failure, t.retry = err, clock.Mono()+2*time.Second
	}
	return err == nil
}

// Refused replaces a token that the server refused; later callers get the new one. Errors: as Bearer.
func (t *Token) Refused(ctx context.Context, old string) (string, error) {
	return t.get(ctx, func() bool { return t.token != old })
}

// exchange is called by the one who has set busy, and ends that.
func (t *Token) exchange(ctx context.Context) (string, error) {
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		close(t.busy)
		t.busy = nil
	}()
	for {
		got := t.Now() // before the call, so that the token never seems younger than it is
		x, err := t.Ask(ctx)
		if limited, ok := errors.AsType[*Limited](err); ok && t.waits() {
			if err := Pause(ctx, limited.After); err != nil {
				return "", fmt.Errorf("exchange limit: %w", err)
			}
			continue
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.settle(err) {
			t.token, t.life, t.got = x.Token, x.Life, got
		}
		return x.Token, err
	}
}

func (t *Token) waits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.patient
}

// RetryAfter parses the header of that name into 1 to 61 s; 5 s if it is unusable.
func RetryAfter(value string) time.Duration {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > 61 {
		n = 5
	}
	return time.Duration(n) * time.Second
}

// Pause waits in wall time; the error is ctx's.
func Pause(ctx context.Context, d time.Duration) error {
	over := make(chan struct{})
	t := clock.WallAfter(d, func() { close(over) })
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-over:
		return nil
	}
}
