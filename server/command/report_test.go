package command

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

func TestLateReport(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		a := r.must(t, open("k"))
		report := wire.Report{CommandID: a.Result.CommandID, Result: vocab.OK}
		for range 2 {
			r.Report("brd_a", report, r.ack("late"))
		}
		r.Report("brd_b", report, r.ack("foreign"))
		r.Report("brd_a", wire.Report{CommandID: "cmd_none", Result: vocab.OK}, r.ack("unknown"))
		if got := r.acked(); got != "[late true late true foreign false unknown false]" {
			t.Errorf("acks %s, want [late true late true foreign false unknown false]", got)
		}
		if r.l.settled[a.Result.CommandID] != "opened" || r.must(t, open("k")).Status != 504 {
			t.Error("a late report settles the record and leaves the answer alone [CMD-5]")
		}
		c := r.Counts()
		if c.LateReports.Load() != 1 || c.UnknownReports.Load() != 1 || c.ForeignReports.Load() != 1 {
			t.Errorf("got %+v, want c.LateReports = 1, c.UnknownReports = 1, c.ForeignReports = 1", c)
		}
	})
}

// A command whose outcome can't be committed is left to the next start, and so is its report: a board never repeats one
// that was acknowledged, even as unknown.
func TestReportOfAnUnsettledCommand(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		got := make(chan error)
		go func() {
			_, err := r.Execute(t.Context(), open("k"))
			got <- err
		}()
		synctest.Wait()
		id := r.b.sent[0].ID
		fails := func(yes bool) {
			r.l.mu.Lock()
			defer r.l.mu.Unlock()
			r.l.fail = yes
		}
		fails(true)
		report := wire.Report{CommandID: id, Result: vocab.OK}
		r.Report("brd_a", report, r.ack("first"))
		if err := <-got; err == nil {
			t.Error("the caller was answered although nothing could be committed")
		}
		r.Stop()
		fails(false)
		r.Report("brd_a", report, r.ack("again"))
		if r.acked() != "[]" || r.Counts().UnknownReports.Load() != 0 {
			t.Errorf("acks %s, %+v; want none, and no unknown report", r.acked(), r.Counts())
		}
		next := New(Config{Ledger: r.l, Sender: r.b, Clock: r.v, Flight: r.fl})
		defer next.Stop()
		if n, err := next.Recover(); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		next.Report("brd_a", report, r.ack("then"))
		if r.l.settled[id] != "opened" || r.acked() != "[then true]" {
			t.Errorf("settled %v, acks %s; want opened, acknowledged after the next start", r.l.settled, r.acked())
		}
	})
}

// A report that arrives while the 504 is being committed is late, not lost.
func TestReportDuringCommit(t *testing.T) {
	t.Parallel()
	var r *rig
	trace := func(p Point, tr *Trail) {
		if p == BeforeCommit {
			r.Report("brd_a", wire.Report{CommandID: tr.Intent.CommandID, Result: vocab.OK}, r.ack("rpt"))
		}
	}
	bubble(t, func(c *Config) { c.Trace = trace }, func(t *testing.T, rr *rig) {
		r = rr
		a := r.must(t, open("k"))
		synctest.Wait()
		if a.Status != 504 || r.acked() != "[rpt true]" || r.l.settled[a.Result.CommandID] != "opened" {
			t.Errorf("%+v, acks %s, settled %v; want 504, one acknowledgement, and opened", a, r.acked(), r.l.settled)
		}
	})
}

func TestWrongReports(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.b.answer = func(b string, c wire.Command) {
			ok := wire.Report{CommandID: c.ID, Result: vocab.OK}
			r.Report("brd_b", ok, r.ack("board"))
			bad := ok
			bad.Standing = &wire.Standing{Channel: 2, DoorID: "dor_2"}
			r.Report(b, bad, r.ack("door"))
			bad = ok
			bad.Result = "perhaps"
			r.Report(b, bad, r.ack("garbage"))
			bad = wire.Report{CommandID: c.ID, Result: vocab.Refused, Code: "mood"}
			r.Report(b, bad, r.ack("code"))
			time.Sleep(time.Second)
			ok.Standing = &wire.Standing{Channel: 1, State: "locked"}
			if !r.Report(b, ok, r.ack("right")) || r.Report(b, ok, r.ack("again")) {
				t.Error("first and second report are not told apart")
			}
		}
		a := r.must(t, open("k"))
		synctest.Wait()
		if a.Status != 200 || a.Result.Standing == nil || r.acked() != "[board false door false garbage false code false right true again true]" {
			t.Errorf("got %+v, acks %s, want Status 200 and [board false door false garbage false code false right true again true]", a, r.acked())
		}
		if c := r.Counts(); c.ForeignReports.Load() != 2 || c.GarbageReports.Load() != 2 {
			t.Errorf("got %+v, want c.ForeignReports = 2, c.GarbageReports = 2", c)
		}
	})
}

func TestRecover(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		in := Intent{CommandID: "cmd_old", Order: Order{PlaceID: "plc_a", Key: "k", DoorID: "dor_1", Command: wire.CmdOpen},
			Meaning: meaning(open("k")), BoardID: "brd_a", RequestedAt: r.v.Now(), AgedAt: r.v.Now(), Status: 504, Body: []byte("unknown")}
		must.Get(r.l.Claim(in, time.Time{}))(t)
		entry := in
		entry.CommandID, entry.Key = "cmd_entry", "" // a link or a call has no key
		must.Get(r.l.Claim(entry, time.Time{}))(t)
		if n, err := r.Service.Recover(); n != 2 || err != nil || r.l.records["cmd_entry"] != vocab.NoResponse {
			t.Fatal(n, err, r.l.records)
		}
		r.ok(0)
		if a := r.must(t, open("k")); a.Status != 504 || string(a.Body) != "unknown" || !a.Replayed || r.b.count() != 0 {
			t.Errorf("got %+v, %d sent, want Status 504, Body unknown, Replayed true and 0", a, r.b.count())
		}
		r.Report("brd_a", wire.Report{CommandID: "cmd_old", Result: vocab.OK}, r.ack("late"))
		if r.l.records["cmd_old"] != vocab.NoResponse || r.l.settled["cmd_old"] != "opened" || r.acked() != "[late true]" {
			t.Errorf("records %v, settled %v, acks %s; want noResponse, opened, and the late report acknowledged", r.l.records, r.l.settled, r.acked())
		}
	})
}

// An intent without an outcome that recovery missed.
func TestUnsettledPrior(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		in := Intent{CommandID: "cmd_old", Order: Order{PlaceID: "plc_a", Key: "k"}, Meaning: meaning(open("k")), RequestedAt: r.v.Now(), AgedAt: r.v.Now(), Status: 504}
		must.Get(r.l.Claim(in, time.Time{}))(t)
		for range 2 {
			if a := r.must(t, open("k")); a.Status != 504 || !a.Replayed || r.b.count() != 0 {
				t.Errorf("got %+v, %d sent, want Status 504, Replayed true and 0", a, r.b.count())
			}
		}
	})
}
