package entry_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/store"
)

func TestLinkPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.permit("r", 1, "dor_in", "dor_1")
	v, err := h.Link(p.Token)
	want := entry.LinkView{PlaceName: "Gangnam", State: "active", StartsAt: epoch, EndsAt: epoch.Add(time.Hour), Doors: []entry.LinkDoor{{ID: "dor_1", Name: "Front"}, {ID: "dor_in", Name: "Storage"}}}
	if d := cmp.Diff(want, v); d != "" || err != nil {
		t.Errorf(`got %v %s, want d = "", no error`, err, d)
	}
	h.revoke("r")
	for _, token := range []string{p.Token, "", "x"} {
		if _, err := h.Link(token); fail.CodeOf(err) != fail.LinkInvalid {
			t.Errorf("dead link: got %v, want code %q", err, fail.LinkInvalid)
		}
	}
	if _, n := h.last(); n != 0 || len(h.door.asks) != 0 {
		t.Error("a page opens and records nothing")
	}
}

// looked notes of which doors' policies are read.
type looked struct {
	*store.Store
	doors []string
}

func (l *looked) Policies(placeID, doorID string) ([]access.Window, error) {
	l.doors = append(l.doors, doorID)
	return l.Store.Policies(placeID, doorID)
}

// TestPressReadsItsDoorOnly: however many policies the place's other doors have, a press costs the same. A call may have to
// choose among all doors.
func TestPressReadsItsDoorOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.permit("r", 1, "dor_in", "dor_1")
	l := &looked{Store: h.Store}
	s := entry.New(entry.Config{Clock: h.Clock, Store: l, Device: h.door, Openings: &h.openings})
	if res, err := s.Open(t.Context(), p.Token, "dor_1"); err != nil || res.Result != vocab.Opened {
		t.Fatalf("got %+v, %v, want opened", res, err)
	}
	if _, err := s.Call(t.Context(), number, kim); err != nil {
		t.Fatal(err)
	}
	if want := []string{"dor_1", ""}; !slices.Equal(l.doors, want) {
		t.Errorf("policies of %q were read, want of %q", l.doors, want)
	}
}

func TestOpenDecides(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set    func(h *house)
		door   string
		code   string       // error code; "" = opened
		rule   string       // details.rule
		reason vocab.Reason // in the record; "" = no record
		actor  string
	}{
		"permit":               {func(h *house) {}, "dor_1", "", "", "link", "guest:*5678"},
		"inner door in scope":  {func(h *house) {}, "dor_in", "", "", "link", "guest:*5678"},
		"out of scope":         {func(h *house) {}, "dor_2", fail.EntryDenied, "door_out_of_scope", "door_out_of_scope", "guest:*5678"},
		"another place's door": {func(h *house) {}, "dor_b", fail.DeviceNotFound, "", "", ""},
		"no door":              {func(h *house) {}, "dor_x", fail.DeviceNotFound, "", "", ""},
		"expired":              {func(h *house) { h.Pass(time.Hour) }, "dor_1", fail.EntryDenied, "expired", "expired", "guest:*5678"},
		"expired, a member":    {func(h *house) { h.membership(); h.Pass(time.Hour) }, "dor_1", "", "", "link", "guest:*5678"},
		"revoked, a member":    {func(h *house) { h.membership(); h.revoke("r") }, "dor_1", fail.LinkInvalid, "", "link_invalid", "guest:*5678"},
		"revoked and renewed":  {func(h *house) { h.revoke("r"); h.permit("r", 1) }, "dor_1", fail.LinkInvalid, "", "link_invalid", "guest:*----"},
		"closed":               {func(h *house) { h.window("dor_1", "closed") }, "dor_1", fail.EntryDenied, "closed_window", "closed_window", "guest:*5678"},
		"free":                 {func(h *house) { h.window("dor_2", "free") }, "dor_2", "", "", "free_window", "guest:*5678"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			p := h.permit("r", 1, "dor_1", "dor_in")
			tt.set(h)
			got, err := h.Open(ctx, p.Token, tt.door)
			if fail.CodeOf(err) != tt.code || tt.code == "" && (err != nil || got.Result != "opened" || got.DoorID != tt.door || got.DoorName == "" || got.Failure() != nil) {
				t.Fatalf("got %+v, %v, want code %q, or %q opened", got, err, tt.code, tt.door)
			}
			var e *fail.Error
			if errors.As(err, &e) && tt.rule != "" && e.Details["rule"] != tt.rule {
				t.Errorf("details %v, want the rule %v", e.Details, tt.rule)
			}
			if r, _ := h.last(); r.Reason != tt.reason || r.Actor != tt.actor || tt.reason != "" && (r.DoorID != tt.door || r.Method != "link") {
				t.Errorf("record %+v, want reason %q of %q at %q", r, tt.reason, tt.actor, tt.door)
			}
		})
	}
}

func TestOpenOutcomes(t *testing.T) {
	t.Parallel()
	for outcome, code := range map[vocab.Outcome]string{vocab.Offline: fail.StoreOffline, vocab.Refused: fail.DeviceRefused, vocab.NoResponse: fail.DeviceNoResponse} {
		h := newHouse(t)
		h.door.outcome = outcome
		got, err := h.Open(ctx, h.permit("r", 1).Token, "dor_1")
		if err != nil || got.Result != vocab.Result(outcome) || fail.CodeOf(got.Failure()) != code || got.Failure().Details["reason"] != string(outcome) {
			t.Errorf(`%s: got %+v %v %v, want no error, got.Result = vocab.Result(outcome), fail.CodeOf(got.Failure()) = code, got.Failure().Details["reason"] = string(outcome)`, outcome, got, err, got.Failure())
		}
	}
	h := newHouse(t)
	h.door.err = command.ErrTooMany
	if _, err := h.Open(ctx, h.permit("r", 1).Token, "dor_1"); fail.CodeOf(err) != fail.TooManyInFlight {
		t.Errorf("got %v, want fail.CodeOf(err) = fail.TooManyInFlight", err)
	}
	h.door.err = nil
	if got, err := h.Open(ctx, h.permit("r", 1).Token, "dor_1"); err != nil || got.Result != "opened" {
		t.Errorf("after a command that never ran: got %v, want a new one to open", err)
	}
}

// TestOnePressOverARestart: a restart within 3 s of a press that opened, or may have opened, doesn't make the next press
// a second opening. A press that certainly opened nothing is made again.
func TestOnePressOverARestart(t *testing.T) {
	t.Parallel()
	for outcome, asks := range map[vocab.Outcome]int{vocab.Reported: 1, vocab.NoResponse: 1, vocab.Offline: 3} {
		for name, press := range map[string]func(h *house, token string) string{
			"link": func(h *house, token string) string {
				r, err := h.Open(ctx, token, "dor_1")
				h.ok(err)
				return string(r.Result) + r.DoorName + r.Device.CommandID
			},
			"phone": func(h *house, _ string) string {
				r, err := h.Call(ctx, number, kim)
				h.ok(err)
				return string(r.Result) + r.DoorID
			},
		} {
			h := newHouse(t)
			p := h.permit("r", 1)
			h.door.outcome = outcome
			first := press(h, p.Token)
			h.restart() // on a frozen clock
			press(h, p.Token)
			h.Pass(time.Second)
			h.restart()
			if again := press(h, p.Token); len(h.door.asks) != asks || asks == 1 && again != first {
				t.Errorf("%s, %s: %q after %q and %d commands, want %d", name, outcome, again, first, len(h.door.asks), asks)
			}
			h.Pass(2 * time.Second) // 3 s since the first
			if outcome == vocab.Offline {
				h.Pass(time.Second) // since the last, which was an opening of its own
			}
			if press(h, p.Token); len(h.door.asks) != asks+1 {
				t.Errorf("%s, %s, 3 s later: %d commands, want %d", name, outcome, len(h.door.asks), asks+1)
			}
		}
	}
	h := newHouse(t)
	p := h.permit("r", 1)
	for i, door := range []string{"dor_1", "dor_2"} {
		if _, err := h.Open(ctx, p.Token, door); err != nil || len(h.door.asks) != i+1 {
			t.Errorf("%s: %v and %d commands, want no error and %d", door, err, len(h.door.asks), i+1)
		}
		h.restart()
	}
	for i, ref := range []string{"a", "b"} { // in the instant of the start: two links, whose permits are credited alike
		p := h.permit(ref, 1, "dor_in")
		if _, err := h.Open(ctx, p.Token, "dor_in"); err != nil || len(h.door.asks) != 3+i {
			t.Errorf("link %s: %v and %d commands, want no error and %d", ref, err, len(h.door.asks), 3+i)
		}
	}
}

// TestOnePressOfAStrangerOverARestart: who comes in by a free window has no permit to be known by, and still one press is
// one opening. Two strangers whose numbers look alike once they are masked are two, and the ledger has neither number.
func TestOnePressOfAStrangerOverARestart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.window("dor_1", "free")
	call := func(from string, commands int) {
		t.Helper()
		if r, err := h.Call(ctx, number, from); err != nil || r.Result != vocab.Opened || len(h.door.asks) != commands {
			t.Errorf("%s: got %+v, %v and %d commands, want it opened and %d", from, r, err, len(h.door.asks), commands)
		}
	}
	call("01055550001", 1)
	h.Pass(time.Second)
	h.restart()
	call("01055550001", 1)
	call("01066660001", 2)
	h.Pass(2 * time.Second)
	call("01055550001", 3)
	for _, ask := range h.door.asks {
		if len(ask.Press) < 16 || strings.Contains(ask.Press, "0555") {
			t.Errorf("the ledger gets %q for a caller, want a hash", ask.Press)
		}
	}
	p := h.permit("later", 1, "dor_1")
	for range 2 {
		if _, err := h.Open(ctx, p.Token, "dor_1"); err != nil || len(h.door.asks) != 4 {
			t.Errorf("a link in the free window: %v and %d commands, want no error and 4", err, len(h.door.asks))
		}
		h.Pass(time.Second)
		h.restart()
	}
}

// TestOnePress: the same link and door within 3 s is one opening, but a revocation still takes effect immediately.
func TestOnePress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.permit("r", 1)
	press := func(door string) (string, int) {
		got, err := h.Open(ctx, p.Token, door)
		h.ok(err)
		return got.Device.CommandID, len(h.door.asks)
	}
	first, _ := press("dor_1")
	h.Pass(3*time.Second - time.Millisecond)
	if again, n := press("dor_1"); again != first || n != 1 {
		t.Errorf("within 3 s: %d commands, want 1", n)
	}
	if other, n := press("dor_2"); other == first || n != 2 {
		t.Errorf("another door: %d commands, want 2", n)
	}
	h.Pass(time.Millisecond)
	if next, n := press("dor_1"); next == first || n != 3 {
		t.Errorf("at 3 s: %d commands, want 3", n)
	}
	h.revoke("r")
	if _, err := h.Open(ctx, p.Token, "dor_1"); fail.CodeOf(err) != fail.LinkInvalid {
		t.Errorf("after the revocation: got %v, want code %q", err, fail.LinkInvalid)
	}
}

func TestOpenJoinsARunningOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.permit("r", 1)
	h.door.gate, h.door.begun = make(chan struct{}), make(chan struct{}, 1)
	var wg sync.WaitGroup
	var first, second string
	open := func(id *string) {
		got, err := h.Open(ctx, p.Token, "dor_1")
		if err != nil {
			t.Error(err)
		}
		*id = got.Device.CommandID
	}
	wg.Go(func() { open(&first) })
	<-h.door.begun
	h.Pass(time.Minute) // no matter how long it takes
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := h.Open(gone, p.Token, "dor_1"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone learns nothing: got %v, want %v", err, context.Canceled)
	}
	close(h.door.gate)
	wg.Wait()
	if len(h.door.asks) != 1 || first == "" {
		t.Errorf("%d commands, want 1, and its id in the answer", len(h.door.asks))
	}
	for range 8 { // many at the same moment
		wg.Go(func() {
			var id string
			open(&id)
			h.door.mu.Lock()
			defer h.door.mu.Unlock()
			if second == "" {
				second = id
			}
			if id != second || id == first {
				t.Errorf("got command %s beside %s, want the one that all callers joined", id, second)
			}
		})
	}
	wg.Wait()
	if len(h.door.asks) != 2 {
		t.Errorf("got %d commands, want 2", len(h.door.asks))
	}
}

// TestOpenLimit: at most 6 openings per minute per link.
func TestOpenLimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p, other := h.permit("r", 1), h.permit("other", 1)
	for range 6 {
		_, err := h.Open(ctx, p.Token, "dor_1")
		h.ok(err)
		h.Pass(3 * time.Second)
	}
	var e *fail.Error
	if _, err := h.Open(ctx, p.Token, "dor_2"); !errors.As(err, &e) || e.Code != fail.RateLimited || e.RetryAfter != 42*time.Second {
		t.Errorf("the 7th: got %+v, want rate_limited for 42s", e)
	}
	if _, err := h.Open(ctx, other.Token, "dor_1"); err != nil {
		t.Errorf("another link: got %v, want it to open", err)
	}
	h.Pass(42 * time.Second)
	if _, err := h.Open(ctx, p.Token, "dor_1"); err != nil {
		t.Errorf("a minute after the first: got %v, want it to open", err)
	}
}

func TestBrokenOpening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { entry.CheckBroken(t) })
}
