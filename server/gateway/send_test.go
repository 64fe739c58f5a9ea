package gateway

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

func TestSend(t *testing.T) {
	t.Parallel()
	rigged(t, "to nobody", func(t *testing.T, r *rig) {
		b := r.connect("brd_1")
		for _, id := range []string{"brd_1", "brd_2", "brd_9"} { // no hello, never connected, no such board
			if err := r.Send(t.Context(), id, wire.Command{ID: "cmd_1"}); !errors.Is(err, board.ErrOffline) {
				t.Errorf("%s: got %v, want err to be board.ErrOffline", id, err)
			}
			if r.Push(id, 1, []byte("{}")) {
				t.Errorf("%s: content was sent, want none without a hello", id)
			}
		}
		b.quiet()
		if r.kinds("publish") != "" {
			t.Error("told of a publish")
		}
	})
	rigged(t, "in order, to the epoch", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		epoch := r.Status("brd_1").Epoch
		for i := range int64(3) {
			must.OK(t, r.Send(t.Context(), "brd_1", wire.Command{ID: sprintf("cmd_%d", i), Command: "open", NotAfterMs: 5}))
			if c := next[wire.Command](b, wire.DownCmd); c.Seq != i+1 || c.Epoch != epoch || c.ID != sprintf("cmd_%d", i) || c.NotAfterMs != 5 {
				t.Errorf(`got %+v, want c.Seq = i+1, c.Epoch = epoch, c.ID = sprintf("cmd_%%d", i), c.NotAfterMs = 5`, c)
			}
		}
		if r.kinds("publish") != "publish 1; publish 1; publish 1" {
			t.Errorf(`got %v, want r.kinds("publish") = "publish 1; publish 1; publish 1"`, r.kinds("publish"))
		}
		if r.Push("brd_1", epoch+1, []byte("{}")) || !r.Push("brd_1", epoch, []byte(`{"to":1}`)) {
			t.Error("content went to another epoch")
		}
		if y := next[wire.Sync](b, wire.DownSync); y.To != 1 {
			t.Errorf("got %+v, want y.To = 1", y)
		}
		b.Disconnect(0)
		synctest.Wait()
		if err := r.Send(t.Context(), "brd_1", wire.Command{ID: "cmd_9"}); !errors.Is(err, board.ErrOffline) {
			t.Errorf("got %v, want err to be board.ErrOffline", err)
		}
	})
	rigged(t, "to a board that does not read", func(t *testing.T, r *rig) {
		conn := r.dial()
		_, _ = conn.Write(good("brd_1").bytes())
		_, _ = conn.Write(publish("sac/v1/brd_1/hello", `{"proto":2}`))
		synctest.Wait()
		// One batch may be in flight while the next one waits.
		big := make([]byte, 1<<20)
		start, sent, commands := time.Now(), 0, 0
		for r.Push("brd_1", r.Status("brd_1").Epoch, big) {
			sent++
		}
		synctest.Wait()
		for r.Send(t.Context(), "brd_1", wire.Command{}) == nil {
			commands++
		}
		if sent > maxBulk+1 || commands < 500 || commands > 2*maxOut || time.Since(start) > 0 {
			t.Errorf("got %d pushes and %d commands sent in %s, want at most %d, 500 (what a place may have in progress) to %d and 0", sent, commands, time.Since(start), maxBulk+1, 2*maxOut)
		}
		if err := r.Send(t.Context(), "brd_1", wire.Command{}); !errors.Is(err, board.ErrOffline) || r.Counts().CommandsUnsent.Load() != 2 {
			t.Error(err, r.Counts().CommandsUnsent.Load())
		}
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if s := r.Status("brd_1"); s.State != "offline" || s.Since.Sub(start) > 6*time.Second {
			t.Errorf(`got %s, %s, want s.State = "offline", s.Since.Sub(start) <= 6*time.Second`, s.State, s.Since.Sub(start))
		}
		_ = conn.Close()
	})
}

// A command doesn't wait behind queued content, and a slow line isn't cut as long as it makes progress.
func TestSlowLine(t *testing.T) {
	t.Parallel()
	rigged(t, "a command overtakes content", func(t *testing.T, r *rig) {
		conn := r.dial()
		_, _ = conn.Write(good("brd_1").bytes())
		_, _ = conn.Write(publish("sac/v1/brd_1/hello", `{"proto":2}`))
		synctest.Wait()
		page := bytes.Repeat([]byte("p"), 256<<10) // more than fits on the line
		for range maxBulk {
			if !r.Push("brd_1", r.Status("brd_1").Epoch, page) {
				t.Fatal("not accepted")
			}
		}
		synctest.Wait()
		must.OK(t, r.Send(t.Context(), "brd_1", wire.Command{ID: "cmd_9"}))
		var read []byte
		for buf := make([]byte, 4<<10); !bytes.Contains(read, []byte("cmd_9")); {
			n := must.Get(conn.Read(buf))(t)
			read = append(read, buf[:n]...)
		}
		if before := bytes.Count(read, []byte("p")) / len(page); before > 1 {
			t.Errorf("the command came after %d pages, want at most the one under way", before)
		}
		_ = conn.Close()
	})
	rigged(t, "progress", func(t *testing.T, r *rig) {
		conn := r.dial()
		_, _ = conn.Write(good("brd_1").bytes())
		_, _ = conn.Write(publish("sac/v1/brd_1/hello", `{"proto":2}`))
		synctest.Wait()
		page := bytes.Repeat([]byte("p"), 192<<10)
		r.Push("brd_1", r.Status("brd_1").Epoch, page)
		got, start := 0, time.Now()
		for buf := make([]byte, 8<<10); got < len(page); {
			time.Sleep(time.Second) // within the keep-alive
			n, err := conn.Read(buf)
			if err != nil {
				t.Fatalf("after %d bytes and %s: got %v, want the line to last", got, time.Since(start), err)
			}
			got += bytes.Count(buf[:n], []byte("p"))
		}
		if time.Since(start) < 20*time.Second {
			t.Errorf("the line wasn't slow: %s, want at least 20 s", time.Since(start))
		}
		_ = conn.Close()
	})
}

func publish(topic, payload string) []byte {
	b := append([]byte{0x30, byte(2 + len(topic) + len(payload)), 0, byte(len(topic))}, topic...)
	return append(b, payload...)
}
