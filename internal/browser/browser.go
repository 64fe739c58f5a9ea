// Package browser drives a headless Chromium for tests: it opens, presses, reads and photographs pages, and records
// every request and console message. Commands and events use a pipe (two inherited files), so it needs neither a port
// nor a library. The browser resolves no names, so nothing leaves loopback.
package browser

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// Browser is one running Chromium.
type Browser struct {
	tb     testing.TB
	in     *os.File
	mu     sync.Mutex
	next   int
	waits  map[int]chan message
	pages  map[string]*Page // by session
	closed bool
}

type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

var errGone = errors.New("browser: chromium ended")

// find returns the path of Chromium, or skips the test, because a laptop may have none. In CI (the variable CI is set)
// it fails instead.
func find(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		tb.Fatal("no chromium on this machine, and CI is set")
	}
	tb.Skip("no chromium on this machine: install it to look at the pages in a browser")
	return ""
}

// Start runs a Chromium until the end of the test.
func Start(tb testing.TB) *Browser {
	tb.Helper()
	path := find(tb)
	toR, toW, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	fromR, fromW, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	profile := must.Get(os.MkdirTemp("", "browser"))(tb)
	cmd := exec.Command(path, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
		"--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{toR, fromW} // 3 and 4
	must.OK(tb, cmd.Start())
	_, _ = toR.Close(), fromW.Close()
	b := &Browser{tb: tb, in: toW, waits: map[int]chan message{}, pages: map[string]*Page{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.read(fromR)
	}()
	tb.Cleanup(func() {
		_, _ = b.call("", "Browser.close", nil)
		_ = toW.Close()
		<-done
		_ = cmd.Wait()
		_ = fromR.Close()
		_ = os.RemoveAll(profile)
	})
	return b
}

// read dispatches messages: an answer to its caller, an event to its page.
func (b *Browser) read(from *os.File) {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		raw, err := r.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(raw[:len(raw)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		wait, page := b.waits[m.ID], b.pages[m.SessionID]
		delete(b.waits, m.ID)
		b.mu.Unlock()
		switch {
		case wait != nil:
			wait <- m
		case page != nil:
			page.event(m)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, wait := range b.waits {
		close(wait)
	}
}

// call sends a command and waits for its answer.
func (b *Browser) call(session, method string, params any) (json.RawMessage, error) {
	if params == nil {
		params = struct{}{}
	}
	p, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	wait := make(chan message, 1)
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, errGone
	}
	b.next++
	id := b.next
	b.waits[id] = wait
	raw, err := json.Marshal(message{ID: id, SessionID: session, Method: method, Params: p})
	if err == nil {
		_, err = b.in.Write(append(raw, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	m, ok := <-wait
	if !ok {
		return nil, errGone
	}
	if m.Error != nil {
		return nil, fmt.Errorf("browser: %s: %s", method, m.Error.Message)
	}
	return m.Result, nil
}
