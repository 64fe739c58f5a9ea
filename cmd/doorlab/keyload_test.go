package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/router"
)

// keyLoad sends commands, each under a key of its own, and keeps what came back.
type keyLoad struct {
	t     *testing.T
	api   client.Client
	doors []string

	mu     sync.Mutex
	cond   *sync.Cond
	keys   []string
	door   map[string]string // of every key
	first  map[string]string // status and body of every key that was answered
	lives  int               // restarts so far
	opened int               // answers 200
	again  int               // answers 503, and connections that broke when routed
	gone   int               // of these, answers 503 of a router
	routed bool              // a router says 503 while the server is dead: nobody waits for its restart
	took   []time.Duration   // of each answer 200

	changed func(format string, args ...any) // hears of an answer that changed; nil = t.Errorf
}

func newKeyLoad(t *testing.T, base, apiKey string) *keyLoad {
	t.Helper()
	c := must.Get(client.Client{Base: base}.SignIn(t.Context(), apiKey))(t)
	var rows []struct{ ID string }
	clienttest.Do(t, c, http.MethodGet, "/device/v1/devices", nil, &rows)
	l := &keyLoad{t: t, api: c, door: map[string]string{}, first: map[string]string{}}
	l.cond = sync.NewCond(&l.mu)
	for _, r := range rows {
		l.doors = append(l.doors, r.ID)
	}
	return l
}

// errTryAgain: 503, nothing is known to have happened; the same key asks again.
var errTryAgain = errors.New("503")

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
			life, began := l.life(), clock.Mono()
			got, err := l.send(context.Background(), door, key)
			switch answered = err == nil; {
			case errors.Is(err, errTryAgain), err != nil && l.routed:
				l.mu.Lock()
				l.again++
				if err != nil && strings.Contains(err.Error(), router.Unavailable) {
					l.gone++
				}
				l.mu.Unlock()
				pause(ctx)
				continue
			case err != nil:
				if !l.waitLife(ctx, life+1) {
					return // askAgain finds out what became of the key
				}
				continue
			}
			l.mu.Lock()
			l.first[key] = got
			if strings.HasPrefix(got, "200") {
				l.opened++
				l.took = append(l.took, clock.Mono()-began)
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

// waitLife reports whether the server has restarted n times, for which it waits until ctx ends: a connection may break without
// a restart.
func (l *keyLoad) waitLife(ctx context.Context, n int) bool {
	defer context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.cond.Broadcast()
	})()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.lives < n && ctx.Err() == nil {
		l.cond.Wait()
	}
	return l.lives >= n
}

// TestWaitLifeEnds: whoever waits for a restart that doesn't come goes on when the load ends.
func TestWaitLifeEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &keyLoad{t: t}
		l.cond = sync.NewCond(&l.mu)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if l.waitLife(ctx, 1) {
			t.Error("there was no restart, want false when the load ends")
		}
		if l.restarted(); !l.waitLife(ctx, 1) {
			t.Error("the server has restarted, want true")
		}
	})
}

// send asks once; a connection that breaks is no answer.
func (l *keyLoad) send(ctx context.Context, door, key string) (string, error) {
	a, err := l.api.Open(ctx, door, key)
	if err != nil {
		return "", err
	}
	switch a.Status {
	case 200, 409, 502, 504:
		return fmt.Sprintf("%d %s", a.Status, a.Body), nil
	case 503:
		return "", fmt.Errorf("%w: %s", errTryAgain, a.Body)
	}
	l.t.Errorf("a command was answered %d: %s", a.Status, a.Body)
	return "", fmt.Errorf("status %d: %s", a.Status, a.Body)
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
// answer, any other one and the same. After a 503 it does as it is told and tries
// again: a claim that came too late may not have been taken back yet. It returns
// the status of every command.
func (l *keyLoad) askAgain() (commands map[string]string) {
	l.t.Helper()
	commands = map[string]string{}
	changed := l.changed
	if changed == nil {
		changed = l.t.Errorf
	}
	jobs := make(chan string)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for key := range jobs {
				for range 2 {
					got, err := l.send(context.Background(), l.door[key], key)
					for until := clock.Mono() + patience; errors.Is(err, errTryAgain) && clock.Mono() < until; {
						pause(context.Background())
						got, err = l.send(context.Background(), l.door[key], key)
					}
					if err != nil {
						l.t.Errorf("key %s again: %v", key, err)
						continue
					}
					l.mu.Lock()
					if first, ok := l.first[key]; ok && first != got {
						changed("key %s: first %s, then %s", key, first, got)
					}
					l.first[key] = got
					commands[commandOf(got)] = got[:3]
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
	return commands
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
	clienttest.Do(t, client.Client{Base: base, Token: token}, http.MethodGet, "/lab/v1/boards?limit=500", nil, &rows)
	for _, r := range rows {
		ids = append(ids, r.BoardID)
	}
	return ids
}

// waitOnline returns when every board is connected.
func waitOnline(t *testing.T, base, token string) {
	t.Helper()
	for offline := true; offline; pause(t.Context()) {
		var rows []struct{ Online bool }
		clienttest.Do(t, client.Client{Base: base, Token: token}, http.MethodGet, "/lab/v1/boards?limit=500", nil, &rows)
		offline = slices.ContainsFunc(rows, func(r struct{ Online bool }) bool { return !r.Online })
	}
}

func journal(t *testing.T, base, token, board string) (lines []journalLine) {
	t.Helper()
	clienttest.Do(t, client.Client{Base: base, Token: token}, http.MethodGet, "/lab/v1/boards/"+board+"/journal", nil, &lines)
	return lines
}

// count is how many doors were opened.
func (l *keyLoad) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened
}

// p99 of the doors opened since the n-th.
func (l *keyLoad) p99(n int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := slices.Sorted(slices.Values(l.took[n:]))
	return took[len(took)*99/100]
}

// pulsesOf counts how often the boards at lab have opened for each command.
func pulsesOf(t *testing.T, lab, token string) map[string]int {
	t.Helper()
	pulses := map[string]int{}
	for _, b := range listBoards(t, lab, token) {
		for _, line := range journal(t, lab, token, b) {
			if line.Cause == "command" && line.Action == "pulse" {
				pulses[line.CommandID]++
			}
		}
	}
	return pulses
}

// pulsesFit: none of the commands, by id with their status, opened twice, each answered 200 has opened, none but
// those answered 200 or 504 has. It returns how many were answered 200.
func pulsesFit(t *testing.T, commands map[string]string, pulses map[string]int) (opened int) {
	t.Helper()
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
	return opened
}
