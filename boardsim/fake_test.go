package boardsim

import (
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/wire"
)

// fake is the server's end: MQTT 3.1.1 written by hand. It answers hellos and acknowledges like the gateway, and both
// ends count their messages in the flight.
type fake struct {
	lis    *pipe.Listener
	flight *clock.Flight
	clk    clock.Clock
	start  time.Duration
	alive  time.Duration // keep-alive timeout; 0 = never

	mu       sync.Mutex
	epoch    int64
	n        int
	live     map[string]*peer // latest connection that said hello
	hellos   map[string]int
	ups      []up
	sync     func(boardID string) *wire.Sync // sent after the hello; nil = nothing
	deaf     bool                            // hellos get no answer
	lostSync bool                            // the server waits for content that the line has lost: it doesn't answer digests
	noAcks   bool                            // no acknowledgements either
	wg       sync.WaitGroup
}

type peer struct {
	conn  net.Conn
	id    string
	epoch int64
	seq   int64
	wmu   sync.Mutex
	mute  atomic.Bool // stops sending anything
}

// up is a message from a board.
type up struct {
	board, channel string
	payload        []byte
}

func newFake(clk clock.Clock, flight *clock.Flight) *fake {
	f := &fake{lis: pipe.NewListener("fake"), flight: flight, clk: clk, start: clock.Mono() - time.Hour, live: map[string]*peer{}, hellos: map[string]int{}, alive: keepAlive * 3 / 2}
	f.wg.Go(func() {
		for {
			c, err := f.lis.Accept()
			if err != nil {
				return
			}
			f.wg.Go(func() { f.serve(&peer{conn: c}) })
		}
	})
	return f
}

// session is the session time. Inside a bubble, monotonic time may start below zero.
func (f *fake) session() int64 { return (clock.Mono() - f.start).Milliseconds() }

func (f *fake) close() {
	_ = f.lis.Close()
	f.mu.Lock()
	for _, p := range f.live {
		_ = p.conn.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
}

func (f *fake) serve(p *peer) {
	defer f.ended(p)
	for {
		if f.alive > 0 {
			_ = p.conn.SetReadDeadline(clock.WallNow().Add(f.alive))
		}
		pk, err := packets.ReadPacket(p.conn)
		if err != nil {
			return
		}
		switch pk := pk.(type) {
		case *packets.ConnectPacket:
			p.id = pk.ClientIdentifier
			ack := packets.NewControlPacket(packets.Connack).(*packets.ConnackPacket)
			if pk.Username != p.id || len(pk.Password) == 0 || !pk.CleanSession || pk.WillFlag {
				ack.ReturnCode = packets.ErrRefusedNotAuthorised
			}
			p.write(ack)
		case *packets.SubscribePacket:
			ack := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
			ack.MessageID, ack.ReturnCodes = pk.MessageID, make([]byte, len(pk.Topics))
			p.write(ack)
		case *packets.PingreqPacket:
			p.write(packets.NewControlPacket(packets.Pingresp))
		case *packets.PublishPacket:
			_, channel, _ := wire.ParseTopic(pk.TopicName)
			f.got(p, channel, pk.Payload)
			f.flight.Got(p.id)
		case *packets.DisconnectPacket:
			return
		}
	}
}

func (p *peer) write(pk packets.ControlPacket) {
	if p.mute.Load() {
		return
	}
	p.wmu.Lock()
	defer p.wmu.Unlock()
	_ = p.conn.SetWriteDeadline(clock.WallNow().Add(5 * time.Second))
	if pk.Write(p.conn) != nil {
		_ = p.conn.Close()
	}
}

func (f *fake) ended(p *peer) {
	_ = p.conn.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[p.id] == p {
		delete(f.live, p.id)
		f.flight.Reset(p.id)
	}
}

// got handles an uplink the way the gateway does.
func (f *fake) got(p *peer, channel string, payload []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ups = append(f.ups, up{p.id, channel, payload})
	if channel == wire.UpHello {
		f.hellos[p.id]++
		if f.deaf {
			return
		}
		if old := f.live[p.id]; old != nil && old != p {
			_ = old.conn.Close()
		}
		f.epoch++
		p.epoch, f.live[p.id] = f.epoch, p
		f.ack(p, wire.Ack{Type: wire.AckHello})
		if f.sync != nil {
			if y := f.sync(p.id); y != nil {
				f.down(p, wire.DownSync, y)
			}
		}
		return
	}
	if f.live[p.id] != p || f.noAcks {
		return
	}
	switch channel {
	case wire.UpRpt:
		var r wire.Report
		if json.Unmarshal(payload, &r) == nil {
			f.ack(p, wire.Ack{Type: wire.AckRpt, CommandID: r.CommandID, Accepted: true})
		}
	case wire.UpRec:
		var r wire.Records
		if json.Unmarshal(payload, &r) == nil {
			f.ack(p, wire.Ack{Type: wire.AckRec, Seq: r.Records[len(r.Records)-1].Seq})
		}
	case wire.UpDigest:
		if f.lostSync {
			return
		}
		f.ack(p, wire.Ack{Type: wire.AckDigest})
	}
}

func (f *fake) ack(p *peer, a wire.Ack) {
	a.Epoch, a.SessionMs, a.Time = p.epoch, f.session(), f.clk.Now().UnixMilli()
	f.down(p, wire.DownAck, a)
}

// down sends to a board. The caller holds mu.
func (f *fake) down(p *peer, channel string, v any) {
	raw, _ := json.Marshal(v)
	f.flight.Sent(p.id)
	pk := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	pk.TopicName, pk.Payload = wire.Topic(p.id, channel), raw
	p.write(pk)
}

// send sends to a connected board.
func (f *fake) send(boardID, channel string, v any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down(f.live[boardID], channel, v)
}

// command sends a door command with 5 s to start, and returns its id.
func (f *fake) command(boardID, doorID, command string, change ...func(*wire.Command)) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.live[boardID]
	if p == nil {
		return ""
	}
	f.n++
	p.seq++
	c := wire.Command{ID: fmt.Sprintf("cmd_%d", f.n), Epoch: p.epoch, Seq: p.seq, DoorID: doorID, Command: command,
		NotAfterMs: f.session() + 5000}
	for _, do := range change {
		do(&c)
	}
	f.down(p, wire.DownCmd, c)
	return c.ID
}

func (f *fake) online(boardID string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live[boardID] != nil
}

// uplinks are the messages that a board has sent on a channel so far.
func (f *fake) uplinks(boardID, channel string) (out [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.ups {
		if u.board == boardID && u.channel == channel {
			out = append(out, u.payload)
		}
	}
	return out
}

// recordsTold counts the records that a board has uploaded. A board that reboots before the answer uploads them
// again, so each seq counts once.
func (r *rig) recordsTold(boardID string) int {
	r.t.Helper()
	told := map[int64]bool{}
	for _, raw := range r.server.uplinks(boardID, wire.UpRec) {
		var batch wire.Records
		must.OK(r.t, json.Unmarshal(raw, &batch))
		for _, rec := range batch.Records {
			told[rec.Seq] = true
		}
	}
	return len(told)
}

// reports are the board's readable reports, as "id result code".
func (f *fake) reports(boardID string) (out []string) {
	for _, raw := range f.uplinks(boardID, wire.UpRpt) {
		var r wire.Report
		if json.Unmarshal(raw, &r) != nil {
			out = append(out, "garbage")
			continue
		}
		s := r.CommandID + " " + string(r.Result)
		if r.Code != "" {
			s += " " + r.Code
		}
		out = append(out, s)
	}
	return out
}

// lose makes the server wait for content that the line has lost.
func (f *fake) lose(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lostSync = on
}
