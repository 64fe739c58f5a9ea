package testbed

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/plot"
	"github.com/doorlab/doorlab/internal/world"
)

// TestConsoleThroughput ('make console-bench') measures how much an open console slows down commands: with nobody
// watching, with a client that reads the same stream as the page (the cost on the server), and with the page open in
// Chromium on this machine (which includes drawing it). The modes take turns, and each turn is compared with the
// unwatched turn of its round. No time fails the test, because the machine may be busy.
func TestConsoleThroughput(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("DOORLAB_SCALE"))
	if n == 0 {
		t.Skip("make console-bench")
	}
	b := newConsoleBench(t, n)
	ways := []struct {
		name string
		open func() (closes func())
	}{
		{"nobody looks", func() func() { return func() {} }},
		{"Now, its stream alone", func() func() { return b.stream("/") }},
		{"Boards, its stream alone", func() func() { return b.stream("/boards") }},
		{"Now in Chromium", func() func() { return b.look("/") }},
		{"Boards in Chromium", func() func() { return b.look("/boards") }},
	}
	const rounds, turn = 9, 4 * time.Second
	b.turn(turn) // establishes the connections
	speed, ratio, cpu := make([][]float64, len(ways)), make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := range rounds {
		perSecond := make([]float64, len(ways))
		for k := range ways {
			i := (k + round) % len(ways)
			closes := ways[i].open()
			rate, used := b.turn(turn)
			closes()
			perSecond[i] = rate
			speed[i], cpu[i] = append(speed[i], rate), append(cpu[i], used)
		}
		for i := range ways {
			ratio[i] = append(ratio[i], perSecond[i]/perSecond[0])
		}
	}
	t.Logf("%d boards, %d callers, medians of %d turns of %s; ratios within a round", n, benchCallers, rounds, turn)
	for i, w := range ways {
		t.Logf("%-26s %7.0f commands/s   ratio %.3f (%.3f to %.3f)   %4.0f µs of the processor per command", w.name, plot.Median(speed[i]), plot.Median(ratio[i]),
			slices.Min(ratio[i]), slices.Max(ratio[i]), plot.Median(cpu[i]))
	}
}

const benchCallers = 64

type consoleBench struct {
	t      *testing.T
	tb     *Testbed
	page   *browser.Page
	signed *http.Client // signed in to the console
	calls  *http.Client
	at     []benchPlace
	serial atomic.Int64
}

type benchPlace struct {
	token string
	doors []string
}

// newConsoleBench starts boards that answer immediately. There are fewer places than one address may exchange keys
// per minute.
func newConsoleBench(t *testing.T, boards int) *consoleBench {
	t.Helper()
	const places = 25
	w := &world.World{Seed: 1}
	for i := range places {
		w.Places = append(w.Places, world.Place{Name: fmt.Sprint("Place ", i+1), Kind: world.Live,
			Fleet: &world.Fleet{Boards: boards / places, DoorsPerBoard: 1, Report: &world.Report{P50: time.Nanosecond, P99: time.Nanosecond}},
			Keys:  []world.Key{{Name: "default", Scopes: []string{"space:partner", "device:door"}}}})
	}
	must.OK(t, w.Resolve())
	tb := begin(t, Config{World: w, Client: Light, OnDemand: true})
	jar := must.Get(cookiejar.New(nil))(t)
	b := &consoleBench{t: t, tb: tb, page: browser.Start(t).Page(browser.Look{}), signed: &http.Client{Jar: jar},
		calls: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchCallers}}}
	t.Cleanup(b.calls.CloseIdleConnections)
	signIn(t, tb, b.page)
	resp := must.Get(b.signed.PostForm(tb.Ready.Control+"/login", url.Values{"token": {tb.Ready.ControlToken}}))(t)
	_ = resp.Body.Close()
	for i, ready := range tb.Ready.Places {
		token, _, err := client.Client{Base: tb.Ready.HTTP}.Exchange(t.Context(), *ready.APIKey)
		if err != nil {
			t.Fatal(err)
		}
		at := benchPlace{token: token}
		for _, board := range w.Places[i].Boards {
			at.doors = append(at.doors, board.Doors[0].ID)
		}
		b.at = append(b.at, at)
	}
	return b
}

// turn lets the callers work for a while and returns commands per second and CPU time per command in µs, for this
// process only, so without Chromium.
func (b *consoleBench) turn(d time.Duration) (perSecond, cpu float64) {
	b.t.Helper()
	var done atomic.Int64
	var wg sync.WaitGroup
	began, before := clock.Mono(), processor()
	for caller := range benchCallers {
		wg.Go(func() {
			for n := 0; clock.Mono()-began < d && !b.t.Failed(); n++ {
				at := b.at[(caller+n)%len(b.at)]
				h := http.Header{"Authorization": {"Bearer " + at.token}, "Content-Type": {"application/json"},
					"Idempotency-Key": {strconv.FormatInt(b.serial.Add(1), 10)}}
				path := "/device/v1/devices/" + at.doors[(caller*7919+n)%len(at.doors)] + "/commands"
				a, err := client.Send(b.t.Context(), b.calls, http.MethodPost, b.tb.Ready.HTTP+path, h, []byte(`{"capability":"door","command":"open"}`))
				if err != nil || a.Status != http.StatusOK {
					b.t.Errorf("a command failed, so this isn't measured: %v %+v", err, a)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	n := float64(done.Load())
	return n / (clock.Mono() - began).Seconds(), float64((processor()-before)/time.Microsecond) / max(n, 1)
}

// look opens the page in Chromium.
func (b *consoleBench) look(path string) (closes func()) {
	b.page.Open(b.tb.Ready.Control + path)
	b.page.Await(`document.getElementById("stream").dataset.state === "on"`)
	return func() { b.page.Open("about:blank") }
}

// stream reads what the page would be sent.
func (b *consoleBench) stream(path string) (closes func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, b.tb.Ready.Control+path, nil))(b.t)
	req.Header.Set("Accept", "text/event-stream")
	resp := must.Get(b.signed.Do(req))(b.t)
	first := make([]byte, len("retry: "))
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "retry: " {
		b.t.Fatalf("the stream of %s is answered %d %q, %v; want a stream", path, resp.StatusCode, first, err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(io.Discard, resp.Body)
	}()
	return func() {
		cancel()
		<-over
		_ = resp.Body.Close()
	}
}

// processor is the CPU time used by this process.
func processor() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}
