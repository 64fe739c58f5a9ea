package firmware

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
)

func seed(v any) []byte {
	raw, _ := json.Marshal(v)
	return raw
}

// FuzzDecode: any downlink is either dropped with ErrPayload or accepted; in both cases the board keeps working and
// settles.
func FuzzDecode(f *testing.F) {
	grant := grantOf("mem_1", "p", "t")
	f.Add("cmd", seed(wire.Command{ID: "cmd_1", Epoch: 7, DoorID: "dor_1", Channel: 1, Command: "hold", Minutes: 5, NotAfterMs: 5000}))
	f.Add("cmd", seed(wire.Command{ID: "cmd_1", Epoch: 7, Channel: 2, Command: "open", NotAfterMs: 5000}))
	f.Add("sync", seed(snapshot(9, grant)))
	f.Add("sync", seed(wire.Sync{From: 1, To: 2, Remove: []string{"mem_1"}}))
	f.Add("sync", []byte(`{"from":1,"to":2,"upsert":[{}],"windows":[{"mode":"custom","startsAt":"x"}],"hours":{"timezone":"Mars","week":{"mon":[["x"]]}},"doors":[{}]}`))
	f.Add("cfg", seed(wire.Config{ID: "cfg_1", NotAfterMs: 5000, Netloss: wire.Netloss{GraceSec: 60, Channels: map[int]string{1: "hold"}}}))
	f.Add("ack", seed(wire.Ack{Type: wire.AckHello, Epoch: 8, SessionMs: 5}))
	f.Add("ack", seed(wire.Ack{Type: wire.AckRec, Seq: 1}))
	f.Add("rpt", []byte(`{}`))
	for _, ch := range wire.Down { // each message, on every channel
		f.Add(ch, seed(snapshot(3, grant)))
		f.Add(ch, seed(wire.Command{ID: "cmd_1", Epoch: 7, DoorID: "dor_1", Command: "open", NotAfterMs: 9}))
	}
	f.Fuzz(func(t *testing.T, channel string, payload []byte) {
		ev, err := Decode(channel, payload)
		if err != nil {
			if !errors.Is(err, ErrPayload) && !errors.Is(err, ErrEcho) {
				t.Fatalf("got %v, want ErrPayload or ErrEcho", err)
			}
			return
		}
		b := newBench(t).online()
		ev.SessionMs = 100
		for range 2 { // including a repeat
			b.step(ev)
			if ev.Kind == Command && len(b.acts(ev.Command.ID)) != 1 {
				t.Fatalf("%d ground-truth lines for one command, want 1", len(b.acts(ev.Command.ID)))
			}
		}
		b.presented(Event{Kind: Present, DoorID: b.s.Doors[0].ID, PhoneHash: "p"})
		b.presented(Event{Kind: Present, DoorID: b.s.Doors[1].ID, TokenHash: "t"})
		b.to(b.now + 100*hour).cut().to(b.now + 200*hour)
		b.step(Event{Kind: Reboot})
		b.online()
		must.Get(json.Marshal(b.s))(t)
		if y := b.s.Content.Snapshot(); ApplyAll(nil, Prepare(y)).Digest() != b.s.Content.Digest() {
			t.Fatal("a snapshot of the content is another content")
		}
	})
}

// acts are the ground-truth lines of a command.
func (b *bench) acts(commandID string) (out []Entry) {
	for _, l := range b.lines {
		if l.CommandID == commandID {
			out = append(out, l)
		}
	}
	return out
}
