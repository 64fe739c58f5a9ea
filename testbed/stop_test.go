package testbed

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestStopAnswersEverybody: if the process is told to stop while a caller waits for a silent board, the caller
// quickly gets its 504 instead of a cut connection.
func TestStopAnswersEverybody(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Wait: time.Hour}) // nobody must have to wait this long
	at := slices.IndexFunc(tb.cfg.World.Places, func(p world.Place) bool { return p.Kind == world.Test })
	c := partner(t, tb, at)
	door := tb.cfg.World.Places[at].Boards[0].Doors[0].ID
	const callers = 20
	got := make(chan int, callers)
	for i := range callers {
		go func() {
			a, err := c.Call(t.Context(), http.MethodPost, "/device/v1/devices/"+door+"/commands", "stop-"+string(rune('a'+i)),
				[]byte(`{"capability":"door","command":"open","args":{"reason":"sim:noResponse"}}`))
			if err != nil {
				t.Error(err)
				got <- 0
				return
			}
			got <- a.Status
		}()
	}
	running := 0
	must.Get(tb.History.Await(t.Context(), 0, func(e history.Event) bool {
		if e.Kind == history.Intent {
			running++
		}
		return running == callers
	}))(t)
	if err := tb.Stop(); err != nil {
		t.Error(err)
	}
	for range callers {
		if s := <-got; s != http.StatusGatewayTimeout {
			t.Errorf("a waiting caller got %d, want %d", s, http.StatusGatewayTimeout)
		}
	}
}
