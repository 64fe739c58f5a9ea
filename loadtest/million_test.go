//go:build unix

package loadtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// hitOf returns the events that client, server and board record for request n of a load on 200 places.
func hitOf(n int) (own, others []history.Event) {
	p := n % 200
	e := history.Event{At: 1_795_000_000_000 + int64(n)*30, PlaceID: fmt.Sprintf("plc_%03d", p), DoorID: fmt.Sprintf("dor_%03d", p), CommandID: fmt.Sprintf("cmd_%08d", n)}
	key := history.KeyHash(e.PlaceID, strconv.Itoa(n))
	at := func(kind string, ms int64, change func(*history.Event)) history.Event {
		x := e
		x.Kind, x.At, x.WallNs = kind, e.At+ms, (e.At+ms)*1e6
		change(&x)
		return x
	}
	client := func(x *history.Event) {
		x.CommandID, x.Key, x.Request, x.Method, x.Route = "", key, "r-"+strconv.Itoa(n), "POST", "/device/v1/devices/{id}/commands"
		x.Meaning = history.Meaning(e.DoorID, "open", 0, "")
	}
	board := func(x *history.Event) { x.BoardID = "brd" + e.PlaceID[3:] }
	cycle := n / 200 // every 6 s
	token := fmt.Sprintf("token %d of %s", cycle/100, e.PlaceID)
	call := history.CallEvent(history.CallIn{Method: "POST", Path: "/device/v1/devices/" + e.DoorID + "/commands", PlaceID: e.PlaceID, Token: token, SentAt: e.At,
		SentNs: e.At * 1e6, Request: []byte(`{"capability":"door","command":"open"}`), Status: 200, PlaceKind: "live", Answer: []byte(`{"data":{"commandId":"` + e.CommandID + `","outcome":"reported"}}`)})
	call.At, call.WallNs = e.At+6, (e.At+6)*1e6
	own = []history.Event{at(history.Attempt, 0, client), call, at(history.Answer, 7, func(x *history.Event) {
		client(x)
		x.CommandID, x.Status, x.Outcome, x.BodyHash = e.CommandID, 200, vocab.Reported, key
	})}
	if cycle%100 == 0 { // a token is valid for 15 minutes
		exchange := history.CallEvent(history.CallIn{Method: "POST", Path: "/core/v1/auth/apikey/token", PlaceID: e.PlaceID, From: "127.0.0." + strconv.Itoa(p), SentAt: e.At - 2, SentNs: (e.At - 2) * 1e6,
			Request: []byte(`{"key":"key of ` + e.PlaceID + `"}`), Status: 200, PlaceKind: "live",
			Answer: []byte(`{"data":{"accessToken":"` + token + `","expiresIn":900,"placeId":"` + e.PlaceID + `","scopes":["device:door"]}}`)})
		exchange.At, exchange.WallNs = e.At-1, (e.At-1)*1e6
		own = append([]history.Event{exchange}, own...)
	}
	others = []history.Event{
		at(history.Intent, 1, func(x *history.Event) { x.Key, x.Op, x.Method = key, "open", "api" }),
		at(history.Publish, 2, func(x *history.Event) { board(x); x.Key, x.Op, x.NotAfterMs, x.Epoch = key, "open", 5000, 1 }),
		at(history.Actuation, 3, func(x *history.Event) {
			board(x)
			x.Action, x.Cause, x.Channel, x.Boot, x.JournalSeq, x.PulseMs = "pulse", "command", 1, 1, int64(cycle+1), 5000
		}),
		at(history.Received, 4, func(x *history.Event) { board(x); x.DoorID, x.Result = "", vocab.OK }),
		at(history.RecordIn, 5, func(x *history.Event) {
			x.RecordID, x.Result, x.Reason, x.Method = fmt.Sprintf("rec_%08d", n), "opened", "api", "api"
		}),
		at(history.Released, 5003, func(x *history.Event) { board(x); x.CommandID, x.Channel = "", 1 }), // before the next
	}
	if n < 200 {
		others = append([]history.Event{at(history.Door, -1000, func(x *history.Event) { board(x); x.CommandID, x.Channel = "", 1 }),
			at(history.Online, -999, func(x *history.Event) { board(x); x.DoorID, x.CommandID, x.Epoch = "", "", 1 })}, others...)
	}
	return own, others
}

// provedHits judges a load of n requests and returns the result and the peak memory of the process in MB.
func provedHits(t *testing.T, n int, o Options, change func(n int, events []history.Event) []history.Event) (Result, int64) {
	t.Helper()
	lab := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		out := history.NewWriter(w)
		for i := range n {
			_, others := hitOf(i)
			if err := out.Write(change(i, others)); err != nil {
				t.Error(err)
				return
			}
		}
		_, _ = out.Close()
	}))
	defer lab.Close()
	log := o.newLog()
	for i := range n {
		own, _ := hitOf(i)
		for _, e := range own {
			o.History(e)
		}
	}
	res := Result{Verdict: Pass}
	began := clock.Mono()
	must.OK(t, (&runner{opts: o}).prove(t.Context(), Target{Control: []string{lab.URL}}, log, &res))
	var u syscall.Rusage
	must.OK(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	t.Logf("%d requests judged in %.1f s, %d MB", n, (clock.Mono() - began).Seconds(), u.Maxrss>>10)
	return res, u.Maxrss >> 10
}

// TestJudgedInGroups: a history judged in groups of places gets the same verdicts as one judged at once, a single
// wrong opening is found, and the run directory contains each event once.
func TestJudgedInGroups(t *testing.T) {
	t.Parallel()
	const hits = 1000
	wrong := func(i int, events []history.Event) []history.Event {
		if i == 777 {
			for _, e := range events {
				if e.Kind == history.Actuation {
					return append(events, e)
				}
			}
		}
		return events
	}
	right := func(_ int, events []history.Event) []history.Event { return events }
	for name, c := range map[string]struct {
		change  func(int, []history.Event) []history.Event
		verdict string
		events  int
	}{"nothing wrong": {right, Pass, 9*hits + 3*200}, "one opening too many": {wrong, Fail, 9*hits + 3*200 + 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			whole, _ := provedHits(t, hits, Options{OutDir: t.TempDir(), atOnce: 1 << 30}, c.change)
			parts, _ := provedHits(t, hits, Options{OutDir: dir, atOnce: 500}, c.change)
			if parts.Verdict != c.verdict || whole.Verdict != c.verdict {
				t.Errorf("judged in groups %s %v, at once %s %v, want %s", parts.Verdict, parts.Reasons, whole.Verdict, whole.Reasons, c.verdict)
			}
			number := func(rows []judge.Row) (out []string) {
				for _, r := range rows {
					out = append(out, r.String())
				}
				return out
			}
			if diff := cmp.Diff(number(whole.Guarantees.Rows), number(parts.Guarantees.Rows)); diff != "" {
				t.Errorf("in groups (-at once +in groups)\n%s", diff)
			}
			if diff := cmp.Diff(whole.Phases, parts.Phases); diff != "" {
				t.Errorf("phases in groups (-at once +in groups)\n%s", diff)
			}
			f := must.Get(os.Open(filepath.Join(dir, historyFile)))(t)
			defer func() { _ = f.Close() }()
			if events, err := history.Read(f); err != nil || len(events) != c.events {
				t.Errorf("the run directory has %d events, %v, want %d", len(events), err, c.events)
			}
		})
	}
}

// TestMillionHits: a generator judges the history of a million requests in bounded memory.
func TestMillionHits(t *testing.T) {
	hits, _ := strconv.Atoi(os.Getenv("DOORLAB_HITS"))
	if hits == 0 {
		t.Skip("set DOORLAB_HITS=1000000, or run make shards-test")
	}
	res, mb := provedHits(t, hits, Options{OutDir: t.TempDir()}, func(_ int, events []history.Event) []history.Event { return events })
	if res.Verdict != Pass || len(res.Guarantees.Rows) == 0 {
		t.Errorf("got %s %v %s, want it to pass", res.Verdict, res.Reasons, res.Guarantees.NotJudged)
	}
	for _, row := range res.Guarantees.Rows {
		t.Log(row)
	}
	if mb > 700 {
		t.Errorf("the process had %d MB, want at most 700", mb)
	}
}
