package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client/clienttest"
)

// Kinds of findings of a torture.
const (
	answerChanged = "an answer changed"
	wrongPulses   = "pulses that don't fit the answer"
	strangePulse  = "a pulse of no key" // the key was executed under another command, too
	permitLost    = "a permit or revocation was lost"
	boardBehind   = "a board isn't equal to its place"
)

// judge lets the load go on for a while, and compares what was answered with what is there.
func (x *torture) judge(rounds int) {
	x.t.Helper()
	x.keys.waitFor(20)
	x.stop()
	x.conclude(rounds)
}

// conclude is judge for a load that has ended.
func (x *torture) conclude(rounds int) {
	t := x.t
	t.Helper()
	for kind, list := range x.findings() {
		for _, f := range list[:min(len(list), 20)] {
			t.Errorf("%s: %s", kind, f)
		}
	}
	opened := 0
	for _, answer := range x.keys.first {
		if answer[:3] == "200" {
			opened++
		}
	}
	t.Logf("%d rounds: %d keys, %d answered 200; %d permits", rounds, len(x.keys.keys), opened, len(x.permits.revoked))
	if opened < 10*rounds {
		t.Errorf("%d doors opened in %d rounds: hardly anything was tested, want at least %d", opened, rounds, 10*rounds)
	}
}

// findings are what is wrong now, by kind. The load must have ended.
func (x *torture) findings() map[string][]string {
	t := x.t
	t.Helper()
	found := map[string][]string{}
	add := func(kind, format string, args ...any) {
		found[kind] = append(found[kind], fmt.Sprintf(format, args...))
	}
	x.keys.changed = func(format string, args ...any) { add(answerChanged, format, args...) }
	commands := x.keys.askAgain()
	pulses := map[string]int{}
	for _, b := range listBoards(t, x.boards.Base, x.boards.Token) {
		for _, line := range journal(t, x.boards.Base, x.boards.Token, b) {
			if line.Cause == "command" && line.Action == "pulse" {
				pulses[line.CommandID]++
			}
		}
	}
	for id, status := range commands {
		if n := pulses[id]; status == "200" && n != 1 || n > 1 || n == 1 && status != "200" && status != "504" {
			add(wrongPulses, "command %s was answered %s and has %d pulses", id, status, n)
		}
	}
	for id := range pulses {
		if commands[id] == "" {
			add(strangePulse, "command %s", id)
		}
	}
	permits := x.permits.list(t)
	state := map[string]string{}
	for _, p := range permits {
		state[p.PermitID] = p.State
	}
	for id, revoked := range x.permits.revoked {
		if state[id] == "" || revoked && state[id] != "revoked" {
			add(permitLost, "%s: revoked %v was acknowledged, it is %q", id, revoked, state[id])
		}
	}
	if doors, behind := x.equal(); behind != "" {
		add(boardBehind, "%s", behind)
	} else {
		x.present(doors, permits, func(what string) { add(boardBehind, "%s", what) })
	}
	return found
}

// equal waits until every board has its place's revision and none another. It
// returns a door of each board, or what was behind after a minute.
func (x *torture) equal() (doors []string, behind string) {
	x.t.Helper()
	for until := time.Now().Add(time.Minute); ; pause(x.t.Context()) {
		var want map[string]int64
		var rows []struct {
			BoardID, PlaceID string
			AppliedRevision  int64
			Doors            []struct{ DoorID string }
		}
		clienttest.Do(x.t, x.lab, http.MethodGet, "/lab/v1/revisions", nil, &want)
		clienttest.Do(x.t, x.boards, http.MethodGet, "/lab/v1/boards?limit=500", nil, &rows)
		doors, behind = nil, ""
		for _, r := range rows {
			doors = append(doors, r.Doors[0].DoorID)
			if r.AppliedRevision != want[r.PlaceID] {
				behind = fmt.Sprintf("board %s has revision %d, its place %d", r.BoardID, r.AppliedRevision, want[r.PlaceID])
			}
		}
		if behind == "" && len(rows) > 0 || time.Now().After(until) {
			return doors, behind
		}
	}
}

// present shows the newest permits, and some of the others, at a reader of every
// board: a revision says what a board should know, its decision what it knows.
func (x *torture) present(doors []string, permits []permit, wrong func(string)) {
	x.t.Helper()
	const newest, others = 15, 15
	if len(permits) > newest+others {
		old := permits[newest:]
		rand.Shuffle(len(old), func(i, k int) { old[i], old[k] = old[k], old[i] })
		permits = permits[:newest+others]
	}
	want := map[string]string{"active": "opened", "revoked": "denied"}
	for _, door := range doors {
		for _, p := range permits {
			var got struct{ Result, Reason string }
			clienttest.Do(x.t, x.boards, http.MethodPost, "/lab/v1/people/present", map[string]string{"doorId": door, "phone": p.phone()}, &got)
			if got.Result != want[p.State] || p.State == "revoked" && got.Reason != "revoked" {
				wrong(fmt.Sprintf("permit %s is %s, and %s at %s: %s", p.ExternalRef, p.State, got.Result, door, got.Reason))
			}
		}
	}
}

type permit struct{ PermitID, ExternalRef, State string }

// phone is that of permitLoad's n-th permit.
func (p permit) phone() string {
	var n int
	_, _ = fmt.Sscanf(p.ExternalRef, tortureRef, &n)
	return fmt.Sprintf("010%08d", n)
}

// list is every permit of the place.
func (p *permitLoad) list(t *testing.T) (all []permit) {
	t.Helper()
	for {
		var rows []permit
		clienttest.Do(t, p.api, http.MethodGet, fmt.Sprint("/space/v1/partner/entry-permits?limit=500&offset=", len(all)), nil, &rows)
		if all = append(all, rows...); len(rows) < 500 {
			return all
		}
	}
}
