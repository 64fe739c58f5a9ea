package boardsim

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
)

func TestOffline(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.server.sync = content
		remove := r.arm("offline", one, "")
		r.sleep(time.Millisecond)
		r.want("the server sees it", r.server.online(one), false)
		r.want("two is not touched", r.server.online(two), true)
		r.want("command", r.server.command(one, "dor_one1", wire.CmdOpen), "")
		r.sleep(90 * time.Minute)
		b := r.board(one)
		r.want("view", []any{b["online"], b["phase"], b["outageAgeSec"]}, []any{false, "grace", 5400.001})
		r.want("hellos while it is cut", r.server.hellos[one], 1)
		remove()
		r.sleep(2 * time.Second)
		r.want("back", r.server.online(one), true)
		r.want("phase", r.board(one)["phase"], any("online"))
		r.want("line events", ops(r.seen(history.Line)), []string{"down offline", "up offline"})
		r.want("revision", r.board(one)["appliedRevision"], any(3.0))
	})
}

func ops(events []history.Event) (out []string) {
	for _, e := range events {
		out = append(out, e.Op+" "+e.Text)
	}
	return out
}

// A line that drops everything: nobody is notified, so both ends have to notice by themselves, and the outage counts
// from the last word of the server.
func TestSilentLines(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"halfopen", "oneway-up", "oneway-down"} {
		t.Run(fault, func(t *testing.T) {
			bubble(t, false, func(r *rig) {
				r.sleep(100 * time.Second)
				remove := r.arm(fault, one, "")
				id := r.server.command(one, "dor_one1", wire.CmdOpen)
				r.sleep(10 * time.Second)
				r.want("the server thinks it is there", r.server.online(one), true)
				r.want("so does the board", r.board(one)["online"], any(true))
				acted := []string{"one1 pulse " + id}
				if fault != "oneway-up" { // the command doesn't arrive
					acted = nil
				}
				r.want("ground truth", r.acts(), acted)
				r.want("reports", r.server.reports(one), []string(nil))
				r.quiet()
				r.sleep(50 * time.Second)
				r.want("the board has noticed", r.board(one)["online"], any(false))
				if fault != "oneway-down" { // its pings arrive until it gives up
					r.want("the server has noticed", r.server.online(one), false)
				}
				if age := r.board(one)["outageAgeSec"].(float64); age < 60 || age > 90 {
					t.Errorf("outage age %v s, want 60 to 90", age)
				}
				remove()
				r.sleep(2 * time.Second)
				r.want("back", r.server.online(one), true)
				if fault == "oneway-up" { // the report is sent again
					r.want("reports", r.server.reports(one), []string{id + " ok"})
				}
				r.want("ground truth", r.acts(), acted)
			})
		})
	}
}

// A silent fault is removed before either end noticed. The two ends no longer share a session, so the board says
// hello again.
func TestSilentLineIsBackWithin2s(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"halfopen", "oneway-up", "oneway-down"} {
		t.Run(fault, func(t *testing.T) {
			bubble(t, false, func(r *rig) {
				remove := r.arm(fault, one, "")
				r.sleep(7 * time.Second)
				remove()
				r.sleep(2 * time.Second)
				r.want("hellos", r.server.hellos[one], 2)
				r.want("online", r.server.online(one), true)
				id := r.server.command(one, "dor_one1", wire.CmdOpen)
				r.sleep(time.Second)
				r.want("reports", r.server.reports(one), []string{id + " ok"})
			})
		})
	}
}

// A silent line, and then an end that both sides notice, before the board has missed its server: the outage counts from
// the last word of the server all the same.
func TestSilentLineThatEndsOtherwise(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"halfopen", "oneway-down"} {
		for name, end := range map[string]func(r *rig){
			"reboot": func(r *rig) { r.arm("reboot", one, "") },
			"cut":    func(r *rig) { r.arm("offline", one, "") },
			"detach": func(r *rig) {
				r.do("POST", "/boards/"+one+"/detach", "")
				r.do("POST", "/boards/"+one+"/attach", "")
			},
		} {
			t.Run(fault+" "+name, func(t *testing.T) {
				bubble(t, true, func(r *rig) {
					r.arm(fault, one, "")
					r.advance(30 * time.Second)
					end(r)
					r.advance(time.Hour)
					r.want("outage age", r.board(one)["outageAgeSec"], any(3630.0))
				})
			})
		}
	}
}

func TestLossyLine(t *testing.T) {
	bubble(t, false, func(r *rig) {
		remove := r.arm("lossy", one, `,"params":{"duplicatePercent":100,"delayMs":200}`)
		id := r.server.command(one, "dor_one1", wire.CmdOpen)
		r.sleep(time.Second)
		r.want("one actuation", r.acts(), []string{"one1 pulse " + id})
		r.want("the repeat is answered too, and doubled", len(r.server.reports(one)), 4)
		r.quiet()
		remove()
		remove = r.arm("lossy", one, `,"params":{"percent":100}`)
		r.server.command(one, "dor_one1", wire.CmdOpen)
		r.sleep(time.Second)
		r.want("nothing comes through", r.acts(), []string{"one1 pulse " + id})
		r.quiet()
		r.want("pings do", r.server.online(one), true)
		more := r.arm("lossy", one, "")
		remove()
		more()
		var lines []string
		for _, e := range r.seen(history.Line) {
			lines = append(lines, e.Op+" "+e.Text)
		}
		r.want("the history", lines, []string{"lossy packets", "up packets", "lossy all packets", "lossy packets", "up packets"})
	})
}

func TestFlap(t *testing.T) {
	bubble(t, false, func(r *rig) {
		remove := r.arm("flap", one, `,"params":{"upSec":20,"downSec":10}`)
		r.sleep(5 * time.Minute)
		if n := r.server.hellos[one]; n < 9 || n > 12 {
			t.Errorf("got %d hellos in 5 minutes, want 9 to 12", n)
		}
		remove()
		r.sleep(2 * time.Second)
		r.want("back", r.server.online(one), true)
		n := r.server.hellos[one]
		r.sleep(5 * time.Minute)
		r.want("and it stays", r.server.hellos[one], n)
	})
}

// The server goes away: boards reconnect with jitter and keep trying.
func TestServerGone(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.server.mu.Lock()
		r.server.deaf = true
		for _, p := range r.server.live {
			_ = p.conn.Close()
		}
		r.server.mu.Unlock()
		r.sleep(10 * time.Minute)
		r.want("a connection is no contact", r.fleet.Online(), 0)
		if age := r.board(one)["outageAgeSec"].(float64); age < 599 || age > 600 {
			t.Errorf("outage age %v s, want 599 to 600", age)
		}
		r.server.mu.Lock()
		r.server.deaf = false
		r.server.mu.Unlock()
		r.sleep(handshake + maxRetry + time.Second)
		r.want("all back", r.fleet.Online(), 3)
	})
}

// A dead server refuses connections. However long it was dead, its boards are back within 10 s of its return.
func TestServerDead(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.dead.Store(true)
		r.server.mu.Lock()
		for _, p := range r.server.live {
			_ = p.conn.Close()
		}
		r.server.mu.Unlock()
		r.sleep(10 * time.Minute)
		r.want("nobody is connected", r.fleet.Online(), 0)
		r.dead.Store(false)
		r.sleep(10 * time.Second)
		r.want("all back", r.fleet.Online(), 3)
	})
}

// The server goes silent: the keep-alive detects it.
func TestServerFrozen(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.server.mu.Lock()
		old := r.server.live[one]
		r.server.mu.Unlock()
		r.sleep(3 * time.Second)
		old.mute.Store(true) // no PINGRESP from now on
		r.sleep(60 * time.Second)
		r.want("noticed", r.server.hellos[one], 2)
	})
}
