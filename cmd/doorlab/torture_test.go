package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/must"
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
	must.OK(t, os.WriteFile(file, []byte(killWorld), 0o600))
	mqtt := freeAddr(t)
	x := &torture{t: t, env: env, data: filepath.Join(dir, "server")}
	x.args = []string{"serve", "--json", "--world", file, "--data", x.data, "--http", freeAddr(t), "--mqtt", mqtt, "--control", freeAddr(t)}
	x.begin()
	ready := x.server.server()
	b := start(t, "boards", "--json", "--world", file, "--data", filepath.Join(dir, "boards"), "--broker", mqtt, "--control", "127.0.0.1:0").fleet()
	x.lab = client.Client{Base: ready.Control, Token: ready.ControlToken}
	x.boards = client.Client{Base: b.Control, Token: b.ControlToken}
	x.keys = newKeyLoad(t, ready.HTTP, *ready.Places[0].APIKey)
	x.permits = newPermitLoad(x.keys.api)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() { x.keys.work(ctx, n) })
	}
	wg.Go(func() { x.permits.work(ctx) })
	x.stop = func() { cancel(); wg.Wait() }
	return x
}

func (x *torture) command() *exec.Cmd { return command(x.env, x.args...) }

func (x *torture) begin() { x.server = startWith(x.t, x.env, x.args...) }

// stillborn kills, in every third round, the next life too while it starts: it
// may be opening the database, settling what was in flight, or listening already. When is
// drawn in touches of its files, so a slow machine is hit at the same points.
func (x *torture) stillborn(round int) bool {
	if round%3 != 2 {
		return false
	}
	ctx, cancel := context.WithCancel(x.t.Context())
	defer cancel()
	touches := touched(ctx, x.t, x.data)
	cmd := x.command()
	ready, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { _, _ = ready.Read(make([]byte, 1)); close(over) }()
	for range rand.N(startTouches) {
		select {
		case <-touches:
			continue
		case <-over: // it has started
		}
		break
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return true
}

// startTouches is about how often a start touches the files of its data; 23 to 56 times were seen.
const startTouches = 50

// again begins the next life and returns when the boards are back.
func (x *torture) again() {
	x.begin()
	waitOnline(x.t, x.boards.Base, x.boards.Token)
	x.keys.restarted()
}

// tortureRef names permitLoad's n-th permit.
const tortureRef = "torture-%d"

// permitLoad registers permits and revokes every other one.
type permitLoad struct {
	api client.Client

	mu      sync.Mutex
	cond    *sync.Cond
	revoked map[string]bool // by permit id: what was acknowledged
}

func newPermitLoad(api client.Client) *permitLoad {
	p := &permitLoad{api: api, revoked: map[string]bool{}}
	p.cond = sync.NewCond(&p.mu)
	return p
}

// waitFor returns after n more permits were acknowledged.
func (p *permitLoad) waitFor(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for want := len(p.revoked) + n; len(p.revoked) < want; {
		p.cond.Wait()
	}
}

func (p *permitLoad) acknowledged(id string, revoked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revoked[id] = revoked
	p.cond.Broadcast()
}

func (p *permitLoad) work(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		ref, now := fmt.Sprintf(tortureRef, n), time.Now()
		var made struct{ PermitID string }
		body := map[string]string{"externalRef": ref, "phone": permit{ExternalRef: ref}.phone(), "name": "T",
			"startsAt": now.Format(time.RFC3339), "endsAt": now.Add(24 * time.Hour).Format(time.RFC3339)}
		if err := p.api.Do(ctx, http.MethodPost, "/space/v1/partner/entry-permits", body, &made); err != nil {
			pause(ctx) // the server is away
			continue
		}
		p.acknowledged(made.PermitID, false)
		if n%2 == 0 {
			continue
		}
		if p.api.Do(ctx, http.MethodPost, "/space/v1/partner/entry-permits/revoke", map[string]string{"externalRef": ref}, nil) == nil {
			p.acknowledged(made.PermitID, true)
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

// TestTortureKill kills the server under load, again and again, while its boards
// live on: no acknowledged answer changes, no key has two pulses, no
// acknowledged permit or revocation is lost, and every board is equal in the end.
func TestTortureKill(t *testing.T) {
	n := rounds(t)
	x := newTorture(t, nil)
	for i := range n {
		x.keys.waitFor(20)
		x.server.kill()
		x.stillborn(i)
		x.again()
	}
	x.judge(n)
}

// TestTorturePowerLoss is TestTortureKill with the power gone each time: what
// SQLite had not synced is taken back, all of it or parts in any order.
func TestTorturePowerLoss(t *testing.T) {
	n := rounds(t)
	d := newBadDisk(t)
	d.turn(diskStalls, 5) // a sync takes its time, so many kills fall into one
	x := newTorture(t, d.env(true))
	lost := 0
	for i := range n {
		keep := []float64{0, 0.3, 0.5, 0.7}[i%4]
		x.keys.waitFor(20)
		x.server.kill()
		lost += d.losePower(t, x.data, keep)
		if x.stillborn(i) {
			lost += d.losePower(t, x.data, keep)
		}
		x.again()
	}
	t.Logf("%d unsynced writes were taken back", lost)
	x.judge(n)
}

// TestTortureNotices: on a disk that forgets to sync, the same torture reports
// each kind of loss, or it would prove nothing.
func TestTortureNotices(t *testing.T) {
	rounds(t)
	d := newBadDisk(t)
	x := newTorture(t, d.env(true))
	x.server.kill() // what the start wrote is kept
	d.losePower(t, x.data, 1)
	d.turn(diskForgets, 0)
	x.again()
	x.keys.waitFor(40)
	x.permits.waitFor(4)
	x.server.kill()
	lost := d.losePower(t, x.data, 0)
	d.turn(diskFine, 0)
	x.again()
	x.keys.waitFor(20)
	x.stop()
	found := x.findings()
	t.Logf("%d writes were taken back", lost)
	for _, kind := range []string{answerChanged, strangePulse, permitLost} {
		t.Logf("%s: %d", kind, len(found[kind]))
		if len(found[kind]) == 0 {
			t.Errorf("%s: not noticed on a disk that forgets to sync: the torture sees nothing", kind)
		}
	}
}
