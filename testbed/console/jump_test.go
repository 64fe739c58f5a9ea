package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// TestRefusedJumps: what fell due in a jump is counted whole, whoever else asks for one meanwhile and is refused; and a
// stranger's request costs no look at all boards.
func TestRefusedJumps(t *testing.T) {
	t.Parallel()
	c, clk := newTestConsole(t)
	looks, boards := 0, c.cfg.Boards
	c.cfg.Boards = func() []Board { looks++; return boards() }
	advance := func(auth, body string, want int) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, control.Prefix+"/clock/advance", strings.NewReader(body))
		r.Header.Set("Authorization", auth)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q with %q: got %d, want %d", body, auth, w.Code, want)
		}
	}
	happens := func() { c.cfg.Feed.Event(history.Event{Kind: history.Applied, At: clk.Now().UnixMilli()}) }
	must.OK(t, c.watch(func() error {
		happens()
		before := looks
		advance("", `{"by":"1h"}`, http.StatusUnauthorized)
		advance("Bearer nobody's", `{"by":"1h"}`, http.StatusUnauthorized)
		if looks != before {
			t.Errorf("strangers had all boards looked at %d times, want none", looks-before)
		}
		happens()
		must.OK(t, clk.Advance(clk.Now().Add(time.Hour))) // meanwhile, as far as the next one can tell
		advance("Bearer "+token, `{"by":"an hour"}`, http.StatusBadRequest)
		happens()
		return nil
	}))
	v := c.jump.Load()
	if v == nil || len(v.Due) != 1 || v.Due[0].Count != "3" || v.Far != "1 h" {
		t.Fatalf("got %+v, want a jump of an hour with three changes", v)
	}
	c.jump.Store(nil)
	advance("Bearer "+token, `{"by":"-1h"}`, http.StatusBadRequest)
	if v := c.jump.Load(); v != nil {
		t.Errorf("a refused jump is shown: %+v", v)
	}
	advance("bearer "+token, `{"by":"1h"}`, http.StatusOK)
	if v := c.jump.Load(); v == nil || len(v.Due) != 0 {
		t.Errorf("got %+v, want the next jump, in which nothing fell due", v)
	}
}
