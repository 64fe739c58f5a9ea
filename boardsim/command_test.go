package boardsim

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
)

func TestCommand(t *testing.T) {
	bubble(t, false, func(r *rig) {
		r.want("online", r.fleet.Online(), 3)
		id := r.server.command(one, "dor_one1", wire.CmdOpen)
		r.sleep(99 * time.Millisecond)
		r.want("ground truth before the report", r.acts(), []string{"one1 pulse cmd_1"})
		r.want("reported too early", r.server.reports(one), []string(nil))
		r.sleep(2 * time.Millisecond)
		r.want("reports", r.server.reports(one), []string{id + " ok"})
		r.want("actuations", len(r.seen(history.Actuation)), 1)

		again := func(c *wire.Command) { c.ID = id }
		r.server.command(one, "dor_one1", wire.CmdOpen, again) // a repeat gets the remembered report [CMD-5]
		r.sleep(time.Second)
		r.want("reports of a repeat", r.server.reports(one), []string{id + " ok", id + " ok"})
		r.want("ground truth of a repeat", r.acts(), []string{"one1 pulse cmd_1"})

		late := func(c *wire.Command) { c.NotAfterMs -= 5001 }
		r.server.command(one, "dor_one2", wire.CmdHold, late) // [CMD-4]
		r.sleep(time.Second)
		r.want("late", r.server.reports(one)[2:], []string{"cmd_3 refused expired"})
		r.want("ground truth", r.acts()[1:], []string{"one2 refuse cmd_3"})
		r.server.command(one, "dor_one2", wire.CmdHold, func(c *wire.Command) { c.Epoch-- }) // epoch of an earlier connection
		r.sleep(time.Second)
		r.server.command(one, "dor_nowhere", wire.CmdOpen)
		r.sleep(time.Second)
		r.want("stale, unknown door", r.server.reports(one)[3:], []string{"cmd_4 refused expired", "cmd_5 refused unsupported"})
	})
}

// stalling is a clock on which a single reading may take long; stall runs during that reading.
type stalling struct {
	clock.Clock
	meanwhile atomic.Pointer[func()]
}

func (s *stalling) Now() time.Time {
	if do := s.meanwhile.Swap(nil); do != nil {
		(*do)()
	}
	return s.Clock.Now()
}

// TestStallBeforeTheRelayMoves: the machine stalls between the board's first look at the command and the relay. The
// command is late by then, so the board refuses it. [CMD-4]
func TestStallBeforeTheRelayMoves(t *testing.T) {
	bubble(t, false, func(r *rig) {
		b := r.fleet.byID[one]
		b.mu.Lock()
		stall := func() { b.ses.base += 6000 } // session time runs on
		r.still.meanwhile.Store(&stall)
		b.run(b.ses, firmware.Event{Kind: firmware.Command, Command: wire.Command{ID: "cmd_1", Epoch: b.s.Epoch, DoorID: "dor_one1", Channel: 1,
			Command: wire.CmdOpen, NotAfterMs: b.ses.sessionMs() + 5000}}, b.f.faults.Command(one, "dor_one1", wire.CmdOpen), 0)
		b.mu.Unlock()
		r.sleep(time.Second)
		r.want("ground truth", r.acts(), []string{"one1 refuse cmd_1"})
		r.want("reports", r.server.reports(one), []string{"cmd_1 refused expired"})
	})
}

func TestVirtualBoardsAnswerWithin80ms(t *testing.T) {
	bubble(t, false, func(r *rig) {
		for range 20 {
			n := len(r.server.reports("brd_test"))
			r.server.command("brd_test", "dor_test1", wire.CmdOpen)
			r.sleep(19 * time.Millisecond)
			r.want("before 20 ms", len(r.server.reports("brd_test")), n)
			r.sleep(62 * time.Millisecond)
			r.want("after 80 ms", len(r.server.reports("brd_test")), n+1)
		}
	})
}

// What each command fault does to two opens that are 300 ms apart.
func TestCommandFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault, more string
		acts        []string
		reports     []string // within 2.6 s
	}{
		{"noop", "", []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, []string{"cmd_1 ok", "cmd_2 ok"}},
		{"refuse", `,"params":{"code":"jammed"}`, []string{"one1 refuse cmd_1", "one1 refuse cmd_2"}, []string{"cmd_1 refused jammed", "cmd_2 refused jammed"}},
		{"silent", "", nil, nil},
		{"silent", `,"nth":2`, []string{"one1 pulse cmd_1"}, []string{"cmd_1 ok"}},
		{"silent", `,"commands":["hold"]`, []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, []string{"cmd_1 ok", "cmd_2 ok"}},
		{"silent-after", "", []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, nil},
		{"slow", `,"params":{"p50Ms":1000},"nth":1`, []string{"one1 pulse cmd_2", "one1 pulse cmd_1"}, []string{"cmd_2 ok", "cmd_1 ok"}},
		{"late", `,"params":{"p50Ms":1000},"nth":1`, []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, []string{"cmd_2 ok", "cmd_1 ok"}},
		{"duplicate", `,"nth":1`, []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, []string{"cmd_1 ok", "cmd_1 ok", "cmd_2 ok"}},
		{"reorder", `,"nth":1`, []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, []string{"cmd_2 ok", "cmd_1 ok"}},
		{"reorder", `,"nth":2`, []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, []string{"cmd_1 ok", "cmd_2 ok"}}, // the second command can't overtake
		{"garbage", `,"nth":1`, []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, []string{"garbage", "cmd_2 ok"}},
		{"wrong-id", `,"nth":1`, []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, []string{"cmd_wrong ok", "cmd_2 ok"}},
		{"stale", `,"nth":1`, []string{"one1 pulse cmd_1", "one1 pulse cmd_2"}, []string{"cmd_1 ok", "cmd_2 ok"}},
	} {
		t.Run(c.fault+c.more, func(t *testing.T) {
			bubble(t, false, func(r *rig) {
				r.arm(c.fault, one, c.more)
				r.server.command(one, "dor_one1", wire.CmdOpen)
				r.sleep(300 * time.Millisecond)
				r.server.command(one, "dor_one1", wire.CmdOpen)
				r.sleep(2300 * time.Millisecond)
				r.want("ground truth", r.acts(), c.acts)
				got := r.server.reports(one)
				for i, s := range got {
					if len(s) > 20 {
						got[i] = "cmd_wrong ok"
					}
				}
				r.want("reports", got, c.reports)
				r.quiet()
				r.do("POST", "/faults/reset", "")
				r.sleep(housekeeping)    // by then the acknowledgements are in flash
				r.arm("reboot", one, "") // a held or corrupted command must not reappear after a reboot
				r.sleep(time.Second)
				r.want("reports after a reboot", len(r.server.reports(one)), len(c.reports))
			})
		})
	}
}

// A report that a fault replaces is never sent, not even if the line ends before the forged one is. In that case, the fault
// hasn't acted.
func TestForgedReportOnALineThatEnds(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"garbage", "wrong-id", "stale", "reorder", "duplicate"} {
		t.Run(fault, func(t *testing.T) {
			bubble(t, false, func(r *rig) {
				r.arm(fault, one, "")
				id := r.server.command(one, "dor_one1", wire.CmdOpen)
				r.sleep(50 * time.Millisecond) // half of its latency
				r.arm("offline", one, "")
				r.do("POST", "/faults/reset", "")
				r.sleep(10 * time.Second)
				want := []string(nil)
				if fault == "reorder" || fault == "duplicate" { // it's the true one, so it is sent again
					want = []string{id + " ok"}
				}
				r.want("hits", r.fleet.faults.Hits()[fault], int64(0))
				r.want("reports", r.server.reports(one), want)
				r.want("ground truth", r.acts(), []string{"one1 pulse " + id})
			})
		})
	}
}

// TestRelease: the history records to the millisecond when a relay released, across jumps and reboots; a hold keeps
// it driven.
func TestRelease(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.command(one, "dor_one1", wire.CmdOpen)
		r.server.command(one, "dor_one2", wire.CmdHold, func(c *wire.Command) { c.Minutes = 1 })
		r.server.command(one, "dor_one2", wire.CmdOpen) // during the hold
		r.sleep(time.Second)
		r.advance(time.Hour)
		r.server.command(one, "dor_one1", wire.CmdOpen)
		r.sleep(time.Second)
		r.advance(time.Second)
		r.arm("reboot", one, "")
		r.sleep(time.Second)
		var got []string
		for _, e := range r.seen(history.Released) {
			got = append(got, strings.TrimPrefix(e.DoorID, "dor_")+" "+time.UnixMilli(e.At).UTC().Sub(noon).String())
		}
		r.want("fell", got, []string{"one1 5s", "one2 1m0s", "one1 1h0m1s"})
	})
}
