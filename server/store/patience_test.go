package store

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestHurryAnswersWhoeverWaits: callers who can't wait are answered before a service stops, however long the disk takes.
// Writes that come later, as those of the end itself, are waited for.
func TestHurryAnswersWhoeverWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate, open := make(chan struct{}), make(chan struct{})
		close(open)
		through := open
		s := must.Get(Open(t.TempDir(), Options{Commit: func(commit func() error) error {
			<-through
			return commit()
		}}))(t)
		set := func(name string) func() error {
			return func() error { return s.write(func(tx *Tx) error { return tx.setMeta(name, "1") }) }
		}
		must.OK(t, set("a")())
		through = gate
		waits := map[string]func() error{"a write in the commit": set("b"), "a write behind it": set("c"),
			"part of a bulk write": func() error { return s.writeBehind(func(tx *Tx) error { return tx.setMeta("d", "1") }) },
			"a reading of events":  func() error { return s.complete(s.clk.Now()) }}
		got := make(chan error, len(waits))
		for _, name := range []string{"a write in the commit", "a write behind it", "part of a bulk write", "a reading of events"} {
			go func() { got <- waits[name]() }()
			time.Sleep(time.Millisecond)
		}
		began := time.Now()
		s.Hurry()
		for range waits {
			if err := <-got; !errors.Is(err, ErrUnavailable) {
				t.Errorf("%v, want ErrUnavailable", err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("answered after %s, want at once", took)
		}
		go func() { got <- set("e")() }()
		time.Sleep(time.Second)
		close(gate)
		if err := <-got; err != nil {
			t.Errorf("a later write: %v, want it to be waited for", err)
		}
		must.OK(t, s.Close())
	})
}
