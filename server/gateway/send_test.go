package gateway

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
)

func TestSend(t *testing.T) {
	t.Parallel()
	bubble(t, "to nobody", func(t *testing.T) {
		r := newRig(t)
		b := r.connect("brd_1")
		for _, id := range []string{"brd_1", "brd_2", "brd_9"} { // no hello, never connected, no such board
			if err := r.Send(t.Context(), id, wire.Command{ID: "cmd_1"}); !errors.Is(err, ErrOffline) {
				t.Errorf("%s: %v", id, err)
			}
			if r.Push(id, 1, []byte("{}")) {
				t.Errorf("%s: content was sent", id)
			}
		}
		b.quiet()
		if r.kinds("publish") != "" {
			t.Error("told of a publish")
		}
	})
	bubble(t, "in order, to the epoch", func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		epoch := r.Status("brd_1").Epoch
		for i := range int64(3) {
			if err := r.Send(t.Context(), "brd_1", wire.Command{ID: sprintf("cmd_%d", i), Command: "open", NotAfterMs: 5}); err != nil {
				t.Fatal(err)
			}
			if c := next[wire.Command](b, wire.DownCmd); c.Seq != i+1 || c.Epoch != epoch || c.ID != sprintf("cmd_%d", i) || c.NotAfterMs != 5 {
				t.Errorf("%+v", c)
			}
		}
		if r.kinds("publish") != "publish 1; publish 1; publish 1" {
			t.Error(r.kinds("publish"))
		}
		if r.Push("brd_1", epoch+1, []byte("{}")) || !r.Push("brd_1", epoch, []byte(`{"to":1}`)) {
			t.Error("content went to another epoch")
		}
		if y := next[wire.Sync](b, wire.DownSync); y.To != 1 {
			t.Errorf("%+v", y)
		}
		b.Disconnect(0)
		synctest.Wait()
		if err := r.Send(t.Context(), "brd_1", wire.Command{ID: "cmd_9"}); !errors.Is(err, ErrOffline) {
			t.Error(err)
		}
	})
	bubble(t, "to a board that does not read", func(t *testing.T) {
		r := newRig(t)
		conn := r.dial()
		_, _ = conn.Write(good("brd_1").bytes())
		_, _ = conn.Write(publish("sac/v1/brd_1/hello", `{"proto":1}`))
		synctest.Wait()
		// A batch may be on its way while the next one waits.
		big := make([]byte, 1<<20)
		start, sent := time.Now(), 0
		for r.Push("brd_1", r.Status("brd_1").Epoch, big) {
			sent++
		}
		if sent > 2*maxOut || time.Since(start) > 0 {
			t.Errorf("%d sent in %s", sent, time.Since(start))
		}
		if err := r.Send(t.Context(), "brd_1", wire.Command{}); !errors.Is(err, ErrOffline) || r.Snapshot().CommandsUnsent != 1 {
			t.Error(err, r.Snapshot().CommandsUnsent)
		}
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if s := r.Status("brd_1"); s.State != "offline" || s.Since.Sub(start) > 6*time.Second {
			t.Errorf("%s, %s", s.State, s.Since.Sub(start))
		}
		_ = conn.Close()
	})
}

func publish(topic, payload string) []byte {
	b := append([]byte{0x30, byte(2 + len(topic) + len(payload)), 0, byte(len(topic))}, topic...)
	return append(b, payload...)
}
