package testbed

import (
	"net/http"

	"github.com/doorlab/doorlab/internal/clock"
)

// Inside are a testbed's APIs for callers in this process, without connection or port. lab is the control API, which
// takes the token; it exists even without a control listener. Call Inside once, before anything else uses the testbed.
func (t *Testbed) Inside() (public, lab http.Handler, token string) {
	if t.Ready.ControlToken == "" {
		t.Ready.ControlToken = newToken()
		t.life.Load().mountControl(t, t.Ready.ControlToken)
	}
	return t.api(), t.laboratory(), t.Ready.ControlToken
}

// Clock is the world's.
func (t *Testbed) Clock() clock.Clock { return t.clk }
