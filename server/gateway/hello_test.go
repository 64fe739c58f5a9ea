package gateway

import (
	"errors"
	"testing"

	"github.com/doorlab/doorlab/internal/wire"
)

func TestHelloIsRefused(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]string{"another protocol": `{"proto":1}`, "none": `{}`, "not JSON": `hello`, "a list": `[1]`,
		"negative revision": `{"proto":2,"revision":-1}`, "age": `{"proto":2,"outageAgeMs":-2}`, "policy": `{"proto":2,"netloss":{"graceSec":700000}}`,
		"boot": `{"proto":2,"boot":9007199254740992}`, "buffered": `{"proto":2,"buffered":9007199254740992}`,
		"dropped": `{"proto":2,"dropped":9007199254740992}`, "page": `{"proto":2,"partial":{"page":9007199254740992}}`,
		"version": `{"proto":2,"netloss":{"version":9223372036854775807}}`, "a long digest": `{"proto":2,"digest":"` + sprintf("%065d", 0) + `"}`} {
		rigged(t, name, func(t *testing.T, r *rig) {
			b := r.connect("brd_1")
			b.say(wire.UpHello, payload)
			if !b.ended() || r.Status("brd_1").State != "unknown" || r.Counts().Refused.Load() != 1 || r.Status("brd_1").Drops[dropGarbage] != 1 || r.backs.all() != "" {
				t.Errorf("got %+v and %q, want one refused connection, one message dropped and nothing passed on", r.Counts(), r.backs.all())
			}
			b.quiet()
		})
	}
	rigged(t, "when it cannot be remembered", func(t *testing.T, r *rig) {
		r.store.broken(errors.New("disk full"))
		b := r.connect("brd_1")
		b.say(wire.UpHello, wire.Hello{Proto: 2})
		if !b.ended() || r.Status("brd_1").State != "unknown" {
			t.Error("shown, but not stored")
		}
		r.store.broken(nil)
		r.online("brd_1")
	})
	rigged(t, "nothing counts before it", func(t *testing.T, r *rig) {
		b := r.connect("brd_1")
		for _, ch := range wire.Up[1:] {
			b.say(ch, `{}`)
		}
		b.quiet()
		if n := r.Dropped(); n[dropEarly] != 6 || r.backs.all() != "" {
			t.Errorf(`got %+v %s, want 6 early, r.backs.all() = ""`, n, r.backs.all())
		}
	})
}
