package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// byHand starts a lab and returns what runs a command line against its control API.
func byHand(t *testing.T) (*testbed.Testbed, *world.World, func(want int, args ...string) (out, errs string)) {
	t.Helper()
	w := world.Default(1, 4)
	tb := must.Get(testbed.Start(t.Context(), testbed.Config{World: w, DataDir: t.TempDir(), Virtual: true, Fleet: true, HTTP: "127.0.0.1:0", MQTT: "127.0.0.1:0", Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	return tb, w, func(want int, args ...string) (out, errs string) {
		t.Helper()
		var o, e bytes.Buffer
		if code := run(t.Context(), args, onLab(tb, &o, &e)); code != want {
			t.Errorf("%v: exit %d, want %d\n%s%s", args, code, want, o.String(), e.String())
		}
		return o.String(), e.String()
	}
}

// onLab is an environment in which commands find a lab.
func onLab(tb *testbed.Testbed, out, errs io.Writer) *env {
	return &env{in: strings.NewReader(""), out: out, err: errs, getenv: func(k string) string {
		return map[string]string{"DOORLAB_CONTROL": tb.Ready.Control, "DOORLAB_CONTROL_TOKEN": tb.Ready.ControlToken}[k]
	}}
}

// seqOf is the number of the journal's first line with a word; "" = there is none.
func seqOf(journal, word string) string {
	for line := range strings.Lines(journal) {
		if strings.Contains(line, word) {
			return strings.Fields(line)[0]
		}
	}
	return ""
}

// TestByHand: what a person does with the control API from the command line.
func TestByHand(t *testing.T) {
	t.Parallel()
	tb, w, run := byHand(t)
	holds := func(text, part string) { t.Helper(); contains(t, text, part) }

	out, _ := run(codeOK, "board", "list", "--place", tb.Ready.Places[1].PlaceID, "--json")
	var boards []boardRow
	if err := json.Unmarshal([]byte(out), &boards); err != nil || len(boards) == 0 {
		t.Fatalf("board list --json: %v %s", err, out)
	}
	board, door := boards[0].BoardID, boards[0].Doors[0].DoorID

	out, said := run(codeOK, "fault", "add", "offline", "--board", board, "--for", "1h")
	id := strings.TrimSpace(out)
	holds(said, "offline on 1 board\n")
	out, _ = run(codeOK, "fault", "list")
	holds(out, id)
	run(codeOK, "clock", "freeze")
	out, _ = run(codeOK, "clock", "advance", "30m")
	holds(out, "virtual clock, frozen")
	out, _ = run(codeOK, "board", "show", board)
	holds(out, "grace")
	holds(out, door)
	holds(out, "  30m0s  ")
	out, _ = run(codeOK, "fault", "remove", id)
	holds(out, "removed")
	out, _ = run(codeOK, "disk", "slow", "300ms")
	holds(out, "slow, 300 ms longer for each write\n")
	out, _ = run(codeOK, "disk", "show", "--json")
	holds(out, `"delayMs":300`)
	out, _ = run(codeOK, "disk", "ok")
	holds(out, "ok")
	out, _ = run(codeOK, "person", "present", door, "01099998888")
	holds(out, "denied  no_valid_grant")
	out, _ = run(codeOK, "person", "call", tb.Ready.Places[1].EntryPhone, "01099998888")
	holds(out, "denied  no_valid_grant")
	out, _ = run(codeOK, "person", "call", "0509", "01099998888")
	holds(out, "not answered")
	out, _ = run(codeOK, "person", "leaf", door, "force")
	holds(out, door+" force")
	out, _ = run(codeOK, "board", "journal", board)
	holds(out, "deny")
	out, _ = run(codeOK, "why", "--place", tb.Ready.Places[1].Name, "--door", door, "--line", seqOf(out, "deny"))
	holds(out, "Somebody unknown at ")
	out, _ = run(codeOK, "board", "detach", board)
	holds(out, "password")
	run(codeOK, "board", "attach", board)
	out, _ = run(codeOK, "why", "--place", tb.Ready.Places[1].Name, "--phone", "01099998888", "--door", door)
	holds(out, "010-****-8888 at")
	byName, _ := run(codeOK, "why", "--place", tb.Ready.Places[1].Name, "--phone", "01099998888", "--door", strings.ToLower(w.Places[1].Boards[0].Doors[0].Name))
	holds(byName, "("+w.Places[1].Boards[0].Doors[0].ID+")")
	_, refused := run(codeUsage, "why", "--place", tb.Ready.Places[1].Name, "--phone", "01099998888", "--door", "Fornt")
	contains(t, refused, "no door \"Fornt\" at "+tb.Ready.Places[1].Name)
	holds(out, "this person has no grant here")
	holds(out, "no_valid_grant")
	if strings.Contains(out, "01099998888") {
		t.Errorf("why shows the phone in full:\n%s", out)
	}
	out, _ = run(codeOK, "why", "--place", tb.Ready.Places[1].PlaceID, "--exposure")
	holds(out, "Nobody entered on site")
	out, _ = run(codeFailed, "go-live") // of the only test place; nothing was sent there
	holds(out, "not yet proven: ")
	run(codeOK, "inbox", "list")
	run(codeOK, "clock", "run")
	out, _ = run(codeOK, "fault", "reset")
	holds(out, "0 removed")
	out, _ = run(codeOK, "fault", "names")
	holds(out, "halfopen")

	for part, args := range mistakes(board) {
		_, errs := run(codeUsage, args...)
		holds(errs, part)
	}
	run(codeUnreachable, "clock", "show", "--control", "http://127.0.0.1:1")
}

// TestPartsOfALongList: a list that doesn't show everything says how much there is, beside --json, too, and in the tool of a
// language model.
func TestPartsOfALongList(t *testing.T) {
	t.Parallel()
	tb, _, run := byHand(t) // four live boards and the test place's
	for want, args := range map[string][]string{
		"": {},
		"boards 1 to 2 of 5; --offset 2 shows the next\n":           {"--limit", "2"},
		"boards 2 to 3 of 5; --offset 3 shows the next\n":           {"--limit", "2", "--offset", "1", "--json"},
		"boards 4 to 5 of 5\n":                                      {"--offset", "3"},
		"there are only 5 boards; --offset 500 skips all of them\n": {"--offset", "500"},
		"board 1 of 4; --offset 1 shows the next\n":                 {"--limit", "1", "--place", tb.Ready.Places[1].PlaceID},
	} {
		if _, errs := run(codeOK, append([]string{"board", "list"}, args...)...); errs != want {
			t.Errorf("board list %v: stderr %q, want %q", args, errs, want)
		}
	}
	f := &labFlags{}
	f.control, f.token = tb.Ready.Control, tb.Ready.ControlToken
	s := speaking(t, &toolbox{f: f, dir: t.TempDir()})
	contains(t, ask(t, s, "boards", map[string]any{"offset": 4}, false), "board 5 of 5")
}

// TestNothingToList: an empty list is a sentence, what acts at once is done, and a clock that runs is called running.
func TestNothingToList(t *testing.T) {
	t.Parallel()
	_, w, run := byHand(t)
	board := w.Places[1].Boards[0].ID
	for _, c := range []struct {
		want string
		args []string
	}{
		{"No faults are armed.\n", []string{"fault", "list"}},
		{"No requests.\n", []string{"inbox", "list"}},
		{"No entries.\n", []string{"audit", "--offset", "9999"}},
		{"No simulated boards here.\n", []string{"board", "list", "--offset", "500"}},
		{"The journal is empty: ", []string{"board", "journal", board}},
		{"virtual clock, running\n", []string{"clock", "run"}},
	} {
		out, _ := run(codeOK, c.args...)
		contains(t, out, c.want)
	}
	out, said := run(codeOK, "fault", "add", "reboot", "--board", board)
	if contains(t, said, "reboot on 1 board, done\n"); !strings.HasPrefix(out, "flt_") || strings.Contains(out, "done") {
		t.Errorf("fault add reboot prints %q, want only the id", out)
	}
	out, _ = run(codeOK, "fault", "names")
	if strings.Contains(out, "`") {
		t.Errorf("fault names prints backticks:\n%s", out)
	}
	_, errs := run(codeUsage, "keys", "revoke", "key_x")
	contains(t, errs, `no key "key_x" ('doorlab keys list' shows them)`)
	_, errs = run(codeUsage, "why", "--place", w.Places[1].Name, "--phone", "01099998888", "--door", "dor_x")
	contains(t, errs, `no door "dor_x" at `+w.Places[1].Name+` ('doorlab place show' lists a place's doors)`)
}

// TestBoardTell: what a board is told in its server's place, and what it makes of it.
func TestBoardTell(t *testing.T) {
	t.Parallel()
	_, w, run := byHand(t)
	board := w.Places[1].Boards[0].ID
	for _, c := range []struct{ args, want []string }{
		{nil, []string{"epoch ", "revision 1 "}},
		{[]string{"--channel", "cmd", "--payload", `{"id":"cmd_1","channel":1,"command":"open","epoch":1}`}, []string{`said: rpt {"commandId":"cmd_1"`, "relay: no door refuse, command cmd_1"}},
		{[]string{"--channel", "ack", "--raw", "x"}, []string{"dropped: "}},
	} {
		out, _ := run(codeOK, append([]string{"board", "tell", board}, c.args...)...)
		for _, part := range c.want {
			if !strings.Contains(out, part) {
				t.Errorf("%q: want %q in:\n%s", c.args, part, out)
			}
		}
	}
	run(codeOK, "board", "attach", board)
}

// mistakes are wrong command lines by what the refusal says.
func mistakes(board string) map[string][]string {
	return map[string][]string{
		`unknown fault "offlin", did you mean "offline"`:  {"fault", "add", "offlin", "--board", board},
		`unknown fault "latency" ("slow" delays the`:      {"fault", "add", "latency", "--board", board},
		`--param "p50Ms" must be name=value`:              {"fault", "add", "slow", "--board", board, "--param", "p50Ms"},
		"--payload must be JSON":                          {"board", "tell", board, "--payload", "x"},
		`did you mean "cmd"`:                              {"board", "tell", board, "--channel", "cmdd"},
		"board show takes one board id":                   {"board", "show"},
		"board show: an argument is empty; it takes one":  {"board", "show", ""},
		"keys revoke: an argument is empty":               {"keys", "revoke", ""},
		`load list takes no arguments, got "x"`:           {"load", "list", "x"},
		"--control is empty":                              {"keys", "list", "--control", ""},
		`no simulated board "brd_nope"`:                   {"board", "show", "brd_nope"},
		`board: unknown command "lst"`:                    {"board", "lst"},
		"give --door and one of --phone, --link and":      {"why", "--place", "plc_x", "--phone", "01099998888"},
		"one of --phone, --link and --line, or":           {"why", "--place", "plc_x", "--door", "dor_x", "--phone", "01099998888", "--line", "1"},
		"--line says which moment is meant":               {"why", "--place", "plc_x", "--door", "dor_x", "--line", "1", "--at", "2026-10-05T09:00:00Z"},
		`no place "Nowhere"`:                              {"why", "--place", "Nowhere", "--exposure"},
		"name the place whose requests are to be deleted": {"inbox", "clear"},
		`no request "x1" in the inbox; pass a number`:     {"inbox", "show", "x1"},
		"clock advance banana: must be a duration":        {"clock", "advance", "banana"},
		"the door comes first":                            {"person", "present", "01011112222", "dor_1"},
		"'doorlab place list' shows the places' numbers":  {"person", "call", "Gangnam", "01011112222"},
		"disk slow 2h: must be a duration between 1ms":    {"disk", "slow", "2h"},
	}
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("got %q, want %q in it", text, part)
	}
}

// TestJournalNamesBoth: a command in a grant's name is told apart from the grant, and an outage is read as people say it.
func TestJournalNamesBoth(t *testing.T) {
	t.Parallel()
	for want, j := range map[string]journalRow{"-": {}, "cmd_1": {CommandID: "cmd_1"}, "pmt_1": {GrantID: "pmt_1"}, "cmd_1 pmt_1": {CommandID: "cmd_1", GrantID: "pmt_1"}} {
		if got := j.by(); got != want {
			t.Errorf("by: got %q, want %q", got, want)
		}
	}
	for sec, want := range map[float64]string{0: "-", 133200.422: "37h0m0s", 59.6: "1m0s", -1: "over 36h"} {
		if got := outage(sec); got != want {
			t.Errorf("outage of %g s: got %q, want %q", sec, got, want)
		}
	}
}

// TestFleetHasNoServerCalls: a call that only a server takes, sent to a fleet, says whose address is needed.
func TestFleetHasNoServerCalls(t *testing.T) {
	t.Parallel()
	err := callError(&client.Error{Status: 404, Code: "not_found", Message: "no such path: /lab/v1/people/call"})
	contains(t, err.Error(), "pass --control with the server's")
}

// TestBoardShowsWhatWasDropped: who builds a board sees why the server ignores it.
func TestBoardShowsWhatWasDropped(t *testing.T) {
	t.Parallel()
	if got := (&boardRow{}).dropped(); got != "" {
		t.Errorf("nothing was dropped: got %q", got)
	}
	contains(t, (&boardRow{control.Board{Dropped: map[string]int64{"garbage": 2, "early": 1}}}).dropped(), "dropped: early 1, garbage 2.")
	refused := control.Trouble{At: faults.Moment{Time: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}, Reason: "refused", Field: "password", Count: 3}
	contains(t, fmt.Sprint((&boardRow{control.Board{Troubles: []control.Trouble{refused}}}).troubles()), "[[2026-11-30T09:00:00Z - refused password 3]]")
}
