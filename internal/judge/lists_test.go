package judge

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// listed is a small history of one place, with what its lists show a minute later.
type listed struct {
	events          []history.Event
	records, active []map[string]any
	query           string // of the events
}

func (l *listed) at(second int, e history.Event) {
	e.At, e.WallNs, e.PlaceID = int64(second)*1000, int64(second)*1e9, "plc_a"
	l.events = append(l.events, e)
}

// command is an opening that is sent twice; its board reports after so many seconds.
func (l *listed) command(second int, id, key, record string, result vocab.Result, outcome vocab.Outcome, reported int) {
	e := history.Event{CommandID: id, Key: key, DoorID: "dor_a", BoardID: "brd_a", Op: "open"}
	kind := func(second int, kind string) history.Event { e.Kind = kind; return e }
	l.at(second, history.Event{Kind: history.Attempt, Key: key, DoorID: "dor_a", Request: key + "1"})
	l.at(second, kind(second, history.Intent))
	l.at(second, kind(second, history.Publish))
	l.at(second+reported, history.Event{Kind: history.Received, CommandID: id, BoardID: "brd_a", Result: vocab.OK})
	l.at(second+2, history.Event{Kind: history.RecordIn, RecordID: record, CommandID: id, DoorID: "dor_a", GrantID: "pmt_" + id, Result: result, Method: "api", Actor: "api:key_a"})
	l.at(second+2, history.Event{Kind: history.Answer, CommandID: id, Key: key, DoorID: "dor_a", Request: key + "1", Status: 200, Outcome: outcome})
	l.at(second+3, history.Event{Kind: history.Attempt, Key: key, DoorID: "dor_a", Request: key + "2"})
	l.at(second+3, history.Event{Kind: history.Answer, CommandID: id, Key: key, DoorID: "dor_a", Request: key + "2", Status: 200, Outcome: outcome, Replayed: true})
}

func (l *listed) call(t *testing.T, second int, route, path, query string, rows []map[string]any) {
	text := history.CallText{SentAt: int64(second) * 1000, SentNs: int64(second) * 1e9, Path: path, Query: query}
	for _, r := range rows {
		text.Told = append(text.Told, r)
	}
	l.at(second, history.Event{Kind: history.Call, Method: "GET", Route: route, Status: 200, Text: string(must.Get(json.Marshal(text))(t))})
}

// started has a server start between the two commands, after it told of something 2 s before.
func (l *listed) started(second int, told ...history.Event) {
	rest := slices.Clone(l.events[8:])
	l.events = l.events[:8]
	for _, e := range told {
		l.at(second-2, e)
	}
	l.at(second, history.Event{Kind: history.Started})
	l.events = append(l.events, rest...)
}

// late says when the first late event was recorded.
func (l *listed) late(at string) {
	l.active[1]["recordedAt"] = at
	l.events = append([]history.Event{{Kind: history.Started}}, l.events...)
}

// named gives the last events their door, by these names.
func (l *listed) named(names ...string) {
	for i, name := range names {
		row := l.active[len(l.active)-1-i]
		if row["doorId"] = "dor_a"; name != "" {
			row["doorName"] = name
		}
	}
}

func newListed() *listed {
	l := &listed{query: "from=1970-01-01T00%3A00%3A00Z&limit=500"}
	l.command(100, "cmd_1", "k1", "rec_1", vocab.Opened, vocab.Reported, 1)
	l.command(200, "cmd_2", "k2", "rec_2", vocab.NoResponse, vocab.NoResponse, 10)
	l.at(300, history.Event{Kind: history.RecordIn, RecordID: "rec_3", Result: vocab.Denied, Method: "link", Actor: "guest:*1234"})
	l.records = []map[string]any{
		{"recordId": "rec_3", "result": "denied"},
		{"recordId": "rec_2", "result": "noResponse", "commandId": "cmd_2", "settledAs": "opened", "replays": 1.0},
		{"recordId": "rec_1", "result": "opened", "commandId": "cmd_1", "replays": 1.0},
	}
	l.active = []map[string]any{
		{"recordId": "rec_3", "kind": "entry.denied"},
		{"recordId": "rec_2", "kind": "entry.opened", "late": true}, {"recordId": "rec_2", "kind": "entry.permit.used", "late": true},
		{"recordId": "rec_1", "kind": "entry.opened"}, {"recordId": "rec_1", "kind": "entry.permit.used"},
	}
	return l
}

// TestListsAreHeldAgainstWhatWasTold: a list of records or events is caught if it omits, invents or changes anything.
func TestListsAreHeldAgainstWhatWasTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(l *listed)
		why  string // "" = nothing wrong
	}{
		{"as told", func(*listed) {}, ""},
		{"a record is missing", func(l *listed) { l.records = l.records[:2] }, "rec_1 was made, but a list read later doesn't show it"},
		{"another result", func(l *listed) { l.records[2]["result"] = "held" }, "is listed as held"},
		{"another command", func(l *listed) { l.records[2]["commandId"] = "cmd_9" }, "is listed as opened of cmd_9"},
		{"two records of a command", func(l *listed) {
			l.records = append(l.records, map[string]any{"recordId": "rec_4", "commandId": "cmd_1", "result": "opened", "replays": 1.0})
		}, "shows two records of cmd_1"},
		{"settled otherwise", func(l *listed) { l.records[1]["settledAs"] = "refused" }, "settled as refused"},
		{"not settled", func(l *listed) { delete(l.records[1], "settledAs") }, "isn't settled"},
		{"settled without a 504", func(l *listed) { l.records[2]["settledAs"] = "opened" }, "is opened, but settled as opened"},
		{"a replay isn't counted", func(l *listed) { delete(l.records[2], "replays") }, "counts 0 replays, but 1 were answered"},
		{"a replay that died with its server, which took 8 s to start again", func(l *listed) { l.started(111); delete(l.records[2], "replays") }, ""},
		{"its server lived on", func(l *listed) {
			l.started(108, history.Event{Kind: history.Committed})
			delete(l.records[2], "replays")
		}, "counts 0 replays, but 1 were answered"},
		{"long before a start", func(l *listed) { l.started(140); delete(l.records[2], "replays") }, "counts 0 replays, but 1 were answered"},
		{"a replay too many", func(l *listed) { l.records[2]["replays"] = 2.0 }, "counts 2 replays, although its request was sent only 2 times"},
		{"no event", func(l *listed) { l.active = append(l.active[:3], l.active[4]) }, "rec_1 (opened) has 0 events entry.opened"},
		{"an event twice", func(l *listed) { l.active = append(l.active, l.active[3]) }, "rec_1 (opened) has 2 events entry.opened"},
		{"no use", func(l *listed) { l.active = l.active[:4] }, "rec_1 (opened) has 0 events entry.permit.used"},
		{"a denial without an event", func(l *listed) { l.active = l.active[1:] }, "rec_3 (denied) has 0 events entry.denied"},
		{"a late event that isn't marked", func(l *listed) { delete(l.active[1], "late") }, "rec_2 (noResponse) has 1 events entry.opened"},
		{"no late event", func(l *listed) { l.active = append(l.active[:1], l.active[3:]...) }, "rec_2 (noResponse) has 0 events entry.opened late"},
		{"a late event recorded after its record", func(l *listed) { l.late("1970-01-01T00:03:22.001Z") }, ""},
		{"a late event recorded before its record", func(l *listed) { l.late("1970-01-01T00:03:21.999Z") }, "recorded at 1970-01-01T00:03:21.999Z, but its record was made at"},
		{"each door by its name", func(l *listed) { l.named("Front", "Front", "Front") }, ""},
		{"a door without its name", func(l *listed) { l.named("Front", "", "Front") }, `shows dor_a as "", want its one name`},
		{"a door by two names", func(l *listed) { l.named("Front", "Front", "Rear") }, `shows dor_a as "Front", want its one name`},
		{"another door", func(l *listed) { l.named("Front", "Front"); l.active[3]["doorId"] = "dor_b" }, "rec_1 was made at dor_a, but a list shows it at dor_b"},
		{"a filtered list shows less", func(l *listed) { l.active, l.query = l.active[:1], l.query+"&kind=entry.denied" }, ""},
		{"a list of a later time shows less", func(l *listed) { l.active, l.query = nil, "from=1970-01-01T00%3A08%3A00Z" }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newListed()
			c.edit(l)
			l.call(t, 600, "/space/v1/partner/entry-logs", "", "sinceDays=30&limit=500", l.records)
			l.call(t, 600, "/core/v1/places/{id}/events", "plc_a", l.query, l.active)
			l.want(t, c.why)
		})
	}
}

// TestListsInPages: pages are joined into one list; a list that nobody read to the end proves nothing.
func TestListsInPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		pages [][2]int
		bad   bool
	}{
		{"all of them", [][2]int{{0, 2}, {2, 3}}, false},
		{"a record between two pages is lost", [][2]int{{0, 2}, {2, 2}}, true},
		{"only the first", [][2]int{{0, 2}}, false},
	} {
		l := newListed()
		for i, p := range c.pages {
			l.call(t, 600+i, "/space/v1/partner/entry-logs", "", "limit=2&offset="+string(rune('0'+p[0])), l.records[p[0]:p[1]])
		}
		if v := ent4(NewView(l.events)); (v.FirstBad != nil) != c.bad {
			t.Errorf("%s: got %s, want a breach: %v", c.name, v.Number, c.bad)
		}
	}
}

// TestEventsBetweenPages: an event recorded between two pages moves the first page's last one to the second page. That isn't
// a second event, but one that a page shows twice is.
func TestEventsBetweenPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		pages [][]int // events of newListed, by number
		bad   bool
	}{
		{"nothing happens", [][]int{{0, 1, 2}, {3, 4}}, false},
		{"something does", [][]int{{0, 1, 2}, {2, 3, 4}, {}}, false},
		{"one is on a page twice", [][]int{{0, 1, 2}, {3, 4, 4}, {}}, true},
		{"one goes missing", [][]int{{0, 1, 2}, {2, 4}}, true},
	} {
		l := newListed()
		for i, row := range l.active {
			row["eventId"] = "evt_" + strconv.Itoa(i)
		}
		for i, page := range c.pages {
			var rows []map[string]any
			for _, n := range page {
				rows = append(rows, l.active[n])
			}
			l.call(t, 600+i, "/core/v1/places/{id}/events", "plc_a", "from=1970-01-01T00%3A00%3A00Z&limit=3&offset="+strconv.Itoa(3*i), rows)
		}
		if v := ent4(NewView(l.events)); (v.FirstBad != nil) != c.bad {
			t.Errorf("%s: got %s, want a breach: %v", c.name, v.Number, c.bad)
		}
	}
}

// TestWhatADeadServerOwes: once boards are back after a restart, every command of the previous run has its record.
func TestWhatADeadServerOwes(t *testing.T) {
	t.Parallel()
	l := &listed{}
	l.at(1, history.Event{Kind: history.Started})
	l.command(2, "cmd_0", "k0", "rec_0", vocab.Opened, vocab.Reported, 1) // reported in records
	l.at(10, history.Event{Kind: history.Intent, CommandID: "cmd_1", Key: "k1", DoorID: "dor_a", Op: "open"})
	l.at(12, history.Event{Kind: history.Started})
	if v := ent4(NewView(l.events)); v.FirstBad != nil {
		t.Errorf("before boards are back: got %s, want nothing wrong", v.Number)
	}
	l.at(13, history.Event{Kind: history.Online, BoardID: "brd_a", Epoch: 2})
	if v := ent4(NewView(l.events)); v.FirstBad == nil || !strings.Contains(v.Number, "cmd_1 was accepted but never recorded") {
		t.Errorf("got %s, want that cmd_1 was never recorded", v.Number)
	}
}

// TestClaimsOutliveTheirServer: a claim that was too late, and that the server hadn't withdrawn when it died, is recorded by
// the next start. One that was refused for anything else was never made.
func TestClaimsOutliveTheirServer(t *testing.T) {
	t.Parallel()
	for code, bad := range map[string]bool{"": false, codeStorage: false, "too_many_in_flight": true} {
		l := &listed{}
		l.at(1, history.Event{Kind: history.Started})
		l.at(2, history.Event{Kind: history.Intent, CommandID: "cmd_0", Key: "k0", DoorID: "dor_a", Op: "open"})
		l.at(3, history.Event{Kind: history.RecordIn, RecordID: "rec_0", CommandID: "cmd_0", DoorID: "dor_a", Result: vocab.Offline, Method: "api"})
		l.at(10, history.Event{Kind: history.Attempt, Key: "k1", DoorID: "dor_a", Request: "r1"})
		if code != "" {
			l.at(18, history.Event{Kind: history.Answer, Key: "k1", DoorID: "dor_a", Request: "r1", Status: 503, Code: code})
		}
		l.at(20, history.Event{Kind: history.Started})
		l.at(21, history.Event{Kind: history.RecordIn, RecordID: "rec_1", CommandID: "cmd_1", DoorID: "dor_a", Result: vocab.NoResponse, Method: "api"})
		if v := ent4(NewView(l.events)); (v.FirstBad != nil) != bad {
			t.Errorf("answered %q, and recorded by the next start: got %s, want a breach: %v", code, v.Number, bad)
		}
	}
}

// TestOfflineMovesNothing: a command that ended offline but moved a door is a breach, even though nobody saw it sent.
func TestOfflineMovesNothing(t *testing.T) {
	t.Parallel()
	l := &listed{}
	l.at(1, history.Event{Kind: history.Door, BoardID: "brd_a", DoorID: "dor_a"})
	l.at(2, history.Event{Kind: history.Intent, CommandID: "cmd_1", Key: "k1", DoorID: "dor_a", Op: "open"})
	l.at(3, history.Event{Kind: history.Answer, CommandID: "cmd_1", Key: "k1", Status: 409, Outcome: vocab.Offline})
	l.at(4, history.Event{Kind: history.Actuation, CommandID: "cmd_1", BoardID: "brd_a", DoorID: "dor_a", Action: "pulse", Cause: "command"})
	if v := cmd2(NewView(l.events)); v.FirstBad == nil || !strings.Contains(v.Number, "moved the door") {
		t.Errorf("got %s, want that it moved the door", v.Number)
	}
}

// TestKeysAreHeldToTheLastDay: while a key is still kept, a second command under it is a breach, and so is a 503 that
// comes neither from the storage nor from a dying server.
func TestKeysAreHeldToTheLastDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		second int
		answer history.Event
		bad    bool
	}{
		{"a new command within 30 days", 30*24*3600 - 1, history.Event{CommandID: "cmd_2", Status: 200, Outcome: vocab.Reported}, true},
		{"a new command after 30 days", 30 * 24 * 3600, history.Event{CommandID: "cmd_2", Status: 200, Outcome: vocab.Reported}, false},
		{"no answer while the disk is full", 60, history.Event{Status: 503, Code: codeStorage}, false},
		{"a 503 of another kind", 60, history.Event{Status: 503, Code: "store_offline"}, true},
	} {
		l := &listed{}
		l.at(0, history.Event{Kind: history.Intent, CommandID: "cmd_1", Key: "k1", DoorID: "dor_a", Op: "open"})
		l.at(0, history.Event{Kind: history.Answer, CommandID: "cmd_1", Key: "k1", Status: 200, Outcome: vocab.Reported})
		c.answer.Kind, c.answer.Key = history.Answer, "k1"
		l.at(c.second, c.answer)
		if v := cmd5(NewView(l.events)); (v.FirstBad != nil) != c.bad {
			t.Errorf("%s: got %s, want a breach: %v", c.name, v.Number, c.bad)
		}
	}
}

// TestDeathsThatDidNotHappen: CMD-6 lacks proof for each kind of death that hit no command in flight.
func TestDeathsThatDidNotHappen(t *testing.T) {
	t.Parallel()
	v := cmd6(NewView(newListed().events))
	if got := strings.Join(v.Missing, "; "); got != "server died with a command in flight; board died with a command in flight; line died with a command in flight" {
		t.Errorf("missing %q, want server, board and line", got)
	}
}

// want checks what ENT-4 finds wrong, "" = nothing.
func (l *listed) want(t *testing.T, why string) {
	t.Helper()
	v := ent4(NewView(l.events))
	switch {
	case why == "" && v.FirstBad != nil:
		t.Errorf("got %s, want nothing wrong", v.FirstBad.Why)
	case why != "" && (v.FirstBad == nil || !strings.Contains(v.Number, why)):
		t.Errorf("got %q, want %q", v.Number, why)
	}
}
