package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
)

// TestFeed: a command is followed from its claim to its answer. The rings drop the oldest commands, which can no
// longer be found then.
func TestFeed(t *testing.T) {
	t.Parallel()
	f := NewFeed(clock.Real{})
	pass := func(n int, points ...command.Point) string {
		trail := &command.Trail{Intent: command.Intent{CommandID: fmt.Sprintf("cmd_%d", n), Order: command.Order{DoorID: "dor_1", Command: "open"}, BoardID: "brd_1"},
			Outcome: vocab.Reported, Status: 200, Body: []byte(`{"result":"ok"}`), Accepted: 1 * time.Second, Committed: 2 * time.Second,
			Published: 3 * time.Second, Reported: 5 * time.Second, Settled: 6 * time.Second}
		for _, p := range points {
			f.Command(p, trail)
		}
		return trail.Intent.CommandID
	}
	first := pass(0, command.AfterClaim, command.AfterPublish)
	if c, ok := f.Chain(first); !ok || c.Outcome != "" || c.Published != 3*time.Second || c.Settled != 0 {
		t.Errorf("published: got %+v, %v, want a command in progress", c, ok)
	}
	f.Event(history.Event{Kind: history.Actuation, CommandID: first, Action: "pulse"})
	pass(0, command.AfterCommit)
	c, ok := f.Chain(first)
	if !ok || c.Outcome != string(vocab.Reported) || c.Took() != 5*time.Second || c.Action != "pulse" || c.Relay == 0 || string(c.Answer) != `{"result":"ok"}` {
		t.Errorf("answered: got %+v, %v, want all of its way", c, ok)
	}
	var words []string
	for _, h := range waterfall(c) {
		words = append(words, h.Word)
	}
	if want := "hop.request hop.decided hop.claimed hop.published hop.relay hop.reported hop.answered"; strings.Join(words, " ") != want {
		t.Errorf("the way: got %s, want %s", words, want)
	}
	lost := pass(-1, command.AfterClaim, command.AfterPublish)
	f.Restarted()
	if c, _ := f.Chain(lost); c.Outcome != string(vocab.NoResponse) || c.Settled == 0 || c.Status != 504 {
		t.Errorf("in progress when the server died: got %+v, want it settled as a 504", c)
	}
	if c, _ := f.Chain(first); c.Outcome != string(vocab.Reported) {
		t.Errorf("answered before the server died: got %+v, want it as it was", c)
	}
	for n := range keepChains {
		pass(n+1, command.AfterClaim, command.AfterPublish, command.AfterCommit)
	}
	if _, ok := f.Chain(first); ok {
		t.Errorf("%s is still there after %d others", first, keepChains)
	}
	if len(f.byID) != keepChains {
		t.Errorf("the index has %d commands, want %d", len(f.byID), keepChains)
	}
	if got, _ := f.Latest(2); len(got) != 2 || got[0].ID != fmt.Sprintf("cmd_%d", keepChains) {
		t.Errorf("the latest: got %v, want the newest first", got)
	}
}

// TestDenied: a refusal is a row of its own, newest first, with the place where no door could be chosen, and leads to the
// reason.
func TestDenied(t *testing.T) {
	t.Parallel()
	c, _ := newTestConsole(t)
	f := c.cfg.Feed
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	f.Denied(entry.Denial{PlaceID: "plc_9", Method: vocab.Phone, Reason: vocab.NoValidGrant, Who: "010-****-9999", At: at})
	f.Denied(entry.Denial{PlaceID: "plc_9", DoorID: "dor_9", GrantID: "pmt_9", Method: vocab.Link, Reason: vocab.Expired, Who: "010-****-1234", At: at.Add(time.Second)})
	rows := c.feedRows(10)
	if len(rows) != 2 {
		t.Fatalf("got %d rows, want 2", len(rows))
	}
	for i, want := range []feedRow{
		{Who: "010-****-1234", Way: "way.link", Detail: "expired", Door: "dor_9", Why: "/people?door=dor_9&grant=pmt_9&place=plc_9#why"},
		{Who: "010-****-9999", Way: "way.phone", Detail: "no_valid_grant"},
	} {
		got := rows[i]
		if got.Who != want.Who || got.Way != want.Way || got.Detail != want.Detail || got.Door != want.Door || got.Why != want.Why || got.Outcome != "outcome.denied" || got.PlaceID != "plc_9" {
			t.Errorf("row %d: got %+v, want %+v, denied, at plc_9", i, got, want)
		}
	}
}

// TestVisitors: who came to a reader is known once the board's record of it has come in, masked whatever the board says; the
// row leads to the reason if a grant decided.
func TestVisitors(t *testing.T) {
	t.Parallel()
	c, _ := newTestConsole(t)
	f := c.cfg.Feed
	for seq, grant := range []string{"", "pmt_9", "", ""} {
		f.Event(history.Event{Kind: history.Presented, BoardID: "brd_9", DoorID: "dor_9", At: int64(seq) * 1000, RecordSeq: int64(seq), GrantID: grant, Result: vocab.Opened, Reason: "onsite"})
	}
	f.Message("brd_9", false, "rec", []byte(`{"records":[{"seq":0,"phoneHead":"010","phoneTail":"0000"},{"seq":1,"phoneHead":"010","phoneTail":"1234"},{"seq":2,"phoneHead":"01012345678","phoneTail":"5678"}]}`))
	f.Message("brd_8", false, "rec", []byte(`{"records":[{"seq":3,"phoneHead":"010","phoneTail":"9999"}]}`))
	f.Message("brd_9", false, "rec", []byte(`{"records":[{"seq":3,"phoneHead":"010","phoneTail":"01012345678"}]}`))
	f.Message("brd_9", true, "rec", []byte(`{"records":[{"seq":3,"phoneHead":"010","phoneTail":"9999"}]}`))
	var got []string
	for _, r := range c.feedRows(10) {
		got = append(got, fmt.Sprintf("%q %q", r.Who, r.Why))
	}
	if want := `"" ""|"5678" ""|"010-****-1234" "/people?door=dor_9&grant=pmt_9&place=#why"|"" ""`; strings.Join(got, "|") != want {
		t.Errorf("the visitors are %s, want %s", strings.Join(got, "|"), want)
	}
}

// TestMessages: a board's latest messages are copies, truncated if long, with secrets masked.
func TestMessages(t *testing.T) {
	t.Parallel()
	f := NewFeed(clock.Real{})
	payload := []byte(`{"id":"cmd_1","phoneKey":"abcdef","password":"hunter2","upsert":[{"phoneHash":"0123","tokenHash":"4567"}]}`)
	f.Message("brd_1", true, "cmd", payload)
	copy(payload, strings.Repeat("x", len(payload)))
	f.Message("brd_2", true, "cmd", []byte(`{"id":"cmd_1"}`))
	f.Message("brd_1", false, "rpt", []byte(`{"commandId":"cmd_2"}`))
	f.Message("brd_1", true, "sync", []byte(`{"phoneKey":"`+strings.Repeat("s", 2*keepBytes)+`"}`))
	got := f.Messages("brd_1", "cmd_1", 10)
	if len(got) != 1 || !got[0].Down || !strings.Contains(got[0].Text(), `"id": "cmd_1"`) {
		t.Fatalf("about cmd_1: got %+v, want its command", got)
	}
	for _, secret := range []string{"abcdef", "hunter2", "0123", "4567"} {
		if strings.Contains(got[0].Text(), secret) {
			t.Errorf("the message shows %q: %s", secret, got[0].Text())
		}
	}
	all := f.Messages("brd_1", "", 10)
	if len(all) != 3 || all[0].Channel != "sync" || strings.Contains(all[0].Text(), "ss") || !strings.Contains(all[0].Text(), "(cut)") {
		t.Errorf("all of brd_1: got %d, the first %q, want 3, the newest first, cut and masked", len(all), all[0].Text())
	}
}

// TestRate: the number of commands in the last ten whole seconds, and how long they took.
func TestRate(t *testing.T) {
	t.Parallel()
	var r rate
	if n, p50, _ := r.read(time.Minute); n != 0 || p50 != -1 {
		t.Errorf("nothing yet: got %v and %v, want 0 and none", n, p50)
	}
	for s := range 60 {
		for i := range 100 {
			r.add(time.Duration(s)*time.Second+time.Duration(i)*time.Millisecond, time.Duration(i+1)*time.Millisecond)
		}
	}
	n, p50, p99 := r.read(time.Minute)
	if n != 100 || p50 != 50*time.Millisecond || p99 != 99*time.Millisecond {
		t.Errorf("got %v a second, p50 %v, p99 %v, want 100, 50 ms, 99 ms", n, p50, p99)
	}
	if n, p50, _ := r.read(2 * time.Minute); n != 0 || p50 != -1 {
		t.Errorf("a minute later: got %v and %v, want 0 and none", n, p50)
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{-1: "–", 0: "0 ms", time.Microsecond: "<1 ms", 283 * time.Millisecond: "283 ms", 1500 * time.Millisecond: "1.5 s",
		time.Minute: "1 m", 80 * time.Minute: "1 h 20 m", 36 * time.Hour: "36 h", 50 * time.Hour: "2 d 2 h"} {
		if got := span(d); got != want {
			t.Errorf("span(%d): got %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 13781: "13,781", -1234567: "-1,234,567"} {
		if got := amount.Number(n); got != want {
			t.Errorf("amount.Number(%d): got %q, want %q", n, got, want)
		}
	}
}
