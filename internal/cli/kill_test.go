package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
)

const killWorld = `
seed: 11
places:
  - name: Killed
    kind: live
    fleet: {boards: 8, doorsPerBoard: 2, report: {p50: 20ms, p99: 100ms}}
`

// TestKillNineUnderLoad kills the server ten times as SIGKILL does, under load,
// and restarts it on the same data, while the boards live on in a process of
// their own: every key that was answered gives the same answer again, and no
// key has two pulses in any journal [CMD-5] [CMD-6].
func TestKillNineUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("ten restarts take half a minute; run without -short")
	}
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "world.yaml")
	if err := os.WriteFile(file, []byte(killWorld), 0o600); err != nil {
		t.Fatal(err)
	}
	api, mqtt, control := freeAddr(t), freeAddr(t), freeAddr(t)
	serve := func() *proc {
		return start(t, "serve", "--json", "--world", file, "--data", filepath.Join(dir, "server"), "--http", api, "--mqtt", mqtt, "--control", control)
	}
	server := serve()
	key := *server.server().Places[0].APIKey
	boards := start(t, "boards", "--json", "--world", file, "--data", filepath.Join(dir, "boards"), "--broker", mqtt, "--control", "127.0.0.1:0").fleet()

	l := newKeyLoad(t, "http://"+api, key)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() { l.work(ctx, n) })
	}
	for range 10 {
		l.waitFor(40) // doors opened since the last kill
		server.kill()
		server = serve()
		waitOnline(t, boards.Control, boards.ControlToken)
		l.restarted()
	}
	l.waitFor(40)
	cancel()
	wg.Wait()

	answered, commands := l.askAgain()
	t.Logf("%d keys sent, %d answered before the end, %d commands", len(l.keys), answered, len(commands))
	pulses := map[string]int{}
	for _, b := range listBoards(t, boards.Control, boards.ControlToken) {
		for _, line := range journal(t, boards.Control, boards.ControlToken, b) {
			if line.Cause == "command" && line.Action == "pulse" {
				pulses[line.CommandID]++
			}
		}
	}
	for id, n := range pulses {
		if n > 1 {
			t.Errorf("command %s has %d pulses", id, n)
		}
		if commands[id] == "" {
			t.Errorf("command %s has a pulse, but no key answers with it", id)
		}
	}
	if len(pulses) == 0 {
		t.Error("no door ever opened: nothing was tested")
	}
}

// keyLoad sends commands, each under a key of its own, and keeps what came back.
type keyLoad struct {
	t           *testing.T
	base, token string
	doors       []string

	mu     sync.Mutex
	cond   *sync.Cond
	keys   []string
	door   map[string]string // of every key
	first  map[string]string // status and body of every key that was answered
	lives  int               // restarts so far
	opened int               // answers 200
}

func newKeyLoad(t *testing.T, base, apiKey string) *keyLoad {
	t.Helper()
	c := client.Client{Base: base}
	token, _, err := c.Exchange(t.Context(), apiKey)
	if err != nil {
		t.Fatal(err)
	}
	c.Token = token
	var rows []struct{ ID string }
	if err := c.Do(t.Context(), http.MethodGet, "/device/v1/devices", nil, &rows); err != nil {
		t.Fatal(err)
	}
	l := &keyLoad{t: t, base: base, token: token, door: map[string]string{}, first: map[string]string{}}
	l.cond = sync.NewCond(&l.mu)
	for _, r := range rows {
		l.doors = append(l.doors, r.ID)
	}
	return l
}

// work sends command after command. When the server dies under one, it waits
// for the restart and asks again under the same key, as a client should.
func (l *keyLoad) work(ctx context.Context, worker int) {
	for n := 0; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("key-%d-%d", worker, n)
		door := l.doors[(worker*7+n)%len(l.doors)]
		l.mu.Lock()
		l.keys, l.door[key] = append(l.keys, key), door
		l.mu.Unlock()
		for answered := false; !answered; {
			life := l.life()
			got, err := l.send(context.Background(), door, key)
			if answered = err == nil; !answered {
				l.waitLife(life + 1)
				continue
			}
			l.mu.Lock()
			l.first[key] = got
			if strings.HasPrefix(got, "200") {
				l.opened++
			}
			l.cond.Broadcast()
			l.mu.Unlock()
		}
	}
}

func (l *keyLoad) life() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lives
}

// restarted lets those go on whose command died with the server.
func (l *keyLoad) restarted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lives++
	l.cond.Broadcast()
}

func (l *keyLoad) waitLife(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.lives < n {
		l.cond.Wait()
	}
}

// send asks once; a connection that breaks is no answer.
func (l *keyLoad) send(ctx context.Context, door, key string) (string, error) {
	body := `{"capability":"door","command":"open"}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.base+"/device/v1/devices/"+door+"/commands", bytes.NewReader([]byte(body)))
	if err != nil {
		return "", err
	}
	req.GetBody = nil // the transport must not send it again by itself
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+l.token)
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	switch resp.StatusCode {
	case 200, 409, 502, 504:
		return fmt.Sprintf("%d %s", resp.StatusCode, b), nil
	}
	return "", fmt.Errorf("status %d: %s", resp.StatusCode, b)
}

// waitFor returns after n more doors were opened.
func (l *keyLoad) waitFor(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for want := l.opened + n; l.opened < want; {
		l.cond.Wait()
	}
}

// askAgain sends every key twice more: an answered one must give its first
// answer, any other one and the same. It returns the key of every command.
func (l *keyLoad) askAgain() (answered int, commands map[string]string) {
	l.t.Helper()
	commands = map[string]string{}
	answered = len(l.first)
	jobs := make(chan string)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for key := range jobs {
				for range 2 {
					got, err := l.send(context.Background(), l.door[key], key)
					if err != nil {
						l.t.Errorf("key %s again: %v", key, err)
						continue
					}
					l.mu.Lock()
					if first, ok := l.first[key]; ok && first != got {
						l.t.Errorf("key %s: first %s, then %s", key, first, got)
					}
					l.first[key] = got
					commands[commandOf(got)] = key
					l.mu.Unlock()
				}
			}
		})
	}
	for _, key := range l.keys {
		jobs <- key
	}
	close(jobs)
	wg.Wait()
	return answered, commands
}

func commandOf(answer string) string {
	var b struct {
		Data    struct{ CommandID string }
		Details struct{ CommandID string }
	}
	_ = json.Unmarshal([]byte(answer[4:]), &b)
	return b.Data.CommandID + b.Details.CommandID
}

type journalLine struct {
	Action, Cause, CommandID string
}

func listBoards(t *testing.T, base, token string) (ids []string) {
	t.Helper()
	var rows []struct{ BoardID string }
	if err := (client.Client{Base: base, Token: token}).Do(t.Context(), http.MethodGet, "/lab/v1/boards?limit=500", nil, &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		ids = append(ids, r.BoardID)
	}
	return ids
}

// waitOnline returns when every board is connected.
func waitOnline(t *testing.T, base, token string) {
	t.Helper()
	for offline := true; offline; {
		var rows []struct{ Online bool }
		if err := (client.Client{Base: base, Token: token}).Do(t.Context(), http.MethodGet, "/lab/v1/boards?limit=500", nil, &rows); err != nil {
			t.Fatal(err)
		}
		offline = slices.ContainsFunc(rows, func(r struct{ Online bool }) bool { return !r.Online })
	}
}

func journal(t *testing.T, base, token, board string) (lines []journalLine) {
	t.Helper()
	if err := (client.Client{Base: base, Token: token}).Do(t.Context(), http.MethodGet, "/lab/v1/boards/"+board+"/journal?limit=500", nil, &lines); err != nil {
		t.Fatal(err)
	}
	return lines
}
