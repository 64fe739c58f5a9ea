package entry_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
)

// TestFloodOfDenials: a link that is refused for any reason leaves at most 60 records per minute. The next attempt
// gets a 429, and other links aren't affected.
func TestFloodOfDenials(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	expired := h.permit("r", 1)
	h.Pass(2 * time.Hour)
	denied := 0
	for i := range 500 {
		_, err := h.Open(ctx, expired.Token, "dor_1")
		switch code := fail.CodeOf(err); {
		case code == fail.EntryDenied:
			denied++
		case code != fail.RateLimited || i < 60:
			t.Fatalf("attempt %d: got %v, want it recorded up to 60 and rate_limited after", i, err)
		}
	}
	if _, n := h.last(); n != 60 || denied != 60 {
		t.Errorf("got %d records, %d denials, want 60 and 60", n, denied)
	}
	other := h.permit("other", 40)
	if _, err := h.Open(ctx, other.Token, "dor_1"); err != nil {
		t.Errorf("another link: got %v, want it to open", err)
	}
	h.revoke("other") // otherwise the person's other grant would open
	h.Pass(time.Minute)
	if _, err := h.Open(ctx, expired.Token, "dor_1"); fail.CodeOf(err) != fail.EntryDenied {
		t.Errorf("a minute later: got %v, want code %q", err, fail.EntryDenied)
	}
}

// TestFloodOfDeadLinks: a dead link gets 60 answers per minute, too, whether it was revoked or never existed, and
// whichever door is named. The next attempt gets a 429.
func TestFloodOfDeadLinks(t *testing.T) {
	t.Parallel()
	for name, door := range map[string]string{"at a door": "dor_1", "at no door": "dor_none"} {
		h := newHouse(t)
		p := h.permit("r", 1)
		h.revoke("r")
		for _, token := range []string{"guess", p.Token} {
			for i := range 62 {
				_, err := h.Open(ctx, token, door)
				if want := map[bool]string{true: fail.LinkInvalid, false: fail.RateLimited}[i < 60]; fail.CodeOf(err) != want {
					t.Fatalf("%s, %q, attempt %d: got %v, want code %q", name, token, i+1, err, want)
				}
				var e *fail.Error
				if errors.As(err, &e) && i == 61 && e.RetryAfter != time.Minute {
					t.Errorf("%s, %q: got RetryAfter %s, want 1m", name, token, e.RetryAfter)
				}
			}
		}
		h.Pass(time.Minute)
		for _, token := range []string{"guess", p.Token} {
			if _, err := h.Open(ctx, token, door); fail.CodeOf(err) != fail.LinkInvalid {
				t.Errorf("%s, %q a minute later: got %v, want code %q", name, token, err, fail.LinkInvalid)
			}
		}
		if r, n := h.last(); r.Reason != vocab.LinkInvalid || n != map[string]int{"dor_1": 122, "dor_none": 61}[door] {
			t.Errorf("%s: got %d records, %+v", name, n, r)
		}
	}
}

// TestFloodOfUnknownLinks: made-up links always get the same answer. They leave at most 60 records per minute and
// place, and don't use up anybody else's attempts.
func TestFloodOfUnknownLinks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.permit("r", 1)
	h.revoke("r")
	for range 60 {
		_, _ = h.Open(ctx, p.Token, "dor_1")
	}
	for i := range 200 {
		if _, err := h.Open(ctx, fmt.Sprint("guess", i), "dor_1"); fail.CodeOf(err) != fail.LinkInvalid {
			t.Fatalf("made-up link %d: got %v, want code %q", i, err, fail.LinkInvalid)
		}
	}
	if _, n := h.last(); n != 120 {
		t.Errorf("got %d records, want 120", n)
	}
	if _, err := h.Open(ctx, p.Token, "dor_1"); fail.CodeOf(err) != fail.RateLimited {
		t.Errorf("the revoked link's 61st attempt: got %v, want code %q", err, fail.RateLimited)
	}
}

// TestFloodOfCalls: of a stranger's calls per minute, six are recorded and 60 are answered; other numbers aren't
// affected.
func TestFloodOfCalls(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	answered := 0
	for range 500 {
		got, err := h.Call(ctx, number, "01000000001")
		h.ok(err)
		if got.Answered {
			answered++
		}
	}
	if _, n := h.last(); n != 6 || answered != 60 {
		t.Errorf("got %d records, %d answered, want 6 and 60", n, answered)
	}
	if got, err := h.Call(ctx, number, "01000000002"); err != nil || got.Reason != vocab.NoValidGrant {
		t.Errorf("another number: got %+v, %v, want Reason %v and no error", got, err, vocab.NoValidGrant)
	}
}

// TestOpeningsByPhone: calls from one number within 3 s count as one opening, and a number can open six times per
// minute.
func TestOpeningsByPhone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.permit("r", 1)
	for i := range 10 {
		got, err := h.Call(ctx, number, kim)
		h.ok(err)
		if want := i < 6; got.Answered != want || want && got.Result != vocab.Opened {
			t.Errorf("call %d: got %+v, want it to open: %t", i, got, want)
		}
		again, err := h.Call(ctx, number, kim)
		h.ok(err)
		if fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("the same call again: %+v, want %+v", again, got)
		}
		h.Pass(3 * time.Second)
	}
	if n := len(h.door.asks); n != 6 {
		t.Errorf("got %d openings, want 6", n)
	}
	h.Pass(time.Minute)
	if got, err := h.Call(ctx, number, kim); err != nil || got.Result != vocab.Opened {
		t.Errorf("a minute later: got %+v, %v, want Result %v and no error", got, err, vocab.Opened)
	}
}

// TestOnlyOpeningsCount: an opening counts towards the six per minute if it opened the door or may have. What opened
// nothing gives its place back, so a customer can come in as soon as the line is back.
func TestOnlyOpeningsCount(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		outcome vocab.Outcome
		err     error
		sent    bool
		counts  bool
	}{
		"opened":                         {outcome: vocab.Reported, sent: true, counts: true},
		"no response":                    {outcome: vocab.NoResponse, sent: true, counts: true},
		"sent, but its end isn't stored": {err: command.ErrUnavailable, sent: true, counts: true},
		"offline":                        {outcome: vocab.Offline},
		"refused":                        {outcome: vocab.Refused, sent: true},
		"too many in flight":             {err: command.ErrTooMany},
		"not stored, so never sent":      {err: command.ErrUnavailable},
	} {
		for way, press := range map[string]func(h *house, token string) (limited bool){
			"link": func(h *house, token string) bool {
				_, err := h.Open(ctx, token, "dor_1")
				return fail.CodeOf(err) == fail.RateLimited
			},
			"phone": func(h *house, _ string) bool {
				got, err := h.Call(ctx, number, kim)
				return err == nil && !got.Answered
			},
		} {
			h := newHouse(t)
			p := h.permit("r", 1)
			h.door.outcome, h.door.err, h.door.sends = tt.outcome, tt.err, tt.sent
			for i := range 8 {
				if got, want := press(h, p.Token), tt.counts && i >= 6; got != want {
					t.Errorf("%s, by %s, press %d: limited %t, want %t", name, way, i+1, got, want)
				}
				h.Pass(3 * time.Second)
			}
			h.door.outcome, h.door.err = vocab.Reported, nil
			if got := press(h, p.Token); got != tt.counts {
				t.Errorf("%s, by %s, once doors open: limited %t, want %t", name, way, got, tt.counts)
			}
		}
	}
}

// TestOpeningsAtOnce: a press that is still running has its place among the six, whatever becomes of it, so presses at
// the same moment never open more often.
func TestOpeningsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.permit("r", 1, "dor_1", "dor_2", "dor_in")
	for range 4 {
		_, err := h.Open(ctx, p.Token, "dor_1")
		h.ok(err)
		h.Pass(3 * time.Second)
	}
	h.door.outcome, h.door.gate, h.door.begun = vocab.Offline, make(chan struct{}), make(chan struct{})
	var running sync.WaitGroup
	for _, door := range []string{"dor_1", "dor_2"} {
		running.Go(func() {
			if got, err := h.Open(ctx, p.Token, door); err != nil || got.Result != vocab.Result(vocab.Offline) {
				t.Errorf("%s: got %+v, %v, want it offline", door, got, err)
			}
		})
		<-h.door.begun
	}
	if _, err := h.Open(ctx, p.Token, "dor_in"); fail.CodeOf(err) != fail.RateLimited {
		t.Errorf("with two running after four that opened: got %v, want code %q", err, fail.RateLimited)
	}
	close(h.door.gate)
	running.Wait()
	if got, err := h.Open(ctx, p.Token, "dor_in"); err != nil || got.Result != vocab.Result(vocab.Offline) {
		t.Errorf("after both opened nothing: got %+v, %v, want a new press", got, err)
	}
}
