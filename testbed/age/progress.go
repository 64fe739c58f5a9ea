package age

import (
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/report"
)

// progress is how far the run is, in a line.
func (r *run) progress() string {
	now, gone, n := r.clk.Now(), clock.Mono()-r.began, r.counts().Decisions
	share := now.Sub(r.from).Seconds() / r.c.For.Seconds()
	left := "?"
	if share > 0.001 {
		left = (time.Duration(float64(gone)/share) - gone).Round(time.Second).String()
	}
	return fmt.Sprintf("%s  %3.0f %%  %s, %.0f/s, %s left, heap %d MB", now.UTC().Format("2006-01-02 15:04"), 100*share, report.Many(n, "decision"), float64(n)/gone.Seconds(), left, heap()>>20)
}

// heap is what lives on it, in bytes.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// resident is what the process holds of the machine's memory, in bytes; 0 where the
// system doesn't say.
func resident() int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
