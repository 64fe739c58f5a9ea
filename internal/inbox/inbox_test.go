package inbox

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const entryToken = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"

// A client that swaps two fields sends a token, or a phone, as the door.
func TestDoorIsMasked(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{entryToken: "[token]", "01012345678": "010-****-5678", "dor_0001": "dor_0001"} {
		if got := masked(&Exchange{DoorID: in}).DoorID; got != want {
			t.Errorf("door %s is kept as %s, want %s", in, got, want)
		}
	}
}

func exchange(place string, n int) Exchange {
	return Exchange{At: time.Unix(int64(n), 0).UTC(), PlaceID: place, RequestID: fmt.Sprint("r", n), Method: "POST", Route: "/device/v1/devices/{id}/commands",
		Target: "/device/v1/devices/dor_1/commands", Key: fmt.Sprint("k", n), Token: "secret-token", Status: 200, Request: []byte(`{"phone":"01012345678"}`), Answer: []byte(`{"success":true}`)}
}

// TestBounds: entries and bytes per place, total bytes, and the rate are bounded; the latest entries are kept.
func TestBounds(t *testing.T) {
	t.Parallel()
	r := New(Config{Entries: 3})
	t.Cleanup(r.Close)
	for n := range 5 {
		r.Add(exchange("a", n))
	}
	list, kept := r.List("a", Filter{})
	if len(list) != 3 || list[0].RequestID != "r2" || list[2].RequestID != "r4" || kept.Evicted != 2 {
		t.Errorf("got %d entries from %s, %d evicted; want 3 from r2, 2 evicted", len(list), list[0].RequestID, kept.Evicted)
	}
	if e := list[2]; strings.Contains(fmt.Sprintf("%+v", *e), "secret-token") || strings.Contains(e.Request, "01012345678") {
		t.Errorf("kept in full: %+v, want secrets masked", *e)
	}

	big := New(Config{Bytes: 40 << 10, Total: 60 << 10})
	t.Cleanup(big.Close)
	long := exchange("a", 0)
	long.Answer = []byte(strings.Repeat("x ", 50_000))
	for range 10 {
		big.Add(long)
	}
	list, _ = big.List("a", Filter{})
	if len(list) != 4 || len(list[0].Answer) != maxText || list[0].AnswerBytes != 100_000 {
		t.Errorf("got %d entries of %d bytes, want 4 of %d (of 100,000)", len(list), len(list[0].Answer), maxText)
	}
	for name, one := range map[string]func(x *Exchange, text string){"door": func(x *Exchange, text string) { x.DoorID = text },
		"key": func(x *Exchange, text string) { x.Key = text }, "type": func(x *Exchange, text string) { x.Type = text }} {
		x := exchange(name, 0)
		one(&x, strings.Repeat("x ", 5_000))
		r := New(Config{Bytes: 40 << 10})
		t.Cleanup(r.Close)
		for range 10 {
			r.Add(x)
		}
		if list, _ := r.List(name, Filter{}); len(list) != 3 {
			t.Errorf("a long %s: %d entries are kept, want 3 of 10 KB in 40 KiB", name, len(list))
		}
	}
	for range 10 {
		long.PlaceID = "b"
		big.Add(long)
	}
	b, _ := big.List("b", Filter{})
	a, _ := big.List("a", Filter{})
	if len(a) != 3 || len(b) != 3 {
		t.Errorf("two places: got %d and %d entries, want 3 and 3: half of the whole each", len(a), len(b))
	}

	slow := New(Config{Rate: 1})
	t.Cleanup(slow.Close)
	n := 0
	for range 1000 {
		if slow.Wants("a", false, false) {
			n++
		}
	}
	if _, kept := slow.List("a", Filter{}); n < 10 || n > 500 || kept.Skipped != int64(1000-n) {
		t.Errorf("a flood: %d of 1,000 wanted, %d skipped; want a burst of about 10 and the rest counted", n, kept.Skipped)
	}
	if slow.Wants("l", false, true) || !New(Config{Live: true}).Wants("l", false, true) {
		t.Error("live places are recorded when asked for, and only then")
	}
}

// TestFilters: by status, path and Idempotency-Key, and what is left after clearing.
func TestFilters(t *testing.T) {
	t.Parallel()
	r := New(Config{})
	t.Cleanup(r.Close)
	for n := range 4 {
		x := exchange("a", n)
		x.Status = 200 + n*100
		x.Key = fmt.Sprintf("order-0101234567%d", n)
		r.Add(x)
	}
	r.Add(exchange("b", 9))
	for name, c := range map[string]struct {
		f    Filter
		want int
	}{
		"all":            {Filter{}, 4},
		"status":         {Filter{Status: func(s int) bool { return s >= 400 }}, 2},
		"path":           {Filter{Path: "dor_1"}, 4},
		"route":          {Filter{Path: "{id}"}, 4},
		"another path":   {Filter{Path: "/space"}, 0},
		"the whole key":  {Filter{Key: "order-01012345671"}, 1},
		"the key, shown": {Filter{Key: "order-010-****-5672"}, 1},
		"no key":         {Filter{Key: "x"}, 0},
	} {
		if list, _ := r.List("a", c.f); len(list) != c.want {
			t.Errorf("%s: got %d entries, want %d", name, len(list), c.want)
		}
	}
	all, _ := r.List("a", Filter{})
	if e := r.Get(all[1].Seq); e == nil || e.RequestID != "r1" {
		t.Errorf("Get: got %+v, want r1", e)
	}
	if n := r.Clear("a"); n != 4 {
		t.Errorf("cleared: got %d, want 4", n)
	}
	if list, _ := r.List("a", Filter{}); len(list) != 0 || r.Get(all[1].Seq) != nil {
		t.Errorf("after clearing: got %d entries, want none", len(list))
	}
	if list, _ := r.List("b", Filter{}); len(list) != 1 {
		t.Errorf("another place's: got %d entries, want 1", len(list))
	}
}

// TestCustomers: requests by a place's customers appear among the place's own, displace none of them, and show no
// link.
func TestCustomers(t *testing.T) {
	t.Parallel()
	r := New(Config{Entries: 3, Rate: 1})
	t.Cleanup(r.Close)
	r.Add(exchange("a", 0))
	for n := range 9 {
		r.Add(Exchange{PlaceID: "a", Customer: true, RequestID: fmt.Sprint("c", n), Method: "POST", Route: "/entry/open", Target: "/entry/open?at=1&t=too-short&x=t=2",
			Request: []byte("t=odd%20one&doorId=dor_1"), Status: 200})
	}
	list, kept := r.List("a", Filter{})
	if len(list) != 4 || list[0].RequestID != "r0" || list[3].RequestID != "c8" || kept.Entries != 4 || kept.Evicted != 6 {
		t.Fatalf("got %d entries, %+v; want the request and the latest three of the customers", len(list), kept)
	}
	if e := list[3]; e.Path != "/entry/open?at=1&t=[token]&x=t=2" || e.Request != "t=[token]&doorId=dor_1" {
		t.Errorf("got %s %s, want no link", e.Path, e.Request)
	}
	for r.Wants("a", true, false) {
	}
	if !r.Wants("a", false, false) {
		t.Error("a flood of customers keeps the partner's requests out")
	}
	if n := r.Clear("a"); n != 4 {
		t.Errorf("cleared: got %d, want 4", n)
	}
}

// TestPeer: an address belongs to the place that last exchanged a key from it.
func TestPeer(t *testing.T) {
	t.Parallel()
	r := New(Config{})
	t.Cleanup(r.Close)
	x := exchange("a", 1)
	x.Given, x.Addr = "token", "10.0.0.1:555"
	r.Add(x)
	if got := r.Peer("10.0.0.1:777"); got != "a" {
		t.Errorf("got %q, want a", got)
	}
	if got := r.Peer("10.0.0.2:555"); got != "" {
		t.Errorf("another address: got %q, want none", got)
	}
	var none *Recorder
	if none.Wants("a", false, false) || none.Peer("x") != "" {
		t.Error("no recorder wants something")
	}
}

func BenchmarkMasked(b *testing.B) {
	x := exchange("a", 1)
	x.Request = []byte(`{"capability":"door","command":"open","args":{"reason":"front desk"}}`)
	x.Answer = []byte(`{"success":true,"data":{"commandId":"cmd_01K3ZV6R2J9Q8M4T7W5X1Y0B2C","deviceId":"dor_0001","capability":"door","command":"open","outcome":"reported","requestedAt":"2026-10-05T09:00:00.000Z","reportedAt":"2026-10-05T09:00:00.080Z","standing":{"state":"locked","since":"2026-10-05T08:00:00.000Z","holdUntil":null,"leaf":"closed","reportedAt":"2026-10-05T09:00:00.080Z","fresh":true}}}`)
	b.ReportAllocs()
	for b.Loop() {
		masked(&x)
	}
}
