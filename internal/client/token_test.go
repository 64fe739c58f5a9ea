package client

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeKey is a key whose exchanges return t1, t2, ... valid for 900 s.
type fakeKey struct {
	asked atomic.Int64
	err   error
}

func (f *fakeKey) ask(context.Context) (Exchanged, error) {
	n := f.asked.Add(1)
	if f.err != nil {
		return Exchanged{}, f.err
	}
	return Exchanged{fmt.Sprintf("t%d", n), 900 * time.Second}, nil
}

// TestTokenLife: a token is renewed in the background after 600 s, and immediately when it has expired or was
// refused. It is never renewed more often.
func TestTokenLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(0, 0)
		f := &fakeKey{}
		tok := &Token{Now: func() time.Time { return now }, Ask: f.ask}
		expect := func(what, want string, asked int64) {
			t.Helper()
			got, err := tok.Bearer(t.Context())
			synctest.Wait()
			if err != nil || got != want || f.asked.Load() != asked {
				t.Errorf("%s: got %s (%v) after %d exchanges, want %s after %d", what, got, err, f.asked.Load(), want, asked)
			}
		}
		expect("the first", "t1", 1)
		now = now.Add(600 * time.Second)
		expect("at two thirds", "t1", 1)
		now = now.Add(time.Second)
		expect("after two thirds: renewed behind it", "t1", 2)
		expect("then the new one", "t2", 2)
		now = now.Add(899 * time.Second)
		expect("a second before the end", "t3", 3)
		now = now.Add(-time.Hour)
		expect("a clock that went back", "t4", 4)
		got, err := tok.Refused(t.Context(), "t4")
		if err != nil || got != "t5" {
			t.Errorf("refused: got %s (%v), want t5", got, err)
		}
		if got, err = tok.Refused(t.Context(), "t4"); err != nil || got != "t5" || f.asked.Load() != 5 {
			t.Errorf("refused by a second caller: got %s (%v) after %d exchanges, want t5 after 5", got, err, f.asked.Load())
		}
	})
}

// TestDeadKey: a failed exchange is remembered for two seconds; a missing answer and a 503 aren't.
func TestDeadKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dead := errors.New("401 key_invalid")
		for _, c := range []struct {
			err   error
			asked int64
		}{{dead, 1}, {fmt.Errorf("%w: refused", ErrUnreachable), 2}, {fmt.Errorf("%w: 503", ErrUnavailable), 2}} {
			f := &fakeKey{err: c.err}
			tok := &Token{Now: time.Now, Ask: f.ask}
			for range 2 {
				if _, err := tok.Bearer(t.Context()); !errors.Is(err, c.err) {
					t.Errorf("got %v, want %v", err, c.err)
				}
			}
			if f.asked.Load() != c.asked {
				t.Errorf("%v: %d exchanges, want %d", c.err, f.asked.Load(), c.asked)
			}
		}
	})
}

// TestLimited: only patient callers wait when the exchange limit is reached.
func TestLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, patient := range []bool{true, false} {
			n := 0
			tok := &Token{Now: time.Now, Ask: func(context.Context) (Exchanged, error) {
				if n++; n == 1 {
					return Exchanged{}, &Limited{After: 7 * time.Second}
				}
				return Exchanged{"t", time.Minute}, nil
			}}
			tok.SetPatient(patient)
			began := time.Now()
			_, err := tok.Bearer(t.Context())
			var limited *Limited
			if patient != (err == nil) || !patient && !errors.As(err, &limited) {
				t.Errorf("patient %v: got %v, want an error only for the impatient, and that a limit", patient, err)
			}
			if waited := time.Since(began); patient && waited != 7*time.Second {
				t.Errorf("waited %s, want 7s", waited)
			}
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{"1": time.Second, "61": 61 * time.Second, "": 5 * time.Second, "0": 5 * time.Second, "soon": 5 * time.Second, "3600": 5 * time.Second} {
		if got := RetryAfter(value); got != want {
			t.Errorf("%q: got %s, want %s", value, got, want)
		}
	}
}

// TestNobodyWaitsTooLong: a caller whose context ends while another caller's exchange is under way gets the context's
// error, and the others get that exchange's token.
func TestNobodyWaitsTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		asked := 0
		tok := &Token{Now: time.Now, Ask: func(context.Context) (Exchanged, error) {
			asked++
			<-answer
			return Exchanged{"t", time.Minute}, nil
		}}
		for name, get := range map[string]func(context.Context) (string, error){
			"Bearer":  tok.Bearer,
			"Refused": func(ctx context.Context) (string, error) { return tok.Refused(ctx, "") },
		} {
			tok.token, asked = "", 0
			got := make(chan string)
			for range 2 {
				go func() {
					token, _ := get(t.Context())
					got <- token
				}()
			}
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			if _, err := get(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("%s: got %v after %s, want %v after 1s", name, err, time.Since(began), context.DeadlineExceeded)
			}
			cancel()
			answer <- struct{}{}
			if a, b := <-got, <-got; a != "t" || b != "t" || asked != 1 {
				t.Errorf("%s: the others got %q and %q after %d exchanges, want t after one", name, a, b, asked)
			}
		}
	})
}
