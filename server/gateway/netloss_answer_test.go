package gateway

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// An answer whose result or code isn't one of the protocol's words says neither that the policy is stored nor that it
// isn't: it is counted, and the board may still answer.
func TestNetlossAnswerThatMeansNothing(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]wire.SyncAck{
		"an unknown result":         {Result: "failed"},
		"no result":                 {},
		"an unknown code":           {Result: "refused", Code: "tired"},
		"a refusal without a code":  {Result: "refused"},
		"a result beyond all words": {Result: vocab.Result(strings.Repeat("o", 65))},
		"a code beyond all words":   {Result: "refused", Code: strings.Repeat("x", 65)},
	} {
		rigged(t, name, func(t *testing.T, r *rig) {
			b := r.online("brd_1")
			res := r.set(t.Context(), "brd_1", somePolicy)
			c := next[wire.Config](b, wire.DownCfg)
			answer.Type, answer.ID = wire.SyncConfig, c.ID
			b.say(wire.UpAck, answer)
			answer.Netloss = &c.Netloss
			b.say(wire.UpAck, answer)
			if x := <-res; !errors.Is(x.err, board.ErrNoAnswer) || x.took != 8*time.Second {
				t.Errorf("got %+v, want board.ErrNoAnswer after 8s", x)
			}
			s := r.Status("brd_1")
			if n := s.Drops[dropMisfit] + s.Drops[dropGarbage]; n != 2 || s.Policy.Version != 0 {
				t.Errorf("counted %v, policy %+v, want both answers counted and version 0", s.Drops, s.Policy)
			}
			b.say(wire.UpAck, wire.SyncAck{Type: wire.SyncConfig, ID: c.ID, Result: "ok"})
			if got := r.Status("brd_1").Policy.Version; got != 1 {
				t.Errorf("version %d after the board's real answer, want 1", got)
			}
		})
	}
}
