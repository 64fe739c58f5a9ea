package boardsim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
)

// lived gives a board a past: a command, a hold, a policy, and a one-hour outage with a record.
func (r *rig) lived() (command string, again func(*wire.Command)) {
	r.t.Helper()
	r.server.sync = content
	r.arm("reboot", one, "") // fetches the content
	r.sleep(time.Second)
	command = r.server.command(one, "dor_one1", wire.CmdOpen)
	r.server.command(one, "dor_one2", wire.CmdHold)
	r.server.send(one, wire.DownCfg, wire.Config{ID: "cfg_1", NotAfterMs: r.server.session() + 5000,
		Netloss: wire.Netloss{GraceSec: 7200, Channels: map[int]string{1: wire.RestOpen}}})
	r.sleep(time.Second)
	r.arm("offline", one, "")
	r.sleep(time.Hour)
	r.want("on site", r.present("dor_one1"), "opened onsite")
	return command, func(c *wire.Command) { c.ID = command }
}

// kept checks what a board must know after a reboot or a new process.
func (r *rig) kept(command string, again func(*wire.Command), age float64) {
	r.t.Helper()
	b := r.board(one)
	if got := b["outageAgeSec"].(float64); got < age || got > age+3 {
		r.t.Errorf("outage age %v s, want %v", got, age)
	}
	r.want("state", []any{b["phase"], b["appliedRevision"], b["bufferedRecords"]}, []any{"grace", 3.0, 1.0})
	door := b["doors"].([]any)[1].(map[string]any)["standing"].(map[string]any)
	r.want("hold", []any{door["state"], door["held"]}, []any{"unlocked", true})
	r.want("content", r.present("dor_one2"), "opened onsite")
	r.do("POST", "/faults/reset", "")
	r.sleep(2 * time.Second)
	r.want("back", r.server.online(one), true)
	r.want("records went up", r.board(one)["bufferedRecords"], any(0.0))
	var h wire.Hello
	hellos := r.server.uplinks(one, wire.UpHello)
	_ = json.Unmarshal(hellos[len(hellos)-1], &h)
	r.want("hello", []any{h.Revision, h.Buffered, h.Netloss.GraceSec, h.Netloss.Channels[1]}, []any{int64(3), 2, int64(7200), wire.RestOpen})
	n, acts := len(r.server.reports(one)), len(r.acts())
	r.server.command(one, "dor_one1", wire.CmdOpen, again)
	r.sleep(time.Second)
	r.want("a repeat is answered", r.server.reports(one)[n:], []string{command + " ok"})
	r.want("and moves nothing", len(r.acts()), acts)
}

func TestReboot(t *testing.T) {
	bubble(t, false, func(r *rig) {
		command, again := r.lived()
		r.arm("reboot", one, "")
		r.want("boot", r.board(one)["boot"], any(3.0))
		r.kept(command, again, 3600)
	})
}

// dead is a flash chip that reports success and stores nothing.
type dead struct{}

func (dead) Write(p []byte) (int, error)           { return len(p), nil }
func (dead) ReadAt(p []byte, _ int64) (int, error) { clear(p); return len(p), nil }
func (dead) Close() error                          { return nil }

// TestRebootReadsTheFlash: with a flash that stores nothing, a reboot forgets everything. This shows that what
// TestReboot checks comes from flash and not from memory.
func TestRebootReadsTheFlash(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.server.sync = content
		flash := r.fleet.flash
		flash.mu.Lock()
		whole := flash.files[flash.gen]
		flash.files[flash.gen] = dead{}
		flash.mu.Unlock()
		command, again := r.lived()
		r.arm("reboot", one, "")
		b := r.board(one)
		r.want("state", []any{b["phase"], b["appliedRevision"], b["bufferedRecords"]}, []any{"stopped", 0.0, 0.0})
		door := b["doors"].([]any)[1].(map[string]any)["standing"].(map[string]any)
		r.want("hold", door["held"], any(false))
		if r.seen(history.Wiped) != nil {
			t.Error("nobody wiped the flash, want no such event")
		}
		r.do("POST", "/faults/reset", "")
		r.sleep(2 * time.Second)
		n := len(r.acts())
		r.server.command(one, "dor_one1", wire.CmdOpen, again)
		r.sleep(time.Second)
		r.want("a repeat moves the relay", r.acts()[n:], []string{"one1 pulse " + command})
		if err := whole.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestRebootLosesWhatMayWait: acknowledgements of reports and records are written to flash within 5 s. After a reboot
// before that, the board sends them again and the server recognizes the repeats. Actuations are never lost.
func TestRebootLosesWhatMayWait(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.server.command(one, "dor_one1", wire.CmdOpen)
		r.sleep(time.Second)
		for range 2 { // second reboot: the repeated messages are acknowledged by then
			r.arm("reboot", one, "")
			r.sleep(housekeeping)
		}
		r.want("reports", r.server.reports(one), []string{"cmd_1 ok", "cmd_1 ok"})
		r.want("ground truth", r.acts(), []string{"one1 pulse cmd_1"})
	})
}

func TestRebootOnline(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.arm("reboot", one, "")
		r.sleep(time.Second)
		r.want("hellos", r.server.hellos[one], 2)
		r.want("boot", r.board(one)["boot"], any(2.0))
		r.arm("no-clock", one, "") // rests at once, until the server has spoken
		r.sleep(time.Second)
		r.want("ground truth", r.acts(), []string{"one1 lock outage", "one2 lock outage"})
		r.want("online", r.board(one)["phase"], any("online"))
	})
}

func TestLostClockIsStopped(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.arm("offline", one, "")
		r.arm("no-clock", one, "")
		b := r.board(one)
		r.want("view", []any{b["phase"], b["outageAgeSec"]}, []any{"stopped", -1.0})
		r.want("on site", r.present("dor_one1"), "denied outage_limit")
	})
}

func TestRebootWiped(t *testing.T) {
	bubble(t, false, func(r *rig) {
		command, again := r.lived()
		before := r.acts()
		r.arm("reboot-wiped", one, "")
		b := r.board(one)
		r.want("state", []any{b["phase"], b["appliedRevision"], b["bufferedRecords"]}, []any{"stopped", 0.0, 0.0})
		r.want("the journal is not the board's", r.acts()[:len(before)], before)
		r.want("on site", r.present("dor_one1"), "denied outage_limit")
		r.want("events", len(r.seen(history.Wiped)), 1)
		seqs := r.seen(history.Presented)
		if a, b := seqs[0].RecordSeq, seqs[1].RecordSeq; b <= a {
			t.Errorf("record numbers went from %d to %d, want them to rise", a, b)
		}
		r.do("POST", "/faults/reset", "")
		r.sleep(2 * time.Second)
		r.want("content again", r.board(one)["appliedRevision"], any(3.0))
		n := len(r.acts())
		r.server.command(one, "dor_one1", wire.CmdOpen, again) // a wiped board remembers nothing: the server must not repeat commands
		r.sleep(time.Second)
		r.want("acts", r.acts()[n:], []string{"one1 pulse " + command})
	})
}

// A new process on the same directory is a reboot for the boards.
func TestNewProcess(t *testing.T) {
	t.Parallel()
	for _, torn := range []bool{false, true} {
		name := map[bool]string{false: "ended in order", true: "a line was cut short"}[torn]
		t.Run(name, func(t *testing.T) {
			bubble(t, false, func(r *rig) {
				command, again := r.lived()
				before, written := r.acts(), r.do("GET", "/boards/"+one+"/journal", "").([]any)
				r.halt()
				if torn {
					r.tear("journal*.ndjson", `{"seq":9,"bo`)
					r.tear("flash*.ndjson", `{"b":"brd_one","t":1`)
				}
				r.sleep(30 * time.Minute)
				r.fleetWithoutLine()
				r.want("journal", r.acts(), before)
				r.want("journal, field by field", r.do("GET", "/boards/"+one+"/journal", "").([]any)[:len(written)], written)
				r.kept(command, again, 5400)
				lines := r.do("GET", "/boards/"+one+"/journal", "").([]any)
				for i, l := range lines {
					r.want("seq", l.(map[string]any)["seq"], any(float64(i+1)))
				}
				r.want("boot in the journal", lines[len(lines)-1].(map[string]any)["boot"], any(3.0))
			})
		})
	}
}

// Content that arrived as a snapshot and a delta is complete in a new process, before the server has spoken.
func TestNewProcessBuildsOnDeltas(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.server.sync = content
		r.arm("reboot", one, "") // fetches the content
		r.sleep(time.Second)
		other := access.Grant{ID: "mem_2", Kind: access.KindMembership, PhoneHash: phoneKey.Hash("01099990000"), Doors: []string{"dor_one1"}, StartsAt: 1}
		r.server.send(one, wire.DownSync, wire.Sync{From: 3, To: 4, Timezone: "Asia/Seoul", Upsert: []access.Grant{other}})
		r.sleep(time.Second)
		r.want("delta", r.board(one)["appliedRevision"], any(4.0))
		r.halt()
		r.fleetWithoutLine()
		r.want("revision", r.board(one)["appliedRevision"], any(4.0))
		r.want("whom the snapshot let in", r.present("dor_one1"), "opened onsite")
	})
}

// fleetWithoutLine boots a new fleet whose first board can't reach the server yet.
func (r *rig) fleetWithoutLine() {
	r.t.Helper()
	r.build()
	r.arm("offline", one, "")
	for _, b := range r.fleet.boards {
		b.start()
	}
	r.sleep(time.Second)
}

// tear leaves a partial line at the end of the files, as a power loss does.
func (r *rig) tear(pattern, part string) {
	r.t.Helper()
	names, _ := filepath.Glob(filepath.Join(r.dir, pattern))
	if len(names) == 0 {
		r.t.Fatal("no " + pattern)
	}
	for _, n := range names {
		raw, err := os.ReadFile(n)
		if err == nil {
			err = os.WriteFile(n, append(raw, part...), 0o644)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// A killed process: the outage begins when the process was last known to be alive.
func TestKilledProcess(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.server.sync = content
		r.arm("reboot", one, "")
		r.sleep(10 * time.Minute)
		kept := map[string][]byte{}
		names, _ := filepath.Glob(filepath.Join(r.dir, "*.ndjson"))
		for _, n := range names {
			kept[n], _ = os.ReadFile(n)
		}
		r.halt()
		for n, raw := range kept {
			_ = os.WriteFile(n, raw, 0o644)
		}
		r.sleep(20 * time.Minute)
		r.fleetWithoutLine()
		age := r.board(one)["outageAgeSec"].(float64)
		if age < 1200 || age > 1200+62 {
			t.Errorf("outage age %v s, want 1200 and at most a beat", age)
		}
	})
}

// Flash starts a new file when it has grown too large; nothing is lost on the way.
func TestFlashRotates(t *testing.T) {
	bubble(t, false, func(r *rig) {
		command, again := r.lived()
		must.OK(t, r.fleet.flash.renew(r.fleet.boards))
		names, _ := filepath.Glob(filepath.Join(r.dir, "flash*.ndjson"))
		r.want("files", len(names), 1)
		if !strings.HasSuffix(names[0], "-000002.ndjson") {
			t.Errorf("the file is %s, want it to end in %q", names[0], "-000002.ndjson")
		}
		r.halt()
		r.fleetWithoutLine()
		r.kept(command, again, 3600)
	})
}

// TestDetachedBesideAnother: over a restart of the boards' process those boards are away that were detached, each of them, and
// no other.
func TestDetachedBesideAnother(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		for _, c := range []struct {
			path     string
			one, two bool // whether they are away
		}{
			{one + "/detach", true, false},
			{two + "/detach", true, true},
			{one + "/attach", false, true},
			{two + "/attach", false, false},
		} {
			r.do("POST", "/boards/"+c.path, "")
			for _, when := range []string{"at once", "after a restart"} {
				r.advance(time.Second)
				r.want(c.path+" "+when, []any{r.fleet.Simulates(one), r.fleet.Simulates(two), r.board(one)["detached"], r.board(two)["detached"], r.server.online(one), r.server.online(two)},
					[]any{!c.one, !c.two, c.one, c.two, !c.one, !c.two})
				if when == "at once" {
					r.halt()
					r.boot()
				}
			}
		}
	})
}
