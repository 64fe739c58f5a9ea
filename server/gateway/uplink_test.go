package gateway

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/storetest"
)

func TestReports(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		first := true
		r.backs.accept = func(rep wire.Report) (bool, bool) { return rep.CommandID == "cmd_1", first }
		standing := func(state string, since int64) *wire.Standing {
			return &wire.Standing{Channel: 1, State: state, Leaf: "closed", Since: since}
		}
		b.say(wire.UpRpt, wire.Report{CommandID: "cmd_1", Result: "ok", Standing: standing("unlocked", 5)})
		if a := b.ack(); a.Type != wire.AckRpt || a.CommandID != "cmd_1" || !a.Accepted {
			t.Errorf(`got %+v, want a.Type = wire.AckRpt, a.CommandID = "cmd_1", a.Accepted`, a)
		}
		if s := r.Status("brd_1").Standings[1]; s.State != "unlocked" || s.DoorID != "dor_1" {
			t.Errorf(`got %+v, want s.State = "unlocked", s.DoorID = "dor_1"`, s)
		}
		first = false // a repeat: its standing may be outdated
		b.say(wire.UpRpt, wire.Report{CommandID: "cmd_1", Result: "ok", Standing: standing("locked", 1)})
		if a := b.ack(); !a.Accepted || r.Status("brd_1").Standings[1].State != "unlocked" {
			t.Errorf(`got %+v, want a.Accepted, r.Status("brd_1").Standings[1].State = "unlocked"`, a)
		}
		b.say(wire.UpRpt, wire.Report{CommandID: "cmd_1", Result: "ok", Standing: standing("locked", 6)}) // after its 504
		if a := b.ack(); !a.Accepted || r.Status("brd_1").Standings[1].State != "locked" {
			t.Errorf("after a late report: %+v, standing %+v, want it accepted and the door locked", a, r.Status("brd_1").Standings[1])
		}
		b.say(wire.UpRpt, wire.Report{CommandID: "cmd_unknown", Result: "ok", Standing: standing("open", 7)})
		if a := b.ack(); a.CommandID != "cmd_unknown" || a.Accepted {
			t.Errorf("got %+v, want cmd_unknown not accepted", a)
		}
		if s := r.Status("brd_1").Standings[1]; s.State != "locked" {
			t.Errorf("after a report that was refused: %+v, want the door locked", s)
		}
		b.say(wire.UpRpt, wire.Report{CommandID: "cmd_1", Result: "ok", Standing: standing("ajar", 1)})
		if b.ack(); r.backs.reps[4].Standing != nil {
			t.Error("a standing that means nothing went on")
		}
		if got := r.kinds("received"); got != "received 1; received 1; received 1; received 1" {
			t.Errorf("got %v, want four received", got)
		}
	})
}

// TestWithDeviceAndStore: with the real ledger and the real database.
func TestWithDeviceAndStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := storetest.New(t)
		r := &rig{t: t, backs: &backs{}}
		g := must.Get(New(Config{Store: h.Store, Records: record.Keeper{Store: h.Store}, Clock: h.Clock, Pepper: []byte("pepper")}))(t)
		dev := command.New(command.Config{Ledger: h.Commands(), Sender: g, Clock: h.Clock})
		t.Cleanup(dev.Stop)
		g.Bind(dev, r.backs)
		r.Gateway = g
		r.listen()
		b := r.connect("brd_1", password("pw"))
		b.say(wire.UpHello, wire.Hello{Proto: 2})
		b.ack()
		answers := make(chan command.Answer, 1)
		go func() {
			a, err := dev.Execute(t.Context(), command.Request{Order: command.Order{PlaceID: "plc_a", DoorID: "dor_1", Command: "open", Key: "k", Method: "api"}})
			if err != nil {
				t.Error(err)
			}
			answers <- a
		}()
		c := next[wire.Command](b, wire.DownCmd)
		b.say(wire.UpRpt, wire.Report{CommandID: "cmd_unknown", Result: "ok"}) // dropped and counted
		if a := b.ack(); a.CommandID != "cmd_unknown" || a.Accepted {
			t.Errorf("got %+v, want cmd_unknown not accepted", a)
		}
		b.say(wire.UpRpt, wire.Report{CommandID: c.ID, Epoch: c.Epoch, Result: "ok"})
		if a := <-answers; a.Result.Outcome != vocab.Reported || a.Result.CommandID != c.ID {
			t.Errorf("got %+v, want %s reported", a, c.ID)
		}
		if a := b.ack(); a.CommandID != c.ID || !a.Accepted {
			t.Errorf("got %+v, want %s accepted", a, c.ID)
		}
		if n := dev.Counts(); n.UnknownReports.Load() != 1 || n.Reported.Load() != 1 {
			t.Errorf("got %+v, want n.UnknownReports = 1, n.Reported = 1", n)
		}
		b.say(wire.UpRec, wire.Records{Records: []wire.Record{onsite(1), onsite(2)}})
		b.say(wire.UpRec, wire.Records{Records: []wire.Record{onsite(1), onsite(2), onsite(3)}}) // again, plus a new one
		if x, y := b.ack(), b.ack(); x.Seq != 2 || y.Seq != 3 || r.Counts().Records.Load() != 3 {
			t.Errorf("got %+v %+v %+v, want x.Seq = 2, y.Seq = 3, r.Counts().Records = 3", x, y, r.Counts())
		}
	})
}

func onsite(seq int64) wire.Record {
	return wire.Record{Seq: seq, DoorID: "dor_1", At: 1793502000000 + seq, Result: "opened", Reason: "onsite", PhoneTail: "1234"}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		say := func(list ...wire.Record) { t.Helper(); b.say(wire.UpRec, wire.Records{Records: list, Dropped: 2}) }
		r.store.broken(errors.New("disk full"))
		say(onsite(1))
		b.quiet() // not acknowledged before the commit
		r.store.broken(nil)
		whole := onsite(2)
		whole.PhoneTail = "01012341234"
		odd := onsite(3)
		odd.PhoneHead, odd.PhoneTail = "01012345678", "12-4"
		say(onsite(1), whole, odd)
		if a := b.ack(); a.Type != wire.AckRec || a.Seq != 3 || len(r.store.records) != 3 {
			t.Errorf("got %+v, want a.Type = wire.AckRec, a.Seq = 3, len(r.store.records) = 3", a)
		}
		if x, y := r.store.records[1].ActorLabel, r.store.records[2].ActorLabel; x != "1234" || y != "----" {
			t.Errorf("labels %q and %q, want 1234 and ----", x, y)
		}
		bad := func(change func(*wire.Record)) wire.Record { x := onsite(9); change(&x); return x }
		say(bad(func(r *wire.Record) { r.DoorID = "dor_3" }), bad(func(r *wire.Record) { r.At = 0 }), bad(func(r *wire.Record) { r.At = 1 << 60 }),
			bad(func(r *wire.Record) { r.Result = "maybe" }), bad(func(r *wire.Record) { r.Reason = "expired" }),
			bad(func(r *wire.Record) { r.Result = "denied" }), bad(func(r *wire.Record) { r.GrantID = strings.Repeat("x", 65) }), bad(func(r *wire.Record) { r.Seq = 10 }))
		if a := b.ack(); a.Seq != 10 || r.Dropped()[dropRecord] != 7 || r.Counts().Records.Load() != 4 {
			t.Errorf("got %+v %+v, want a.Seq = 10, 7 bad, r.Counts().Records = 4", a, r.Counts())
		}
		many := make([]wire.Record, maxRecords+1)
		for i := range many {
			many[i] = onsite(int64(100 + i))
		}
		say(many...) // too many: the first 100 are accepted, the rest will be sent again
		if a := b.ack(); a.Seq != 199 || r.Counts().Records.Load() != 104 {
			t.Errorf("got %+v %+v, want a.Seq = 199, r.Counts().Records = 104", a, r.Counts())
		}
		say()
		if a := b.ack(); a.Seq != 0 || !a.Accepted {
			t.Errorf("an empty batch: got %+v, want Seq 0 and Accepted true", a)
		}
		b.say(wire.UpRec, `{"records":[{"seq":300,"doorId":5},{"seq":301}]}`) // can't be decoded: the board must not get stuck on it
		if a := b.ack(); a.Seq != 301 || !a.Accepted {
			t.Errorf("a batch that can't be decoded: got %+v, want 301 acknowledged", a)
		}
		b.say(wire.UpRec, `nonsense`)
		if a := b.ack(); a.Type != wire.AckRec || a.Accepted {
			t.Errorf("nonsense: got %+v, want Type %v and Accepted false", a, wire.AckRec)
		}
		b.quiet()
		if n := r.Dropped(); n[dropGarbage] != 2 || r.Status("brd_1").Dropped != 2 {
			t.Errorf(`got %+v, want 2 of garbage, r.Status("brd_1").Dropped = 2`, n)
		}
	})
}

// What a board recorded before its outage is old when the line returns, but not older than its last contact. If the
// line drops during the upload, or the server restarts, the rest must not become too old.
func TestOldRecordsOverADroppedLine(t *testing.T) {
	t.Parallel()
	bubble(t, "the line drops", func(t *testing.T) { oldRecords(t, func(*rig, *clock.Virtual) {}) })
	bubble(t, "the server restarts", func(t *testing.T) {
		oldRecords(t, func(r *rig, v *clock.Virtual) {
			r.Stop()
			r.lis = pipe.NewListener("again")
			r.start(func(c *Config) { c.Clock = v })
		})
	})
}

// oldRecords uploads records from before an outage of 40 days; after each one the line drops, and then something else
// happens.
func oldRecords(t *testing.T, then func(*rig, *clock.Virtual)) {
	cut := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	v := clock.NewVirtual(cut, nil)
	v.Freeze()
	r := newRig(t, func(c *Config) { c.Clock = v })
	old := func(seq int64) wire.Records {
		x := onsite(seq)
		x.At = cut.Add(time.Duration(seq) * time.Minute).UnixMilli()
		return wire.Records{Records: []wire.Record{x}}
	}
	back := func(buffered int) *tester {
		b := r.connect("brd_1")
		b.say(wire.UpHello, wire.Hello{Proto: wire.Version, Buffered: buffered})
		b.ack()
		return b
	}
	b := r.online("brd_1")
	b.line.Cut()
	synctest.Wait()
	must.OK(t, v.Advance(cut.Add(40*24*time.Hour)))
	for seq := range int64(3) { // the line drops after each one
		b = back(int(3 - seq))
		b.say(wire.UpRec, old(seq+1))
		if a := b.ack(); a.Seq != seq+1 || r.Dropped()[dropRecord] != 0 {
			t.Errorf("record %d: got %+v, %d refused, want it kept", seq+1, a, r.Dropped()[dropRecord])
		}
		b.line.Cut()
		synctest.Wait()
		then(r, v)
	}
	b = back(0) // all are uploaded: later records are new
	b.say(wire.UpRec, old(4))
	if b.ack(); r.Dropped()[dropRecord] != 1 {
		t.Errorf("a record from 40 days before the last contact: got %d refused, want 1", r.Dropped()[dropRecord])
	}
}

func TestAcks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		b.say(wire.UpAck, `{"type":"sync","revision":7}`)
		b.say(wire.UpDigest, `{"revision":7,"digest":"aa"}`)
		b.quiet() // different: boardsync decides what to do
		r.backs.equal = true
		b.say(wire.UpDigest, `{"revision":8}`)
		if a := b.ack(); a.Type != wire.AckDigest || !a.Accepted {
			t.Errorf("got %+v, want a.Type = wire.AckDigest, a.Accepted", a)
		}
		b.say(wire.UpPing, ``)
		if a := b.ack(); a.Type != wire.AckPing || a.SessionMs == 0 || a.Time != time.Now().UnixMilli() {
			t.Errorf("got %+v, want a ping's answer with the session's time and now", a)
		}
		if got := r.backs.all(); got != "connected brd_1 1 rev 0; acked brd_1 1 rev 7 ; digest brd_1 1 rev 7; digest brd_1 1 rev 8" {
			t.Errorf(`got %v, want "connected brd_1 1 rev 0; acked brd_1 1 rev 7 ; digest brd_1 1 rev 7; digest brd_1 1 rev 8"`, got)
		}
		r.Applied("brd_1", 8, "aa", time.UnixMilli(5))
		r.Applied("brd_9", 8, "aa", time.UnixMilli(5))
		if s := r.Status("brd_1"); s.AppliedRevision != 8 || s.Digest != "aa" || s.AppliedAt.UnixMilli() != 5 {
			t.Errorf(`got %+v, want s.AppliedRevision = 8, s.Digest = "aa", s.AppliedAt.UnixMilli() = 5`, s)
		}
	})
}

// TestNull: null is no object, so it isn't taken for a message without fields.
func TestNull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		for i, ch := range []string{wire.UpRpt, wire.UpAck, wire.UpState, wire.UpRec, wire.UpDigest} {
			b.say(ch, " null")
			synctest.Wait()
			if n := r.Dropped()[dropGarbage]; n != int64(i)+1 {
				t.Errorf("%s: %d garbage, want %d", ch, n, i+1)
			}
		}
		if a := b.ack(); a.Type != wire.AckRec || a.Accepted {
			t.Errorf("got %+v, want a batch that must not be sent again", a)
		}
		b.say(wire.UpHello, "null")
		if !b.ended() {
			t.Error("null was taken for a hello")
		}
	})
}

// TestGarbage: nothing that a board says after its hello ends its connection.
func TestGarbage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		rng := rand.New(rand.NewPCG(1, 2))
		noise := make([]byte, 300)
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		sent := int64(0)
		for _, ch := range []string{wire.UpRpt, wire.UpAck, wire.UpState, wire.UpRec, wire.UpDigest} {
			for _, p := range []string{"", "null x", "[]", `"x"`, `{"commandId":5}`, `{"doors":{}}`, `{"records":[5]}`, `{"revision":"x"}`, string(noise), `{"type":"cfg","netloss":{"graceSec":-1}}x`} {
				b.say(ch, p)
				sent++
			}
		}
		if n := r.Dropped()[dropGarbage]; n == 0 || n > sent {
			t.Errorf("%d garbage of %d, want some and no more than were sent", n, sent)
		}
		b.say(wire.UpRpt, strings.Repeat("x", maxPacket-100))
		for len(b.down) > 0 {
			<-b.down
		}
		b.say(wire.UpPing, "{}")
		if a := b.ack(); a.Type != wire.AckPing || r.Status("brd_1").State != "online" {
			t.Errorf(`got %+v, want a.Type = wire.AckPing, r.Status("brd_1").State = "online"`, a)
		}
		b.say(wire.UpRpt, strings.Repeat("x", maxPacket)) // exceeds the packet limit
		if !b.ended() {
			t.Error("a packet over 64 KiB was taken")
		}
		conn := r.dial() // noise below MQTT ends only its own connection
		other := r.online("brd_2")
		_, _ = conn.Write(good("brd_1").bytes())
		_, _ = conn.Write(noise)
		if _, closed := answer(t, conn); !closed {
			t.Log("the noise was a packet") // then the keep-alive ends it
		}
		_ = conn.Close()
		other.say(wire.UpPing, "{}")
		if a := other.ack(); a.Type != wire.AckPing || r.Counts().Panics.Load() != 0 {
			t.Errorf("got %+v, %d panics, want Type %v and 0", a, r.Counts().Panics.Load(), wire.AckPing)
		}
	})
}

// TestBurst: however fast uplinks arrive, they are handled in order and none is lost.
func TestBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		const n = 3 * maxQueue
		for i := range n {
			b.Publish("sac/v1/brd_1/rpt", 0, false, encode(wire.Report{CommandID: sprintf("cmd_%d", i), Result: "ok"}))
			if i%100 == 99 {
				synctest.Wait() // the outbox is bounded too
			}
		}
		for i := range n {
			if a := b.ack(); a.CommandID != sprintf("cmd_%d", i) {
				t.Fatalf(`%d: got %+v, want a.CommandID = sprintf("cmd_%%d", i)`, i, a)
			}
		}
		if c := r.Counts(); c.Reports.Load() != n || c.DownDropped.Load() != 0 {
			t.Errorf("got %+v, want c.Reports = n, c.DownDropped = 0", c)
		}
	})
}
