package grant

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/server/fail"
)

// TestOneImportPerPlace: imports into a place run one at a time and a few may wait; other places aren't held up.
func TestOneImportPerPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var i imports
		began := time.Now()
		var all sync.WaitGroup
		for range maxImports {
			all.Go(func() {
				end, err := i.begin("plc_a")
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Second)
				end()
			})
		}
		synctest.Wait()
		if _, err := i.begin("plc_a"); fail.CodeOf(err) != fail.TooManyInFlight {
			t.Errorf("one more: got %v, want code %q", err, fail.TooManyInFlight)
		}
		if end, err := i.begin("plc_b"); err != nil || time.Since(began) > 0 {
			t.Errorf("another place: got %v after %v, want no error and 0", err, time.Since(began))
		} else {
			end()
		}
		all.Wait()
		if d := time.Since(began); d != maxImports*time.Second {
			t.Errorf("all took %v, want %v", d, maxImports*time.Second)
		}
	})
}
