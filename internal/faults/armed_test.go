package faults

import (
	"encoding/json"
	"testing"
	"time"
)

func TestMomentIsWrittenWithMilliseconds(t *testing.T) {
	t.Parallel()
	for ns, want := range map[int64]string{0: `"1970-01-01T00:00:00.000Z"`, 1_567_846_379: `"1970-01-01T00:00:01.567Z"`} {
		if b, err := json.Marshal(Moment{time.Unix(0, ns)}); err != nil || string(b) != want {
			t.Errorf("%d: %s, %v, want %s", ns, b, err, want)
		}
	}
}
