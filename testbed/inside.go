package testbed

import (
	"net/http"

	"github.com/doorlab/doorlab/internal/clock"
)

// Inside are the APIs of a testbed for callers in this process: no connection, no
// port. lab is the control API, which takes the token; it is there without a control
// listener, too. Call it once, before anything else uses the testbed.
func (t *Testbed) Inside() (public, lab http.Handler, token string) {
	if t.Ready.ControlToken == "" {
		t.Ready.ControlToken = newToken()
		t.life.Load().mountControl(t, t.Ready.ControlToken)
	}
	return t.afterJump(t.now(func(l *life) http.Handler { return l.public })), t.laboratory(), t.Ready.ControlToken
}

// Clock is the world's.
func (t *Testbed) Clock() clock.Clock { return t.clk }
