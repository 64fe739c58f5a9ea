package testbed

import (
	"net/http"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
)

// breakDisk sets the state of the server's disk.
func breakDisk(t *testing.T, lab client.Client, state string) {
	t.Helper()
	clienttest.Do(t, lab, http.MethodPost, "/lab/v1/disk", map[string]any{"state": state}, nil)
}

// A command whose claim waits for a stalled disk is answered 503 in time and never sent; once the disk works, its key is
// free again. A full disk answers at once [CMD-4].
func TestBadDiskOfALab(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	c, lab := partner(t, tb, 1), tb.lab()
	door := tb.cfg.World.Places[1].Boards[0].Doors[0].ID
	for _, state := range []string{"stalled", "full"} {
		breakDisk(t, lab, state)
		if status, _, err := tryOpen(t, c, door, state); status != http.StatusServiceUnavailable || err != nil {
			t.Errorf("%s: got %d, %v, want 503", state, status, err)
		}
		clienttest.Do(t, lab, http.MethodDelete, "/lab/v1/disk", nil, nil)
		for {
			status, replayed, err := tryOpen(t, c, door, state)
			if status == http.StatusServiceUnavailable && err == nil { // the claim is being withdrawn
				continue
			}
			if status != http.StatusOK || replayed || err != nil {
				t.Errorf("%s, repaired: got %d, replayed %t, %v, want 200 from a new command", state, status, replayed, err)
			}
			break
		}
		if n := pulses(tb, state); n != 1 {
			t.Errorf("%s: %d pulses, want 1", state, n)
		}
	}
}

// What waits for a stalled disk is lost when the server is killed, as what was never written; the next life has a disk that
// works [CMD-6]. A server that is stopped instead writes it. That the disk was hit stays known.
func TestEndOnAStalledDisk(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{true, false} {
		tb := begin(t, Config{Virtual: true})
		c, lab := partner(t, tb, 1), tb.lab()
		door := tb.cfg.World.Places[1].Boards[0].Doors[0].ID
		breakDisk(t, lab, "stalled")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _, _ = tryOpen(t, c, door, "k")
		}()
		for hits := 0; hits == 0; {
			var got struct{ Hits int }
			clienttest.Do(t, lab, http.MethodGet, "/lab/v1/disk", nil, &got)
			hits = got.Hits
		}
		clienttest.Do(t, lab, http.MethodPost, "/lab/v1/restart", map[string]any{"kill": kill}, nil)
		<-ended
		var now struct {
			State string
			Hits  int
		}
		if clienttest.Do(t, lab, http.MethodGet, "/lab/v1/disk", nil, &now); now.State != "ok" || now.Hits == 0 {
			t.Errorf("killed %t: the next life's disk is %q with %d hits, want ok with those of the life before", kill, now.State, now.Hits)
		}
		status, replayed, err := tryOpen(t, c, door, "k")
		if kill && (status != http.StatusOK || replayed || err != nil) {
			t.Errorf("killed: got %d, replayed %t, %v, want 200 from a new command", status, replayed, err)
		}
		if n := pulses(tb, "k"); n > 1 || kill && n != 1 {
			t.Errorf("killed %t: %d pulses, want one at most", kill, n)
		}
	}
}

// TestStopOnAStalledDiskAnswersEverybody: who waits for the disk gets 503 before the connections end.
func TestStopOnAStalledDiskAnswersEverybody(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	c, lab := partner(t, tb, 1), tb.lab()
	breakDisk(t, lab, "stalled")
	calls := map[string]func() (*client.Answer, error){
		"a permit": func() (*client.Answer, error) {
			return c.Call(t.Context(), http.MethodPost, "/space/v1/partner/entry-permits", "", map[string]string{"externalRef": "r", "phone": "01012345678",
				"startsAt": "2026-11-01T00:00:00Z", "endsAt": "2026-11-02T00:00:00Z"})
		},
		"records, which are audited": func() (*client.Answer, error) {
			return c.Call(t.Context(), http.MethodGet, "/space/v1/partner/entry-logs", "", nil)
		},
		"a door": func() (*client.Answer, error) {
			return c.Open(t.Context(), tb.cfg.World.Places[1].Boards[0].Doors[0].ID, "k")
		},
	}
	type said struct {
		name string
		a    *client.Answer
		err  error
	}
	got := make(chan said, len(calls))
	for name, call := range calls {
		go func() {
			a, err := call()
			got <- said{name, a, err}
		}()
	}
	for hits := 0; hits == 0 || tb.caps.asked.Load() < int64(len(calls)); { // all of them are here; net/http hangs up on a request that comes later
		var now struct{ Hits int }
		clienttest.Do(t, lab, http.MethodGet, "/lab/v1/disk", nil, &now)
		hits = now.Hits
	}
	if err := tb.Stop(); err != nil {
		t.Error(err)
	}
	for range calls {
		if s := <-got; s.err != nil || s.a.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: %+v, %v, want 503", s.name, s.a, s.err)
		}
	}
}

// TestDiskInConsole: the page of faults breaks and repairs the server's disk, with and without JavaScript; the first page says
// that it is broken.
func TestDiskInConsole(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	state := func() (v struct {
		State   string
		DelayMs int
	}) {
		clienttest.Do(t, tb.lab(), http.MethodGet, "/lab/v1/disk", nil, &v)
		return v
	}
	for _, look := range []browser.Look{{}, {NoScript: true}} {
		p := b.Page(look)
		signIn(t, tb, p)
		for _, c := range []struct{ button, want, said string }{
			{`input[value="full"]`, "full", "every write fails"},
			{`input[value="slow"]`, "slow", "300 ms longer"},
			{`input[value="ok"]`, "ok", "works"},
		} {
			p.Open(tb.Ready.Control + "/faults")
			press := p.Press
			if look.NoScript {
				press = p.PressTo
			}
			press(`document.querySelector('form ` + c.button + `[name="state"]').form.querySelector("button")`)
			if !look.NoScript {
				p.Await(`document.querySelector("#faults\\.disk").innerText.includes("` + c.said + `")`)
			}
			if got := state(); got.State != c.want || c.want == "slow" && got.DelayMs != 300 {
				t.Errorf("%+v, %s: got %+v, want %s", look, c.button, got, c.want)
			}
			var now string
			p.Open(tb.Ready.Control + "/")
			if p.Eval(`document.querySelector("#now\\.faults").innerText`, &now); strings.Contains(now, c.said) != (c.want != "ok") {
				t.Errorf("%+v: with a disk that is %s the first page says %q", look, c.want, now)
			}
		}
		clean(t, p, tb.Ready.Control)
	}
}
