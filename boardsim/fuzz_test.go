package boardsim

import (
	"context"
	"errors"
	"math"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
)

// FuzzFlash: whatever the flash files hold, a fleet starts on them, works, and writes files that can be read again.
func FuzzFlash(f *testing.F) {
	const core = `{"b":"brd_one","t":1790000000000,"s":{"boot":2,"doors":[{"id":"dor_one1","channel":1}],"netloss":{"graceSec":60,"channels":{"1":"hold"},"version":1},"outage":{"contact":5},"seq":4,"content":"k2","first":3}}`
	f.Add([]byte(`{"c":{"k":"k1","y":{"to":1,"snapshot":true}}}`+"\n"+`{"c":{"k":"k2","f":"k1","y":{"from":1,"to":2}}}`+"\n"+core+"\n"), []byte(`{"seq":1,"boardId":"brd_one","boot":7}`+"\n"))
	f.Add([]byte(core+"\n"), []byte("\n"))                                                          // refers to missing content
	f.Add([]byte(`{"c":{"k":"k2","f":"k2","y":{}}}`+"\n"+core+"\n"), []byte("{"))                   // content that refers to itself
	f.Add([]byte(`{"b":"brd_one","s":{}}`+"\n"), []byte(`{"seq":-4,"boardId":"brd_one"}`+"\n\x00")) // empty
	f.Add([]byte(`{"b":"brd_one","new":true,"d":[{}],"r":[{"seq":9}]}`+"\n"+core+"\n"), []byte{})
	f.Fuzz(func(t *testing.T, flash, journal []byte) {
		dir := t.TempDir()
		for name, raw := range map[string][]byte{"flash-000001.ndjson": flash, "journal.ndjson": journal} {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), raw, 0o644))
		}
		for range 2 {
			c := clock.NewVirtual(noon, nil)
			c.Freeze()
			fleet := must.Get(New(Config{World: theWorld(), Clock: c, DataDir: dir,
				Dial: func(context.Context, string) (net.Conn, error) { return nil, errors.New("no server") }}))(t)
			b := fleet.byID[one]
			b.mu.Lock()
			b.step(firmware.Event{Kind: firmware.Connected})
			b.step(firmware.Event{Kind: firmware.Ack, Ack: wire.Ack{Type: wire.AckHello, Epoch: 7, SessionMs: 1}})
			b.step(firmware.Event{Kind: firmware.Config, SessionMs: 1, Config: wire.Config{NotAfterMs: 9, Netloss: wire.Netloss{Channels: map[int]string{2: wire.RestHold}}}})
			b.step(firmware.Event{Kind: firmware.Command, SessionMs: 1, Command: wire.Command{ID: "cmd_1", Epoch: 7, Channel: 2, Command: wire.CmdOpen, NotAfterMs: 9}})
			b.step(firmware.Event{Kind: firmware.Present, DoorID: b.s.Doors[1].ID, PhoneHash: "p"})
			b.mu.Unlock()
			must.OK(t, c.Advance(noon.Add(40*time.Hour)))
			if _, _, err := b.lines(math.MaxInt, 0); err != nil {
				t.Fatal(err)
			}
			must.OK(t, fleet.Stop())
		}
	})
}
