package testbed

import (
	"net/http"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/byhand"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
)

// TestTroublesOfARealBoard: the page of a board says what was wrong with the connections and messages of the real one
// that has its place, newest first, on any screen.
func TestTroublesOfARealBoard(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	id := tb.cfg.World.Places[1].Boards[0].ID
	var login struct{ Password string }
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/boards/"+id+"/detach", nil, &login)
	connect := func(password string) *byhand.Conn {
		c := must.Get(byhand.Dial(t.Context(), tb.Ready.MQTT, nil, func(byhand.Message) {}))(t)
		t.Cleanup(c.Drop)
		_, _ = c.Connect(byhand.Hello{ClientID: id, Username: id, Password: password, KeepAlive: 30, Level: 4})
		return c
	}
	connect("guessed")
	c := connect(login.Password)
	for _, m := range []byhand.Message{
		{Topic: "sac/v1/" + id + "/Hello", Payload: []byte(`{"proto":2}`)},
		{Topic: wire.Topic(id, wire.UpState), Payload: []byte(`{}`)},
		{Topic: wire.Topic(id, wire.UpHello), Payload: []byte(`{'proto':2}`)},
	} {
		must.OK(t, c.Publish(m))
	}
	want := []string{"hello not a JSON object: dropped: it can't be read", "state no hello: dropped: it came before the hello", "topic: refused: not one of the board's own topics", "password: the connection was refused"}
	last := func() {
		must.OK(t, connect(login.Password).Publish(byhand.Message{Topic: wire.Topic(id, wire.UpHello), Payload: []byte(`{"proto":2,"boot":1,"revision":0}`)}))
		p := b.Page(browser.Look{Width: 390, Height: 844, Mobile: true})
		signIn(t, tb, p)
		p.Open(tb.Ready.Control + "/boards/" + id)
		p.Await(`document.getElementById("instead").innerText.includes("another board is online")`)
		fits(t, "the page of a board that has been replaced", p)
	}
	for look, how := range looks {
		p := b.Page(how)
		signIn(t, tb, p)
		p.Open(tb.Ready.Control + "/boards/" + id)
		fits(t, "the page of a board with troubles, "+look, p)
		clean(t, p, tb.Ready.Control)
		if how.Language == "ko" || how.NoScript {
			continue
		}
		p.Await(`document.getElementById("instead").innerText.includes("no board is online")`)
		rows := `[...document.querySelectorAll("#troubles li")].map(r => r.innerText.replace(/\s+/g, " "))`
		p.Await(rows + `.length >= 4`)
		var got []string
		p.Eval(rows, &got)
		for i, row := range want {
			if !strings.Contains(got[i], row) {
				t.Errorf("%s: row %d of the troubles is %q, want %q in it", look, i+1, got[i], row)
			}
		}
	}
	last()
}
