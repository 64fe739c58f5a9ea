package limit

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestWindowAgainstModel: the window admits a call exactly if fewer than n calls were admitted within the span before
// it and not returned, and the retry time is exact.
func TestWindowAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "n")
		w := New(n, time.Minute)
		now := time.Unix(0, 0)
		admitted := map[string][]time.Time{}
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 30_000).Draw(t, "ms")) * time.Millisecond)
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
			within := 0
			for _, at := range admitted[key] {
				if now.Sub(at) < time.Minute {
					within++
				}
			}
			ok, retry := w.Allow(key, now)
			if ok != (within < n) {
				t.Fatalf("admitted %v with %d of %d in the window, want a call admitted exactly below the limit", ok, within, n)
			}
			if ok && rapid.IntRange(0, 3).Draw(t, "returned") == 0 {
				w.Return(key, now)
				w.Return(key, now.Add(-time.Hour)) // of which it knows nothing
				continue
			}
			if ok {
				admitted[key] = append(admitted[key], now)
				continue
			}
			if early, _ := w.Allow(key, now.Add(retry-time.Nanosecond)); early {
				t.Fatal("admitted before the time it named")
			}
			now = now.Add(retry)
			if ok, _ := w.Allow(key, now); !ok {
				t.Fatal("refused at the time it named")
			}
			admitted[key] = append(admitted[key], now)
		}
	})
}

func TestStaleKeysGo(t *testing.T) {
	t.Parallel()
	w := New(1, time.Minute)
	for i := range 5 * firstSweep {
		w.Allow(time.Duration(i).String(), time.Unix(int64(i), 0))
	}
	if len(w.calls) > 2*firstSweep {
		t.Errorf("got %d keys kept, want at most %d", len(w.calls), 2*firstSweep)
	}
}

// TestBoundedMemory: many keys within a minute don't make the table grow without bound.
func TestBoundedMemory(t *testing.T) {
	t.Parallel()
	w, now := New(3, time.Minute), time.Unix(0, 0)
	for i := range 200_000 {
		if ok, _ := w.Allow(strconv.Itoa(i), now); !ok {
			t.Fatalf("call %d was refused, want it admitted", i)
		}
		if len(w.calls) > maxKeys {
			t.Fatalf("got %d keys, want at most %d", len(w.calls), maxKeys)
		}
	}
}
