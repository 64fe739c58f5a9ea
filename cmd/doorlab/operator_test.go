package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

// TestOperatorByHand: what an operator sets, from the command line, by the place's name.
func TestOperatorByHand(t *testing.T) {
	t.Parallel()
	tb, w, run := byHand(t)
	place := tb.Ready.Places[1]
	holds := func(text string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			contains(t, text, p)
		}
	}
	out, _ := run(codeOK, "place", "list")
	holds(out, place.PlaceID, place.Name, *place.APIKey, "test")
	out, _ = run(codeOK, "place", "set", place.Name, "--phone-entry=false", "--closure", "2026-12-24..2026-12-25=Refit", "--holiday", "2026-10-09=Hangul Day")
	holds(out, "phone entry off", "2026-12-24 to 2026-12-25  Refit", "2026-10-09  closed  Hangul Day")
	out, _ = run(codeOK, "place", "set", place.PlaceID, "--closure", "", "--entry-phone", "")
	holds(out, "entry phone  none", "Hangul Day")
	if strings.Contains(out, "Refit") {
		t.Errorf("the closure is still there, want none:\n%s", out)
	}
	out, _ = run(codeOK, "place", "show", strings.ToUpper(place.Name))
	holds(out, "720 h")
	door := w.Places[1].Boards[0].Doors[0].ID
	run(codeOK, "place", "door", door, "--max-hours", "48", "--entry=false")
	out, _ = run(codeOK, "place", "show", place.Name)
	holds(out, "48 h", "no ")
	out, _ = run(codeOK, "keys", "create", "--place", place.Name, "--name", "reader")
	holds(out, "key_", "sacl_")
	out, _ = run(codeOK, "board", "list", "--place", place.Name)
	holds(out, place.PlaceID+" "+place.Name)
	out, _ = run(codeOK, "keys", "list", "--place", place.Name)
	holds(out, place.PlaceID+" "+place.Name)
	run(codeOK, "fault", "add", "offline", "--place", place.Name)
	api := must.Get(client.Client{Base: tb.Ready.HTTP}.SignIn(t.Context(), *place.APIKey))(t)
	clienttest.Do(t, api, "GET", "/space/v1/partner/entry-logs?sinceDays=1", nil, nil) // who reads is written down
	out, _ = run(codeOK, "audit")
	holds(out, place.PlaceID+" "+place.Name)
	out, _ = run(codeOK, "audit", "--place", place.Name, "--limit", "5")
	holds(out, place.PlaceID+" "+place.Name)
	for part, args := range map[string][]string{
		`no place "Nowhere"`:                  {"place", "show", "Nowhere"},
		"nothing to change":                   {"place", "set", place.Name},
		`--closure "x" must be FROM..TO=NAME`: {"place", "set", place.Name, "--closure", "x"},
		"place door: nothing to change":       {"place", "door", door},
		"--max-hours 721: must be 1 to 720":   {"place", "door", door, "--max-hours", "721"},
		"--limit 0: must be 1 to 500":         {"audit", "--limit", "0"},
		"is a live place; leave out --sim, or give --place \"" + w.Places[0].Name + "\"": {"keys", "create", "--place", place.Name, "--sim"},
	} {
		_, errs := run(codeUsage, args...)
		holds(errs, part)
	}
}

// TestBoardTail prints what the relay does when it does it, and ends when interrupted.
func TestBoardTail(t *testing.T) {
	t.Parallel()
	tb, w, do := byHand(t)
	board := w.Places[1].Boards[0]
	do(codeOK, "person", "present", board.Doors[0].ID, "01012345678") // denied: before the tail
	ctx, interrupt := context.WithCancel(t.Context())
	r, printed := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"board", "tail", board.ID, "--all", "--json"}, onLab(tb, printed, io.Discard))
	}()
	lines := bufio.NewScanner(r)
	next := func() (j journalRow) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no line: %v", lines.Err())
		}
		must.OK(t, json.Unmarshal(lines.Bytes(), &j))
		return j
	}
	if j := next(); j.Seq != 1 || j.Action != "deny" {
		t.Errorf("first line: got %+v, want the denial before", j)
	}
	do(codeOK, "person", "present", board.Doors[1].ID, "01012345678")
	if j := next(); j.Seq != 2 || j.DoorID != board.Doors[1].ID {
		t.Errorf("next line: got %+v, want the second door's", j)
	}
	interrupt()
	if code := <-ended; code != codeInterrupted {
		t.Errorf("exit code %d, want %d", code, codeInterrupted)
	}
}
