package attack

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// Sizes. The defaults are the short form.
var (
	malformed = flag.Int("attack.malformed", 1000, "malformed MQTT connections")
	silent    = flag.Int("attack.silent", 300, "silent MQTT peers at one time")
	requests  = flag.Int("attack.requests", 3000, "malformed HTTP requests over sockets")
	readers   = flag.Int("attack.readers", 100, "idle readers, slow bodies and header bombs at one time")
	hold      = flag.Duration("attack.hold", time.Second, "how long peers that only hold on are held")
	strict    = flag.Bool("attack.strict", false, "the uninvolved place's p99 must stay within twice the calm value (and 100 ms), and a peer that speaks waits at most 3 s among silent ones")
)

// arena is the world under attack: place 0 belongs to the attacker, place 1 is uninvolved.
type arena struct {
	t     *testing.T
	tb    *testbed.Testbed
	world *world.World
	probe *probe
}

func (a *arena) http() string { return strings.TrimPrefix(a.tb.Ready.HTTP, "http://") }
func (a *arena) mqtt() string { return strings.TrimPrefix(a.tb.Ready.MQTT, "tcp://") }

// attack is one row of the table. play returns the size of the attack and what went wrong.
type attack struct {
	name string
	play func(a *arena) (size int, wrong []string)
}

var attacks = []attack{
	{"malformed MQTT connections", malformedMQTT},
	{"wrong passwords", wrongPasswords},
	{"silent MQTT peers", silentPeers},
	{"malformed HTTP requests", malformedHTTP},
	{"slow bodies", slowBodies},
	{"header bombs", headerBombs},
	{"readers that don't read", idleReaders},
	{"another place's ids", foreignIDs},
	{"a valid board on others", validBoard},
}

// usage is what the process holds: heap, goroutines, descriptors.
type usage struct {
	heap       uint64
	goroutines int
	files      int
}

func use() usage {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return usage{m.HeapAlloc, runtime.NumGoroutine(), len(files)}
}

// back reports whether the process has returned to what it held before, allowing for the probes' history.
func (u usage) back(before usage) bool {
	return u.heap < before.heap+32<<20 && u.goroutines <= before.goroutines+30 && u.files <= before.files+20
}

func (u usage) String() string { return fmt.Sprintf("%d/%d/%d", u.heap>>20, u.goroutines, u.files) }

// TestAttacks: nothing opens that nobody asked for, nothing leaks, and heap, goroutines and descriptors return to
// their previous level.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("it holds sockets for seconds")
	}
	w := world.Default(7, 20)
	tb := must.Get(testbed.Start(t.Context(), testbed.Config{World: w, Fleet: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
	defer func() {
		if err := tb.Stop(); err != nil {
			t.Error(err)
		}
	}()
	a := &arena{t: t, tb: tb, world: w}
	a.probe = newProbe(a)
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "attack\tsize\tprobe p50/p99 calm\tduring\tMB heap/goroutines/descriptors before\tafter\tresult")
	for _, x := range attacks {
		calm := a.probe.during(func() { wait(*hold) }) // the baseline, because the machine may be busy with other things
		before := use()
		var size int
		var wrong []string
		missed := unreached.Load()
		felt := a.probe.during(func() { size, wrong = x.play(a) })
		if missed = unreached.Load() - missed; missed*10 > int64(size) {
			wrong = append(wrong, fmt.Sprintf("%d connections weren't made: the attack hardly reached anybody", missed))
		}
		after := use()
		for i := 0; i < 300 && !after.back(before); i++ { // connections close, deadlines pass
			wait(100 * time.Millisecond)
			after = use()
		}
		if !after.back(before) {
			wrong = append(wrong, "the process didn't return to where it was")
		}
		wrong = append(wrong, felt.wrong...)
		later := a.probe.during(func() { wait(*hold) })
		calm.took, wrong = append(calm.took, later.took...), append(append(wrong, calm.wrong...), later.wrong...)
		if *strict && felt.p99() > max(2*calm.p99(), 100*time.Millisecond) {
			wrong = append(wrong, "the uninvolved place felt it")
		}
		result := "held"
		if len(wrong) > 0 {
			result = "BROKEN: " + strings.Join(wrong[:min(len(wrong), 5)], "; ")
			t.Errorf("%s: %s", x.name, result)
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", x.name, size, calm, felt, before, after, result)
	}
	if n := a.strangePulses(); n > 0 {
		t.Errorf("%d doors opened that nobody asked for, want 0", n)
	}
	_ = table.Flush()
	t.Log("\n" + rows.String())
}

// strangePulses counts openings of doors that the probe doesn't open.
func (a *arena) strangePulses() (n int) {
	for _, e := range a.tb.History.Snapshot() {
		if e.Kind == history.Actuation && e.Action == "pulse" && e.DoorID != a.probe.door {
			n++
		}
	}
	return n + max(0, a.pulses()-int(a.probe.opened.Load()))
}

// pulses counts the openings of the probe's door.
func (a *arena) pulses() (n int) {
	for _, e := range a.tb.History.Snapshot() {
		if e.Kind == history.Actuation && e.Action == "pulse" && e.DoorID == a.probe.door {
			n++
		}
	}
	return n
}

func percentile(list []time.Duration, p int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return list[min(len(list)-1, len(list)*p/100)]
}

func wait(d time.Duration) { time.Sleep(d) } // real sockets: no signal says when a silent peer is cut
