package engine

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestDiskThatNobodyNotices: a bad disk that affected no write proves nothing, whether the file repairs it or not; the hits are
// the result of the repair. What a file leaves broken is repaired after it.
func TestDiskThatNobodyNotices(t *testing.T) {
	t.Parallel()
	const command = `{command: {door: dor_1, key: k}, expect: status == 200}`
	for name, c := range map[string]struct {
		steps  string
		hits   int
		want   judge.Status
		reason string
		disk   string
	}{
		"repaired":            {`{disk: full}, ` + command + `, {disk: ok, expect: hits == 2}`, 2, judge.Pass, "", ""},
		"left":                {`{disk: stalled}, ` + command, 2, judge.Pass, "", ""},
		"nothing was written": {`{disk: full}, ` + command + `, {disk: ok}`, 0, judge.Invalid, "nothing was written while the disk was full", ""},
		"left, nothing":       {`{disk: {slow: 1s}}, ` + command, 0, judge.Invalid, "nothing was written while the disk was slow: 1s", ""},
		"ended by a restart":  {`{disk: full}, ` + command + `, {disk: stalled}`, 0, judge.Invalid, "nothing was written while the disk was full", "ok"},
		"still bad":           {`{disk: full}, ` + command + `, {disk: stalled}`, 0, judge.Invalid, "nothing was written while the disk was stalled", "full"},
		"never broken":        {`{disk: ok}, ` + command, 0, judge.Pass, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.hits, f.disk = c.hits, c.disk
			res, out := play(t, f, "steps: ["+c.steps+"]", Options{})
			if got := res.Files[0]; got.Status != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %s %q, want %s %q\n%s", got.Status, got.Reason, c.want, c.reason, out)
			}
		})
	}
}
