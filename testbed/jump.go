package testbed

import (
	"net/http"
	"time"
)

// jumpWait bounds how long a request waits for a jump of virtual time: together with the 8 s for a board it stays below
// the 15 s for which clients are told to wait.
const jumpWait = 5 * time.Second

// afterJump holds up requests that change something until a jump is over: what arrives during the jump happens after
// it, and a stream of commands can't keep it from ending.
func (t *Testbed) afterJump(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			t.flight.Enter(r.Context(), jumpWait)
		}
		h.ServeHTTP(w, r)
	})
}
