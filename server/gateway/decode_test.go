package gateway

import (
	"encoding/json"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// The decoders accept anything a board may send: what they let through must be in range and match the board's JSON.

func FuzzDecodeHello(f *testing.F) {
	f.Add(encode(wire.Hello{Proto: 2, Revision: 5, OutageAgeMs: -1, Netloss: &wire.Netloss{Channels: map[int]string{1: "open"}},
		Doors: []wire.Standing{{Channel: 1, State: "locked", Leaf: "closed"}}}))
	f.Add([]byte(`{"proto":2,"doors":[{"state":"locked","leaf":"closed","since":99999999999999999}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, p []byte) {
		h, err := decodeHello(p)
		if err != nil {
			return
		}
		if h.Revision < 0 || h.OutageAgeMs < -1 || len(h.Digest) > 64 || h.Netloss != nil && h.Netloss.GraceSec > 604800 {
			t.Errorf("%+v was decoded, want every field in its range", h)
		}
		for _, s := range h.Doors {
			wantStanding(t, s)
		}
	})
}

func wantStanding(t *testing.T, s wire.Standing) {
	t.Helper()
	if !slices.Contains([]string{"locked", "unlocked", "open", "warning"}, s.State) {
		t.Errorf("state %q was decoded, want locked, unlocked, open or warning", s.State)
	}
	if _, err := time.UnixMilli(s.Since).UTC().MarshalJSON(); err != nil {
		t.Error(err)
	}
	if s.HoldUntil != nil {
		if _, err := time.UnixMilli(*s.HoldUntil).UTC().MarshalJSON(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzDecodeReport(f *testing.F) {
	f.Add(encode(wire.Report{CommandID: "cmd_1", Result: "ok", Standing: &wire.Standing{Channel: 1, State: "locked", Leaf: "closed"}}))
	f.Add([]byte(`{"commandId":"x","standing":{}}`))
	f.Fuzz(func(t *testing.T, p []byte) {
		r, err := decodeReport(p)
		if err != nil {
			return
		}
		if r.CommandID == "" || len(r.CommandID) > 64 {
			t.Errorf("command id %q was decoded, want 1 to 64 characters", r.CommandID)
		}
		if r.Standing != nil {
			wantStanding(t, *r.Standing)
		}
	})
}

func FuzzDecodeAck(f *testing.F) {
	f.Add(encode(wire.SyncAck{Type: "sync", Revision: 5}))
	f.Add(encode(wire.SyncAck{Type: "cfg", ID: "cfg_1", Result: "ok", Netloss: &wire.Netloss{GraceSec: 5, Channels: map[int]string{1: "off"}}}))
	f.Fuzz(func(t *testing.T, p []byte) {
		a, err := decodeAck(p)
		if err != nil {
			return
		}
		if a.Type != "sync" && a.Type != "cfg" || a.Revision < 0 || a.Netloss != nil && board.CheckPolicy(*a.Netloss) != nil {
			t.Errorf("%+v was decoded, want a sync or cfg with every field in its range", a)
		}
	})
}

func FuzzDecodeRecords(f *testing.F) {
	f.Add(encode(wire.Records{Records: []wire.Record{onsite(1)}}))
	f.Add([]byte(`{"records":[{"seq":1}],"dropped":-1}`))
	f.Fuzz(func(t *testing.T, p []byte) {
		batch, err := decodeRecords(p)
		if err == nil && (len(batch.Records) > maxRecords || batch.Dropped < 0) {
			t.Errorf("%d records, %d dropped passed the decoder, want at most %d and no negative count", len(batch.Records), batch.Dropped, maxRecords)
		}
	})
}

func FuzzDecodeOthers(f *testing.F) {
	f.Add([]byte(`{"doors":[{"state":"open","leaf":"open"}]}`))
	f.Add([]byte(`{"revision":5,"digest":"aa"}`))
	f.Fuzz(func(t *testing.T, p []byte) {
		if s, err := decode[wire.State](p); err == nil {
			for _, x := range standings(s.Doors) {
				wantStanding(t, x)
			}
		}
		if d, err := decodeDigest(p); err == nil && (!json.Valid(p) || !whole(d.Revision) || len(d.Digest) > 64) {
			t.Errorf("%+v was decoded, want JSON with every field in its range", d)
		}
	})
}

// FuzzGreet: the first bytes of a connection. What passes is a 3.1.1 CONNECT, and the broker behind it reads exactly
// what was sent.
func FuzzGreet(f *testing.F) {
	f.Add(good("brd_1").bytes())
	f.Add([]byte{0x10, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte("\x10\x0c\x00\x04MQTT\x05\x02\x00\x1e\x00\x00"))
	f.Fuzz(func(t *testing.T, p []byte) {
		here, there := net.Pipe()
		go func() {
			_, _ = there.Write(p)
			_ = there.Close()
		}()
		g := &guard{Conn: drain{here}, timeout: time.Second}
		err := g.greet()
		_ = here.Close()
		if err == nil && (p[0] != 0x10 || !strings.HasPrefix(string(p), string(g.first)) || !strings.HasSuffix(string(g.first), "\x00\x04MQTT\x04")) {
			t.Errorf("%x passed, want only a CONNECT of MQTT 3.1.1, unchanged", p)
		}
	})
}

// drain discards what is written.
type drain struct{ net.Conn }

func (drain) Write(p []byte) (int, error)      { return len(p), nil }
func (drain) SetWriteDeadline(time.Time) error { return nil }
