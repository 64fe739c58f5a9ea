package entry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
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
