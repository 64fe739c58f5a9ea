package stamp_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/doorlab/doorlab/server/api/stamp"
)

func TestTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 5, 10, 0, 0, 7_999_999, time.FixedZone("", 9*3600))
	got, err := json.Marshal(struct {
		At, Null stamp.Time
		Absent   stamp.Time `json:",omitzero"`
	}{At: stamp.Time(at)})
	if want := `{"At":"2026-10-05T01:00:00.007Z","Null":null}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
