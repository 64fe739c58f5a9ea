package boardsim

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/internal/world"
)

// BenchmarkConnect connects a fleet to the fake server in memory, reports the memory per board (both ends together),
// and sends each board one command. DOORLAB_BOARDS sets the number of boards (default 1000).
func BenchmarkConnect(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv("DOORLAB_BOARDS"))
	if n == 0 {
		n = 1000
	}
	w := world.Default(7, n)
	w.DeriveSecrets(nil)
	for b.Loop() {
		before := inUse()
		server := newFake(clock.Real{}, clock.NewFlight())
		f := must.Get(New(Config{World: w, Kinds: []string{world.Live}, Clock: clock.Real{}, Flight: server.flight, DataDir: b.TempDir(),
			Dial: func(ctx context.Context, _ string) (net.Conn, error) { return server.lis.Dial(ctx) }}))(b)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		start := clock.Mono()
		must.OK(b, f.Start(ctx))
		b.ReportMetric(float64(n)/(clock.Mono()-start).Seconds(), "connects/s")
		cancel()
		b.ReportMetric(float64(inUse()-before)/float64(n), "B/board")
		b.ReportMetric(float64(runtime.NumGoroutine())/float64(n), "goroutines/board")
		start = clock.Mono()
		for _, board := range f.boards {
			server.command(board.id, board.channels[0].ID, wire.CmdOpen)
		}
		for f.acted() < n {
			runtime.Gosched()
		}
		b.ReportMetric(float64(n)/(clock.Mono()-start).Seconds(), "commands/s")
		start = clock.Mono()
		must.OK(b, f.Stop())
		server.close()
		b.Logf("%d boards stopped in %s", n, fmt.Sprint(clock.Mono()-start))
	}
}

// acted is the number of ground-truth lines.
func (f *Fleet) acted() (n int) {
	for _, b := range f.boards {
		b.mu.Lock()
		n += int(b.jseq)
		b.mu.Unlock()
	}
	return n
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
