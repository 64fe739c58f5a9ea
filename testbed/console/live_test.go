package console

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestStale: viewers learn that a page can't be rendered any more, and when it can again.
func TestStale(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		h := newHub(func(*http.Request, Page) (map[string]string, error) {
			if gone.Load() {
				return nil, errors.New("gone")
			}
			return map[string]string{"part": "text"}, nil
		})
		join := func() (*viewer, func()) {
			v, leave, _ := h.join(httptest.NewRequest("GET", "/", nil), Page{})
			return v, leave
		}
		v, leave := join()
		defer leave()
		time.Sleep(5 * time.Second)
		if got := v.take(); got["part"] != "text" || len(got) != 1 {
			t.Errorf("at first: %v, want the part", got)
		}
		gone.Store(true)
		time.Sleep(5 * time.Second)
		if got := v.take(); got[stream] != streamOff {
			t.Errorf("while it fails: %v, want %q", got, streamOff)
		}
		late, end := join()
		defer end()
		if got := late.take(); got[stream] != streamOff || got["part"] != "text" {
			t.Errorf("who comes meanwhile: %v, want the part and %q", got, streamOff)
		}
		gone.Store(false)
		time.Sleep(5 * time.Second)
		if got := v.take(); got[stream] != streamOn {
			t.Errorf("afterwards: %v, want %q", got, streamOn)
		}
	})
}
