package tools

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// TestMosquittoBoard: a board made of mosquitto_sub and mosquitto_pub takes a
// simulated one's place: commands, content, outage policy, and a connection
// that is taken away from it.
func TestMosquittoBoard(t *testing.T) {
	t.Parallel()
	needMosquitto(t)
	ctx := t.Context()
	w := world.Default(1, 1)
	bed := must.Get(testbed.Start(ctx, testbed.Config{World: w, Fleet: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = bed.Stop() })
	events := &events{log: bed.History}
	place := w.Places[1]
	board, door := place.Boards[0], place.Boards[0].Doors[1]
	control := client.Client{Base: bed.Ready.Control, Token: bed.Ready.ControlToken}
	var login struct{ MQTT, ClientID, Username, Password string }
	clienttest.Do(t, control, "POST", "/lab/v1/boards/"+board.ID+"/detach", nil, &login)
	host, port, err := net.SplitHostPort(strings.TrimPrefix(login.MQTT, "tcp://"))
	if err != nil || login.ClientID != board.ID || login.Username != board.ID {
		t.Fatalf("detached with %+v, %v, want the login of %s", login, err, board.ID)
	}
	events.until(t, "offline", func(e history.Event) bool { return e.Kind == history.Offline && e.BoardID == board.ID })

	said := start(t, "./mosquitto-board.sh", host, port, login.ClientID, login.Password)
	said.until(t, "online, epoch ")
	events.until(t, "content", func(e history.Event) bool { return e.Kind == history.Applied && e.BoardID == board.ID })

	var shown struct {
		Online, Detached bool
		AppliedRevision  int64
	}
	clienttest.Do(t, control, "GET", "/lab/v1/boards/"+board.ID, nil, &shown)
	if !shown.Online || !shown.Detached || shown.AppliedRevision == 0 {
		t.Errorf("GET /boards/{id} shows %+v, want the real board", shown)
	}

	api := must.Get(client.Client{Base: bed.Ready.HTTP, HTTP: &http.Client{Transport: keyed{}, Timeout: 20 * time.Second}}.SignIn(ctx, place.MainKey().Secret))(t)
	commands := "/device/v1/devices/" + door.ID + "/commands"
	for _, body := range []string{`{"capability":"door","command":"open"}`, `{"capability":"door","command":"hold","args":{"minutes":5}}`, `{"capability":"door","command":"close"}`} {
		var got struct{ Outcome, CommandID, Command string }
		clienttest.Do(t, api, "POST", commands, json.RawMessage(body), &got)
		if got.Outcome != "reported" || !strings.Contains(body, got.Command) {
			t.Errorf("got %+v from %s, want that command reported", got, body)
		}
		said.until(t, got.Command+" "+door.ID+" "+got.CommandID)
	}

	var permit struct{ PermitID string }
	clienttest.Do(t, api, "POST", "/space/v1/partner/entry-permits", map[string]any{"externalRef": "r", "phone": "01012345678",
		"startsAt": "2026-10-01T00:00:00Z", "endsAt": "2026-10-02T00:00:00Z", "doorIds": []string{door.ID}}, &permit)
	events.until(t, "the permit's revision", func(e history.Event) bool {
		return e.Kind == history.Applied && e.BoardID == board.ID && e.Revision > 1
	})

	var refused *client.Error
	err = api.Do(ctx, "PUT", "/device/v1/boards/"+board.ID+"/netloss", map[string]any{"graceSec": 60, "channels": map[string]string{"1": "open"}}, nil)
	if !errors.As(err, &refused) || refused.Status != 502 || refused.Code != "device_refused" {
		t.Errorf("netloss: %v", err)
	}

	// The simulated board comes back and goes again. The mosquitto board takes over
	// again, and sends hello because its pings are no longer answered.
	clienttest.Do(t, control, "POST", "/lab/v1/boards/"+board.ID+"/attach", nil, nil)
	events.until(t, "takeover", func(e history.Event) bool { return e.Kind == history.Online && e.BoardID == board.ID })
	clienttest.Do(t, control, "POST", "/lab/v1/boards/"+board.ID+"/detach", nil, nil)
	said.until(t, "online, epoch ")
	var got struct{ Outcome string }
	clienttest.Do(t, api, "POST", commands, json.RawMessage(`{"capability":"door","command":"open"}`), &got)
	if got.Outcome != "reported" {
		t.Errorf("after a takeover: got %+v, want Outcome reported", got)
	}
}

func needMosquitto(t *testing.T) {
	t.Helper()
	must.Have(t, "mosquitto_sub", "mosquitto-clients")
	must.Have(t, "mosquitto_pub", "mosquitto-clients")
	must.Have(t, "bash", "bash")
}

// keyed gives every request its own Idempotency-Key.
type keyed struct{}

func (keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Idempotency-Key", rand.Text())
	return http.DefaultTransport.RoundTrip(r)
}

// said is what a program says, line by line.
type said struct{ c chan string }

func (s said) until(t *testing.T, want string) {
	t.Helper()
	for line := range s.c {
		if strings.Contains(line, want) {
			return
		}
	}
	t.Fatalf("the board ended before %q", want)
}

// start runs a board's script in a process group of its own, which goes with the test.
func start(t *testing.T, script string, args ...string) said {
	t.Helper()
	cmd := exec.Command(script, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	l := said{make(chan string, 64)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(l.c)
		for s := bufio.NewScanner(out); s.Scan(); {
			l.c <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		<-done
		_ = cmd.Wait()
	})
	return l
}

// events are those of a history, as they come.
type events struct {
	log *history.Log
	seq int64 // of the last one seen
}

func (e *events) until(t *testing.T, what string, match func(history.Event) bool) {
	t.Helper()
	for found := false; !found; {
		must.OK(t, e.log.Each(e.seq, func(x *history.Event) error {
			if !found {
				e.seq, found = x.Seq, match(*x)
			}
			return nil
		}))
		if err := client.Pause(t.Context(), time.Millisecond); err != nil {
			t.Fatalf("no %s: %v", what, err)
		}
	}
}
