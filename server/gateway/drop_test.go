package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

const wantTroubles = `forbidden  topic 1
bad_credit rec grantId 1
bad_record rec records 1
garbage ack revision 1
garbage digest revision 1
misfit rpt result 1
unknown_command rpt commandId 3
early state no hello 1`

// TestDropsHaveReasons: every dropped message is counted by reason, per board and in total, remembered, and logged with
// board, channel and field, once per minute for each of these.
func TestDropsHaveReasons(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRig(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		r.backs.accept = func(rep wire.Report) (bool, bool) { return false, false }
		b := r.connect("brd_1")
		b.say(wire.UpState, `{}`) // before hello
		b.say(wire.UpHello, wire.Hello{Proto: wire.Version})
		for range 3 {
			b.say(wire.UpRpt, wire.Report{CommandID: "cmd_unknown", Result: "ok"})
		}
		b.say(wire.UpRpt, wire.Report{CommandID: "cmd_unknown", Result: "perhaps"})
		b.say(wire.UpDigest, `{"revision":"x"}`)
		b.say(wire.UpAck, `{"type":"sync","revision":9007199254740992}`)
		bad := onsite(1)
		bad.At = 1
		foreign := onsite(2)
		foreign.GrantID = "pmt_of_another"
		b.say(wire.UpRec, wire.Records{Records: []wire.Record{bad, foreign}})
		b.Publish(wire.Topic("brd_2", wire.UpState), 0, false, "{}").Wait()
		synctest.Wait()
		want := map[string]int64{dropEarly: 1, dropUnknown: 3, dropMisfit: 1, dropGarbage: 2, dropRecord: 1, dropCredit: 1, dropForbidden: 1}
		if got := r.Status("brd_1").Drops; !maps.Equal(got, want) {
			t.Errorf("of the board: %v, want %v", got, want)
		}
		if got := r.Dropped(); !maps.Equal(got, want) {
			t.Errorf("in all: %v, want %v", got, want)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		for _, part := range []string{"reason=unknown_command field=commandId total=1", "reason=misfit field=result", "channel=digest reason=garbage field=revision", "board=brd_1"} {
			if strings.Count(log.String(), part) == 0 {
				t.Errorf("no line says %q in:\n%s", part, log.String())
			}
		}
		if len(lines) != 8 {
			t.Errorf("%d lines, want one per reason, channel and field:\n%s", len(lines), log.String())
		}
		var troubles []string
		for _, x := range r.Status("brd_1").Troubles {
			troubles = append(troubles, fmt.Sprint(x.Reason, " ", x.Channel, " ", x.Field, " ", x.Count))
		}
		if got := strings.Join(troubles, "\n"); got != wantTroubles {
			t.Errorf("the latest troubles are\n%s\nwant\n%s", got, wantTroubles)
		}
		if strings.Contains(r.kinds("received"), "received") {
			t.Error("an invented report is in the history")
		}
	})
}

// What can't be true of the content is garbage, with the name of the field; an acknowledgement or a digest out of range
// reaches nobody.
func TestWhatCannotBeTrueOfTheContentIsGarbage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wrong, channel, say, field string }{
		{"", wire.UpDigest, `{"revision":-5}`, "revision"},
		{"", wire.UpDigest, `{"revision":9007199254740992}`, "revision"},
		{"", wire.UpDigest, `{"revision":1,"digest":"` + strings.Repeat("0", 65) + `"}`, "digest"},
		{"", wire.UpAck, `{"type":"page","page":9007199254740992}`, "page"},
		{"", wire.UpRec, `{"dropped":9007199254740992}`, "dropped"},
		{"revision", wire.UpDigest, `{"revision":7}`, "revision"},
		{"revision", wire.UpAck, `{"type":"sync","revision":7}`, "revision"},
		{"page", wire.UpAck, `{"type":"page","revision":7,"page":7}`, "page"},
	} {
		bubble(t, c.say, func(t *testing.T) {
			var log bytes.Buffer
			r := newRig(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			b := r.online("brd_1")
			heard := r.backs.all()
			r.backs.wrong = c.wrong
			b.say(c.channel, c.say)
			if got := r.Status("brd_1").Drops; !maps.Equal(got, map[string]int64{dropGarbage: 1}) {
				t.Errorf("dropped %v, want one as garbage", got)
			}
			if part := "reason=garbage field=" + c.field + " "; !strings.Contains(log.String(), part) {
				t.Errorf("no line says %q in:\n%s", part, log.String())
			}
			if got := r.backs.all(); c.wrong == "" && got != heard {
				t.Errorf("the synchronization heard %q, want nothing of it", strings.TrimPrefix(got, heard))
			}
		})
	}
}

// TestRecordQuota: a board's records beyond 10,000 plus 10 per second are neither stored nor acknowledged, so it can
// send them again.
func TestRecordQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		seq := int64(0)
		batch := func() wire.Records {
			var list []wire.Record
			for range maxRecords {
				seq++
				list = append(list, onsite(seq%1000+1))
			}
			return wire.Records{Records: list}
		}
		for range 100 {
			b.say(wire.UpRec, batch())
			b.ack()
		}
		b.say(wire.UpRec, batch())
		b.quiet()
		if n := r.Counts(); n.Records.Load() != 10000 || r.Dropped()[dropQuota] != 100 {
			t.Errorf("got %+v, want n.Records = 10000, r.Dropped()[dropQuota] = 100", n)
		}
		time.Sleep(10 * time.Second)
		b.say(wire.UpRec, batch())
		b.ack()
	})
}

// TestAFullDiskIsToldOnce: not once for each board and try.
func TestAFullDiskIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRig(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		boards := []*tester{r.online("brd_1"), r.online("brd_2")}
		r.store.broken(errors.New("disk full"))
		for range 3 {
			for _, b := range boards {
				b.say(wire.UpRec, wire.Records{Records: []wire.Record{onsite(1)}})
			}
		}
		if n := strings.Count(log.String(), "records could not be saved"); n != 1 {
			t.Errorf("%d lines, want one:\n%s", n, log.String())
		}
		r.store.broken(nil)
	})
}

// TestPaceOfABoard: a flooding board is read at the limit's rate; other boards aren't slowed down.
func TestPaceOfABoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		conn := r.dial()
		_, _ = conn.Write(good("brd_1").bytes())
		flood := bytes.Repeat(publish("sac/v1/brd_1/ping", "{}"), 1000)
		began := time.Now()
		for range 10 {
			_, _ = conn.Write(flood)
		}
		synctest.Wait()
		for r.Counts().Uplinks.Load() < 10000 {
			time.Sleep(100 * time.Millisecond)
		}
		if d := time.Since(began); d < 7*time.Second || d > 9*time.Second {
			t.Errorf("10,000 messages were read in %v, want about 8s", d)
		}
		_ = conn.Close()
	})
}

// TestPaceOfOtherPackets: pings and subscriptions of MQTT count like messages.
func TestPaceOfOtherPackets(t *testing.T) {
	t.Parallel()
	for name, packet := range map[string][]byte{
		"pings":         said(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pingreq}}),
		"subscriptions": said(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Subscribe, Qos: 1}, PacketID: 7, Filters: packets.Subscriptions{{Filter: "sac/v1/brd_1/cmd"}}}),
	} {
		rigged(t, name, func(t *testing.T, r *rig) {
			conn := r.dial()
			_, _ = conn.Write(good("brd_1").bytes())
			began := time.Now()
			go func() { _, _ = conn.Write(bytes.Repeat(packet, 10000)) }()
			size := map[string]int{"pings": 2, "subscriptions": 5}[name] // of an answer
			must.Get(io.CopyN(io.Discard, conn, int64(4+10000*size)))(t)
			if d := time.Since(began); d < 7*time.Second || d > 9*time.Second {
				t.Errorf("10,000 were answered in %v, want about 8s", d)
			}
			_ = conn.Close()
		})
	}
}

// TestPaceOfConnections: so do connections.
func TestPaceOfConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		began := time.Now()
		for range 4000 {
			conn := r.dial()
			_, _ = conn.Write(good("brd_1").bytes())
			must.Get(io.CopyN(io.Discard, conn, 4))(t)
			_ = conn.Close()
		}
		if d := time.Since(began); d < 1500*time.Millisecond || d > 3*time.Second {
			t.Errorf("4,000 connections took %v, want about 2s", d)
		}
	})
}

// TestPanicInAWorker: a panic ends that board's connection and nothing else.
func TestPanicInAWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.backs.accept = func(wire.Report) (bool, bool) { panic("boom") }
		b, other := r.online("brd_1"), r.online("brd_2")
		b.say(wire.UpRpt, wire.Report{CommandID: "cmd_1", Result: "ok"})
		if !b.ended() || r.Counts().Panics.Load() != 1 {
			t.Errorf("the connection ended: %t, %d panics, want true and one", b.ended(), r.Counts().Panics.Load())
		}
		other.say(wire.UpPing, "{}")
		other.ack()
		r.backs.accept = nil
		r.online("brd_1")
	})
}

// TestRefusalsAreRemembered: of a connection that is refused, the board it names remembers what was wrong with CONNECT,
// and the log has a line, without the password.
func TestRefusalsAreRemembered(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*connectPacket){
		"client id":     func(c *connectPacket) { c.id = "mosq-1" },
		"clean session": func(c *connectPacket) { c.flags = 0xc0 },
		"will":          func(c *connectPacket) { c.flags |= 0x04; c.will = true },
		"keep-alive":    func(c *connectPacket) { c.keepAlive = 120 },
		"password":      func(c *connectPacket) { c.pass = "guessed" },
	} {
		bubble(t, field, func(t *testing.T) {
			var log bytes.Buffer
			r := newRig(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			c := good("brd_1")
			change(&c)
			for range 2 {
				conn := r.dial()
				_, _ = conn.Write(c.bytes())
				time.Sleep(2 * time.Second)
				_ = conn.Close()
			}
			synctest.Wait()
			if got := r.Status("brd_1").Troubles; len(got) != 1 || got[0].Reason != board.NotAdmitted || got[0].Field != field || got[0].Count != 2 {
				t.Errorf("the troubles are %+v, want one of a %s, twice", got, field)
			}
			if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "refused") || strings.Contains(said, "guessed") {
				t.Errorf("the log says\n%swant one line about the refusal, without the password", said)
			}
		})
	}
}
