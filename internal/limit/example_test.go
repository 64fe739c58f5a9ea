package limit_test

import (
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/limit"
)

// Two calls per minute: the third waits until the first is a minute old.
func ExampleWindow_Allow() {
	w, noon := limit.New(2, time.Minute), time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, after := range []time.Duration{0, 10 * time.Second, 20 * time.Second, time.Minute} {
		ok, retry := w.Allow("203.0.113.9", noon.Add(after))
		fmt.Println(after, ok, retry)
	}
	// Output:
	// 0s true 0s
	// 10s true 0s
	// 20s false 40s
	// 1m0s true 0s
}
