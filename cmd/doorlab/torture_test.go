package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
)

// rounds is how often the torture kills: DOORLAB_TORTURE (make torture N=...), or
// a few times in the gate.
func rounds(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("DOORLAB_TORTURE"))
	switch {
	case err == nil && n > 0:
		return n
	case os.Getenv("DOORLAB_TORTURE") != "":
		t.Fatalf("DOORLAB_TORTURE=%q: must be a number of rounds", os.Getenv("DOORLAB_TORTURE"))
	case testing.Short():
		t.Skip("kills the server under load; run without -short")
	}
	return 3
}

// torture is a server and its boards in processes of their own, under load.
type torture struct {
	t           *testing.T
	args        []string
	env         []string
	server      *proc
	data        string
	lab, boards client.Client
	keys        *keyLoad
	permits     *permitLoad
	stop        func()
}

func newTorture(t *testing.T, env []string) *torture {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "world.yaml")
	if err := os.WriteFile(file, []byte(killWorld), 0o600); err != nil {
		t.Fatal(err)
	}
	mqtt := freeAddr(t)
	x := &torture{t: t, env: env, data: filepath.Join(dir, "server")}
	x.args = []string{"serve", "--json", "--world", file, "--data", x.data, "--http", freeAddr(t), "--mqtt", mqtt, "--control", freeAddr(t)}
	x.begin()
	ready := x.server.server()
	b := start(t, "boards", "--json", "--world", file, "--data", filepath.Join(dir, "boards"), "--broker", mqtt, "--control", "127.0.0.1:0").fleet()
	x.lab = client.Client{Base: ready.Control, Token: ready.ControlToken}
	x.boards = client.Client{Base: b.Control, Token: b.ControlToken}
	x.keys = newKeyLoad(t, ready.HTTP, *ready.Places[0].APIKey)
	x.permits = &permitLoad{api: client.Client{Base: ready.HTTP, Token: x.keys.token}, revoked: map[string]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() { x.keys.work(ctx, n) })
	}
	wg.Go(func() { x.permits.work(ctx) })
	x.stop = func() { cancel(); wg.Wait() }
	return x
}

func (x *torture) begin() { x.server = startWith(x.t, x.env, x.args...) }

// again begins the next life and returns when the boards are back.
func (x *torture) again() {
	x.begin()
	waitOnline(x.t, x.boards.Base, x.boards.Token)
	x.keys.restarted()
}

// judge ends the load and compares what was answered with what is there.
func (x *torture) judge(rounds int) {
	t := x.t
	t.Helper()
	x.keys.waitFor(20)
	x.stop()
	commands := x.keys.askAgain()
	pulses := map[string]int{}
	for _, b := range listBoards(t, x.boards.Base, x.boards.Token) {
		for _, line := range journal(t, x.boards.Base, x.boards.Token, b) {
			if line.Cause == "command" && line.Action == "pulse" {
				pulses[line.CommandID]++
			}
		}
	}
	opened := 0
	for id, status := range commands {
		switch n := pulses[id]; {
		case status == "200" && n != 1, n > 1, n == 1 && status != "200" && status != "504":
			t.Errorf("command %s was answered %s and has %d pulses", id, status, n)
		case status == "200":
			opened++
		}
	}
	for id := range pulses {
		if commands[id] == "" {
			t.Errorf("command %s has a pulse, but no key answers with it", id)
		}
	}
	lost := x.permits.lost(t)
	x.equal()
	t.Logf("%d rounds: %d keys, %d answered 200, %d pulses; %d permits, %d of them revoked, %d lost", rounds, len(x.keys.keys), opened, len(pulses),
		len(x.permits.revoked), len(slices.Collect(onlyTrue(x.permits.revoked))), lost)
	if opened < 10*rounds {
		t.Errorf("%d doors opened in %d rounds: hardly anything was tested", opened, rounds)
	}
}

func onlyTrue(m map[string]bool) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k, v := range maps.All(m) {
			if v && !yield(k) {
				return
			}
		}
	}
}

// equal waits until every board has its place's revision, and none another.
func (x *torture) equal() {
	x.t.Helper()
	for until := time.Now().Add(time.Minute); ; {
		var want map[string]int64
		var rows []struct {
			BoardID, PlaceID string
			AppliedRevision  int64
		}
		if err := x.lab.Do(x.t.Context(), http.MethodGet, "/lab/v1/revisions", nil, &want); err != nil {
			x.t.Fatal(err)
		}
		if err := x.boards.Do(x.t.Context(), http.MethodGet, "/lab/v1/boards?limit=500", nil, &rows); err != nil {
			x.t.Fatal(err)
		}
		behind := ""
		for _, r := range rows {
			if r.AppliedRevision != want[r.PlaceID] {
				behind = fmt.Sprintf("board %s has revision %d, its place %d", r.BoardID, r.AppliedRevision, want[r.PlaceID])
			}
		}
		if behind == "" && len(rows) > 0 {
			return
		}
		if time.Now().After(until) {
			x.t.Errorf("after a minute %s", behind)
			return
		}
	}
}

// permitLoad registers permits and revokes every other one.
type permitLoad struct {
	api     client.Client
	revoked map[string]bool // by permit id: what was acknowledged
}

func (p *permitLoad) work(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		ref, now := fmt.Sprint("torture-", n), time.Now()
		var made struct{ PermitID string }
		body := map[string]string{"externalRef": ref, "phone": fmt.Sprintf("010%08d", n), "name": "T",
			"startsAt": now.Format(time.RFC3339), "endsAt": now.Add(24 * time.Hour).Format(time.RFC3339)}
		if err := p.api.Do(ctx, http.MethodPost, "/space/v1/partner/entry-permits", body, &made); err != nil {
			pause(ctx) // the server is away
			continue
		}
		p.revoked[made.PermitID] = false
		if n%2 == 0 {
			continue
		}
		if p.api.Do(ctx, http.MethodPost, "/space/v1/partner/entry-permits/revoke", map[string]string{"externalRef": ref}, nil) == nil {
			p.revoked[made.PermitID] = true
		}
		pause(ctx)
	}
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Millisecond):
	}
}

// lost counts the acknowledged permits and revocations that aren't there.
func (p *permitLoad) lost(t *testing.T) (n int) {
	t.Helper()
	state := map[string]string{}
	for offset := 0; ; offset += 500 {
		var rows []struct{ PermitID, State string }
		if err := p.api.Do(t.Context(), http.MethodGet, fmt.Sprint("/space/v1/partner/entry-permits?limit=500&offset=", offset), nil, &rows); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			state[r.PermitID] = r.State
		}
		if len(rows) < 500 {
			break
		}
	}
	for id, revoked := range p.revoked {
		if state[id] == "" || revoked && state[id] != "revoked" {
			n++
			t.Errorf("permit %s: revoked %v was acknowledged, it is %q", id, revoked, state[id])
		}
	}
	return n
}

// TestTortureKill kills the server under load, again and again, while its boards
// live on: no acknowledged answer changes, no key has two pulses, no
// acknowledged permit or revocation is lost, and every board is equal in the end.
func TestTortureKill(t *testing.T) {
	n := rounds(t)
	x := newTorture(t, nil)
	for range n {
		x.keys.waitFor(20)
		x.server.kill()
		x.again()
	}
	x.judge(n)
}

// TestTorturePowerLoss is TestTortureKill with the power gone each time: what
// SQLite had not synced is taken back, all of it or parts in any order.
func TestTorturePowerLoss(t *testing.T) {
	n := rounds(t)
	d := newBadDisk(t)
	d.turn(diskStalls, 5*time.Millisecond) // a sync takes its time, so many kills fall into one
	x := newTorture(t, d.env(true))
	lost := 0
	for i := range n {
		x.keys.waitFor(20)
		x.server.kill()
		lost += d.losePower(t, x.data, []float64{0, 0.3, 0.5, 0.7}[i%4])
		x.again()
	}
	t.Logf("%d unsynced writes were taken back", lost)
	x.judge(n)
}

// TestTortureNotices: on a disk that forgets to sync, the same torture reports
// losses, or it would prove nothing.
func TestTortureNotices(t *testing.T) {
	rounds(t)
	d := newBadDisk(t)
	x := newTorture(t, d.env(true))
	changed := 0
	var mu sync.Mutex
	x.keys.changed = func(string, ...any) {
		mu.Lock()
		changed++
		mu.Unlock()
	}
	x.server.kill() // what the start wrote is kept
	d.losePower(t, x.data, 1)
	d.turn(diskForgets, 0)
	x.again()
	x.keys.waitFor(40)
	x.server.kill()
	lost := d.losePower(t, x.data, 0)
	d.turn(diskFine, 0)
	x.again()
	x.stop()
	x.keys.askAgain()
	t.Logf("%d writes were taken back, %d answers changed", lost, changed)
	if changed == 0 {
		t.Error("no answer changed on a disk that forgets to sync: the torture sees nothing")
	}
}
