package recent

import "testing"

// However many entries arrive, the ones in use stay, and memory is bounded.
func TestMap(t *testing.T) {
	t.Parallel()
	var m Map[int, string]
	for i := range 5 * most {
		m.Put(i, "x")
		if i == 0 {
			m.Put(0, "first")
		}
		if v, ok := m.Get(0); !ok || v != "first" {
			t.Fatalf("after %d others: %q %v, want the entry that is used all the time", i, v, ok)
		}
	}
	if n := len(m.now) + len(m.old); n > 2*most {
		t.Errorf("%d entries are kept, want at most %d", n, 2*most)
	}
	if _, ok := m.Get(1); ok {
		t.Error("an entry that nobody used for long is kept, want it forgotten")
	}
}
