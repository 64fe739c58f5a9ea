package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/command"
)

// budget limits how often each kind of mishap may happen on a path.
type budget map[string]int

// actions lists everything that can happen next, by name, in a fixed order.
func (w *state) actions(b budget) (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	mishaps := 0 // passing time isn't a mishap
	for kind, n := range w.used {
		if kind != "time" {
			mishaps += n
		}
	}
	may := func(kind string) bool {
		return w.used[kind] < b[kind] && (kind == "time" || b["any"] == 0 || mishaps < b["any"])
	}
	add := func(ok bool, name ...any) {
		if ok {
			names = append(names, fmt.Sprint(name...))
		}
	}
	busy := len(w.ops)+len(w.down)+len(w.up) > 0 || slices.ContainsFunc(w.calls, func(c *caller) bool { return !c.done })
	for i := range w.ops {
		add(true, "write ", i)
		add(may("fail"), "fail ", i)
	}
	for i := range w.down {
		add(true, "down ", i)
		add(may("lose"), "lose down ", i)
		add(may("duplicate"), "duplicate down ", i)
		add(may("reboot"), "die down ", i)
	}
	for i := range w.up {
		add(true, "up ", i)
		add(may("lose"), "lose up ", i)
		add(may("duplicate"), "duplicate up ", i)
	}
	add(may("repeat"), "repeat")
	add(may("other"), "other")
	add(busy && may("time"), "time")
	add(w.online && may("cut"), "cut")
	add(!w.online, "connect")
	add(may("reboot"), "reboot")
	add(may("crash"), "crash lost")
	add(may("crash") && len(w.ops) > 0, "crash applied")
	for _, p := range command.CrashPoints {
		add(may("crash") && busy && w.armed == "", "arm ", p)
	}
	add(may("revoke"), "revoke")
	add(may("present"), "present")
	return names
}

// act performs one action and lets everything settle.
func (w *state) act(name string) {
	var i int
	verb, arg, _ := strings.Cut(name, " ")
	if f := strings.Fields(name); len(f) > 1 {
		_, _ = fmt.Sscan(f[len(f)-1], &i)
	}
	switch verb {
	case "write":
		o := w.ops[i]
		w.ops = slices.Delete(w.ops, i, i+1)
		o.do()
		o.res <- nil
	case "fail":
		w.used["fail"]++
		o := w.ops[i]
		w.ops = slices.Delete(w.ops, i, i+1)
		o.res <- errDisk
	case "down", "die":
		m := w.down[i]
		w.down = slices.Delete(w.down, i, i+1)
		if verb == "die" {
			w.used["reboot"]++
		}
		w.deliver(m, verb == "die")
	case "up":
		r := w.up[i]
		w.up = slices.Delete(w.up, i, i+1)
		w.report(r)
	case "lose", "duplicate":
		w.used[verb]++
		w.meddle(verb == "lose", strings.HasPrefix(arg, "down"), i)
	case "repeat", "other":
		w.used[verb]++
		w.call(verb)
	case "time":
		w.used["time"]++
		w.ticks++
		w.fence()
		time.Sleep(tickLen)
	case "cut":
		w.used["cut"]++
		w.cut()
	case "connect":
		w.connect()
	case "reboot":
		w.used["reboot"]++
		w.reboot()
	case "crash":
		w.used["crash"]++
		w.crash(arg == "applied")
	case "arm":
		w.used["crash"]++
		w.armed = command.Point(arg)
	case "revoke":
		w.used["revoke"]++
		w.revoked = true
		w.push()
	case "present":
		w.used["present"]++
		w.run(firmware.Event{Kind: firmware.Present, DoorID: door, PhoneHash: person})
	}
	w.rest()
}

func (w *state) meddle(lose, down bool, i int) {
	switch {
	case lose && down:
		w.down = slices.Delete(w.down, i, i+1)
	case lose:
		w.up = slices.Delete(w.up, i, i+1)
	case down:
		w.down = append(w.down, w.down[i])
	default:
		w.up = append(w.up, w.up[i])
	}
}

// rest waits until nothing moves on its own; passing an armed crash point means a crash.
func (w *state) rest() {
	w.fence()
	synctest.Wait()
	w.mu.Lock()
	acks, died := w.acks, w.died
	w.acks = nil
	w.mu.Unlock()
	if died {
		w.crash(false)
	}
	for _, a := range acks {
		if w.online && !died {
			w.run(firmware.Event{Kind: firmware.Ack, Ack: a})
		}
	}
	w.fence()
	synctest.Wait()
	w.check()
}

// hash covers everything that the future depends on.
func (w *state) hash() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	fmt.Fprint(&b, w.ticks, w.online, w.armed, w.revoked, w.applied, w.used, w.lives)
	for _, c := range w.calls {
		fmt.Fprint(&b, "|", c.kind, c.tick, c.done, c.a.Status, c.err)
	}
	for _, r := range w.rows {
		fmt.Fprint(&b, "|", w.name(r.in.CommandID), r.in.Command, (r.acceptd-w.start)/time.Second, r.lateAs)
		if r.st != nil {
			fmt.Fprint(&b, r.st.Outcome)
		}
	}
	for _, o := range w.ops {
		fmt.Fprint(&b, "|", o.name)
	}
	var parts []string
	for id, p := range w.points {
		parts = append(parts, fmt.Sprint(w.name(id), p, w.taken[id], w.sent[id]))
	}
	for _, m := range w.down {
		parts = append(parts, w.label(m))
	}
	for _, m := range w.up {
		parts = append(parts, "up"+w.name(m.CommandID)+string(m.Result)+m.Code)
	}
	for _, p := range w.journal {
		parts = append(parts, "pulse"+w.name(p.id))
	}
	for i, s := range []firmware.State{w.st, w.flash} {
		for _, d := range s.Done {
			parts = append(parts, fmt.Sprint("done", i, w.name(d.Report.CommandID), d.Report.Result, d.Acked))
		}
		parts = append(parts, fmt.Sprint("rev", i, s.Content.Revision))
	}
	slices.Sort(parts)
	fmt.Fprint(&b, parts)
	return b.String()
}

func (w *state) label(m any) string {
	if c, ok := m.(wire.Command); ok {
		return fmt.Sprint("down", w.name(c.ID), c.Epoch == w.epoch)
	}
	return "sync"
}
