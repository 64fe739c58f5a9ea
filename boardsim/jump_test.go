package boardsim

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
)

// advance jumps and fails if the jump gave up waiting for messages.
func (r *rig) advance(d time.Duration) {
	r.t.Helper()
	v := r.clk.(*clock.Virtual)
	wall := time.Now()
	must.OK(r.t, v.Advance(v.Now().Add(d)))
	if took := time.Since(wall); took > 1500*time.Millisecond {
		r.t.Errorf("a jump of %s took %s, want at most %s", d, took, 1500*time.Millisecond)
	}
	r.quiet()
}

func TestConnectedBoardsStayConnected(t *testing.T) {
	bubble(t, true, func(r *rig) {
		for range 5 {
			r.advance(36 * time.Hour)
			r.sleep(time.Minute)
		}
		r.want("hellos", r.server.hellos, map[string]int{one: 1, two: 1, "brd_test": 1})
		r.want("online", r.fleet.Online(), 3)
		r.want("digests, once a jump", len(r.server.uplinks(one, wire.UpDigest)), 5)
		r.arm("halfopen", one, "") // contact counts from the jumps
		r.advance(time.Hour)
		if age := r.board(one)["outageAgeSec"]; age != 3600.0 {
			t.Errorf("outage age %v, want 3600", age)
		}
	})
}

// A jump during which the server has nothing to say still counts as contact.
func TestSilentJumpIsContact(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.advance(30 * time.Second) // no digest is due yet
		r.want("digests", len(r.server.uplinks(one, wire.UpDigest)), 0)
		r.arm("oneway-down", one, "")
		r.advance(time.Hour)
		if age := r.board(one)["outageAgeSec"]; age != 3600.0 {
			t.Errorf("outage age %v, want 3600, counted from the end of the first jump", age)
		}
	})
}

// A jump right after a fault ends waits for the boards to reconnect.
func TestJumpWaitsForReconnects(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"offline", "halfopen", "oneway-up", "oneway-down", "flap"} {
		for _, away := range []time.Duration{0, time.Second, time.Minute, 37 * time.Hour} {
			if fault == "flap" && away > time.Minute {
				continue
			}
			t.Run(fault+" "+away.String(), func(t *testing.T) {
				bubble(t, true, func(r *rig) {
					r.server.sync = content
					remove := r.arm(fault, one, "")
					r.advance(away)
					remove()
					r.advance(time.Millisecond)
					b := r.board(one)
					r.want("back", []any{r.server.online(one), b["online"], b["appliedRevision"]}, []any{true, true, 3.0 * float64(min(1, r.server.hellos[one]-1))})
					r.want("commands", r.reported(one, "dor_one1"), "ok")
				})
			})
		}
	}
}

// reported opens a door and returns the board's report.
func (r *rig) reported(board, door string) string {
	n := len(r.server.reports(board))
	id := r.server.command(board, door, wire.CmdOpen)
	r.sleep(time.Second)
	if got := r.server.reports(board)[n:]; len(got) == 1 && got[0] == id+" ok" {
		return "ok"
	}
	return "not " + id
}

// Faults that begin and end within one jump.
func TestFaultsWithinAJump(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		r.arm("offline", one, `,"for":"20h"`)
		r.arm("halfopen", two, `,"for":"3h"`)
		r.advance(19*time.Hour + 59*time.Minute)
		r.want("online", []bool{r.server.online(one), r.server.online(two)}, []bool{false, true})
		r.want("boards say", []any{r.board(one)["online"], r.board(two)["online"]}, []any{false, true})
		r.advance(time.Minute)
		r.want("online", []bool{r.server.online(one), r.server.online(two)}, []bool{true, true})
		r.arm("flap", one, `,"params":{"upSec":60,"downSec":60}`)
		n := r.server.hellos[one]
		v := r.clk.(*clock.Virtual)
		must.OK(t, v.Advance(v.Now().Add(2*time.Hour)))
		if d := r.server.hellos[one] - n; d < 59 || d > 61 {
			t.Errorf("got %d hellos in 2 h of flapping each minute, want 59 to 61", d)
		}
	})
}

// Reboots, a removed fault and an attach, all just before a jump.
func TestJumpWaitsForReboots(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.arm("reboot", one, "")
		r.arm("reboot-wiped", two, "")
		r.advance(time.Hour)
		r.want("all back", r.fleet.Online(), 3)
		r.do("POST", "/boards/"+one+"/detach", "")
		r.advance(time.Hour)
		r.do("POST", "/boards/"+one+"/attach", "")
		r.advance(time.Hour)
		r.want("all back", r.fleet.Online(), 3)
		r.want("age", r.board(one)["outageAgeSec"], any(0.0))
	})
}

// A jump of an hour without a server must not hang: it takes at most a minute of wall time.
func TestJumpWithoutServer(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.mu.Lock()
		r.server.deaf = true
		for _, p := range r.server.live {
			_ = p.conn.Close()
		}
		r.server.mu.Unlock()
		synctest.Wait()
		v := r.clk.(*clock.Virtual)
		wall := time.Now()
		must.OK(t, v.Advance(v.Now().Add(time.Hour)))
		if took := time.Since(wall); took > time.Minute {
			t.Errorf("the jump took %s, want at most %s", took, time.Minute)
		}
		r.want("phase", r.board(one)["phase"], any("grace"))
	})
}

// A hold of N minutes ends exactly on time, whether or not there is an outage.
func TestHoldEndsInAJump(t *testing.T) {
	bubble(t, true, func(r *rig) {
		for _, b := range []string{one, two} {
			r.server.command(b, "dor_"+b[4:]+"1", wire.CmdHold, func(c *wire.Command) { c.Minutes = 90 })
		}
		r.sleep(time.Second)
		r.arm("offline", two, "")
		r.advance(10 * time.Hour)
		for _, b := range []string{one, two} {
			lines := r.do("GET", "/boards/"+b+"/journal", "").([]any)
			r.want("at", lines[1].(map[string]any)["at"], any(noon.Add(90*time.Minute).Format(control.TimeFormat)))
			r.want("cause", lines[1].(map[string]any)["cause"], any("hold_end"))
		}
	})
}

// The server is a separate process: the jump doesn't wait for answers from it.
func TestServerApart(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		r.server.flight = nil
		r.fleet.cfg.Apart = true
		r.arm("reboot", one, "")
		r.advance(0)
		r.server.command(one, "dor_one1", wire.CmdHold, func(c *wire.Command) { c.Minutes = 5 })
		r.sleep(time.Second)
		r.quiet()
		r.present("dor_one2")
		r.do("POST", "/people/leaf", `{"doorId":"dor_one2","action":"force"}`)
		r.advance(10 * time.Minute) // the end of the hold is reported too
		r.want("states", len(r.server.uplinks(one, wire.UpState)), 2)
		remove := r.arm("offline", one, "")
		r.present("dor_one2")
		r.advance(time.Hour)
		remove()
		r.advance(time.Millisecond)
		r.want("back with everything", []any{r.server.online(one), r.board(one)["bufferedRecords"]}, []any{true, 0.0})
	})
}

// TestDigestWithoutAnswer: a server doesn't answer a digest while it thinks that content is on its way. A jump waits for
// a moment only, and gives up nothing. The same goes for what a line sends a second time.
func TestDigestWithoutAnswer(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.flight = nil
		r.fleet.cfg.Apart = true
		r.arm("reboot", one, "")
		r.advance(0)
		gaveUp := func(what string) {
			t.Helper()
			r.want(what, r.clk.(*clock.Virtual).Abandoned(), int64(0))
		}
		r.server.lose(true)
		r.advance(2 * time.Minute)
		gaveUp("digests without an answer")
		r.server.lose(false)
		remove := r.arm("lossy", one, `,"params":{"duplicatePercent":100}`)
		r.do("POST", "/people/leaf", `{"doorId":"dor_one2","action":"force"}`)
		synctest.Wait() // paho writes on its own time
		r.advance(time.Second)
		remove()
		gaveUp("states told twice")
	})
}

// TestARefusedUploadComesAgainWhileTheClockStands: the server refuses an upload because its disk is slow. The board
// must retry in real time, because domain time may be standing still.
func TestARefusedUploadComesAgainWhileTheClockStands(t *testing.T) {
	bubble(t, true, func(r *rig) {
		refuse := func(on bool) {
			r.server.mu.Lock()
			defer r.server.mu.Unlock()
			r.server.noAcks = on
		}
		refuse(true)
		r.present("dor_one1")
		for _, c := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {9 * time.Second, 1}, {time.Second, 2}, {19 * time.Second, 2}, {time.Second, 3}} {
			r.sleep(c.wait)
			if n := len(r.server.uplinks(one, wire.UpRec)); n != c.want {
				t.Errorf("another %s: got %d uploads, want %d", c.wait, n, c.want)
			}
		}
		refuse(false)
		r.sleep(40 * time.Second)
		r.want("records left", r.board(one)["bufferedRecords"], 0.0)
		r.present("dor_one1") // the next one starts the same way
		r.sleep(time.Hour)
		r.want("uploads", len(r.server.uplinks(one, wire.UpRec)), 5)
		r.want("records", r.recordsTold(one), 2)
	})
}
