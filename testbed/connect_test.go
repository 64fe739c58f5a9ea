package testbed

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestStandstill: a fleet of which no board connects isn't waited for forever, and the error says what its attempts
// ended with.
func TestStandstill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := must.Get(boardsim.New(boardsim.Config{World: world.Default(3, 2), Clock: clock.Real{}, Dial: func(context.Context, string) (net.Conn, error) {
			return nil, errors.New("nobody is there")
		}}))(t)
		began := time.Now()
		err := connect(t.Context(), f, nil, stalled)
		if err == nil || !strings.Contains(err.Error(), "0 of 3 boards connected") || !strings.Contains(err.Error(), "nobody is there") {
			t.Errorf("got %v, want the number of boards and the last attempt", err)
		}
		if !errors.Is(err, errStalled) || errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want errStalled, and not what a cancelled start ends with", err)
		}
		if took := time.Since(began); took != stalled {
			t.Errorf("it gave up after %s, want %s", took, stalled)
		}
		must.OK(t, f.Stop())
	})
}
