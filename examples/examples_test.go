// Package examples_test runs the clients of this folder against a lab, with
// everything that a client must handle, and asks the go-live checklist about them.
package examples_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// clients are the examples: what runs each, from this folder. Java 11 and later runs a
// source file as it is (it compiles it in memory), so there is nothing to build.
var clients = map[string]struct{ needs, run string }{
	"Python":     {"python3", "python3 partner.py"},
	"JavaScript": {"node", "node partner.mjs"},
	"Go":         {"go", "go run ./go"},
	"Java":       {"javac", "java Partner.java"}, // a JRE without a compiler can't
}

// rude stands before the API: the first exchange is answered 429, and the first list
// of doors 401, as if the token had expired.
type rude struct {
	http.Handler
	mu   sync.Mutex
	seen map[string]time.Time
	gap  time.Duration // between the 429 and the next exchange
}

func (r *rude) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	first, again := r.seen[q.URL.Path]
	if !again {
		r.seen[q.URL.Path] = time.Now()
	}
	status, code := 0, ""
	switch q.URL.Path {
	case "/core/v1/auth/apikey/token":
		if !again {
			status, code = http.StatusTooManyRequests, "rate_limited"
			w.Header().Set("Retry-After", "1")
		} else if r.gap == 0 {
			r.gap = time.Since(first)
		}
	case "/device/v1/devices":
		if !again {
			status, code = http.StatusUnauthorized, "token_expired"
		}
	}
	r.mu.Unlock()
	if status == 0 {
		r.Handler.ServeHTTP(w, q)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":%q,"message":"not now","statusCode":%d}`, code, status)
}

// TestClients: each registers a permit, opens a door, and handles 429, 401, 504 and
// 409 as the API asks; the checklist has nothing against it.
func TestClients(t *testing.T) {
	t.Parallel()
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.needs); err != nil {
				if os.Getenv("CI") != "" && name != "Java" { // a JDK is too big for the gate
					t.Fatalf("the %s client needs %s", name, c.needs)
				}
				t.Skipf("the %s client isn't run: %s isn't installed", name, c.needs)
			}
			play(t, strings.Fields(c.run))
		})
	}
}

// TestClientsFail: without arguments, without a server or with a wrong key, each ends with one line that says what is wrong.
func TestClientsFail(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"error":"invalid_api_key","message":"the API key is not valid","statusCode":401}`)
	}))
	t.Cleanup(srv.Close)
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skipf("%s isn't installed", c.needs)
			}
			for _, x := range []struct {
				args []string
				want string
			}{
				{nil, "usage: "},
				{[]string{"http://127.0.0.1:1", "sact_1"}, "no answer from http://127.0.0.1:1: "},
				{[]string{srv.URL, "sact_1"}, "401 invalid_api_key: the API key is not valid"},
			} {
				run := append(strings.Fields(c.run), x.args...)
				cmd := exec.CommandContext(t.Context(), run[0], run[1:]...)
				out, err := cmd.CombinedOutput()
				said := strings.TrimSuffix(strings.TrimSpace(string(out)), "\nexit status 1") // which 'go run' adds
				if err == nil || !strings.HasPrefix(said, x.want) || strings.Contains(said, "\n") {
					t.Errorf("%v: %v, got\n%s\nwant a failure in one line: %s", x.args, err, out, x.want)
				}
			}
		})
	}
}

func play(t *testing.T, run []string) {
	w := world.Default(1, 4)
	tb, err := testbed.Start(t.Context(), testbed.Config{World: w, DataDir: t.TempDir(), Control: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tb.Stop() })
	target := must.Get(url.Parse(tb.Ready.HTTP))(t)
	front := &rude{Handler: httputil.NewSingleHostReverseProxy(target), seen: map[string]time.Time{}}
	srv := httptest.NewServer(front)
	t.Cleanup(srv.Close)

	place := tb.Ready.Places[0]
	cmd := exec.CommandContext(t.Context(), run[0], append(run[1:], srv.URL, *place.APIKey, "front desk", "sim:noResponse", "sim:offline", "sim:refused:jammed", "late guest")...)
	cmd.Dir = filepath.Clean(".")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", run, err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[0], "link "+tb.Ready.HTTP+"/entry?t=") {
		t.Fatalf("got\n%s\nwant a link and five doors", out)
	}
	if got, want := strings.Join(lines[1:], ", "), "door opened, door device_no_response, door device_offline, door device_refused, door opened"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if front.gap < time.Second {
		t.Errorf("after 429 with Retry-After: 1 the next exchange came after %s, want 1s or more", front.gap)
	}

	lab := client.Client{Base: tb.Ready.Control, Token: tb.Ready.ControlToken}
	var moved []struct{ Cause string }
	if err := lab.Do(t.Context(), "GET", "/lab/v1/boards/"+w.Places[0].Boards[0].ID+"/journal", nil, &moved); err != nil || len(moved) != 2 {
		t.Errorf("the relay moved %d times (%v), want twice: for the two commands that were reported", len(moved), err)
	}
	var list struct {
		Points []struct{ ID, State, Says string }
	}
	clienttest.Do(t, lab, "GET", "/lab/v1/go-live?placeId="+place.PlaceID, nil, &list)
	for _, p := range list.Points {
		want := "proven"
		switch p.ID {
		case "token_reuse", "back_off", "errors": // nothing expires here, and the 429 and 401 came from before the server
			want = "unseen"
		}
		if p.State != want {
			t.Errorf("%s: got %s (%s), want %s", p.ID, p.State, p.Says, want)
		}
	}
}
