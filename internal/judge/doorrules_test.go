package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestForeignDoorNamed: the refusal of a list of doors names those of another place.
func TestForeignDoorNamed(t *testing.T) {
	t.Parallel()
	own, foreign := doorOf("brd_1", 1), doorOf("brd_9", 1)
	for name, tc := range map[string]struct {
		doors, invalid []any
		want           bool
	}{
		"it alone":             {[]any{foreign}, []any{foreign}, false},
		"with an unknown one":  {[]any{"dor_no", foreign}, []any{"dor_no", foreign}, false},
		"only the unknown one": {[]any{"dor_no", foreign}, []any{"dor_no"}, true},
		"none":                 {[]any{foreign}, []any{}, true},
		"nothing is said":      {[]any{foreign}, nil, false},
		"an own door":          {[]any{own, "dor_no"}, []any{"dor_no"}, false},
	} {
		h := oneBoard()
		h.base("plc_b")
		h.addBoard("plc_b", "brd_9")
		c := history.CallText{In: fields{"externalRef": "x", "doorIds": tc.doors}, Out: fields{}}
		if tc.invalid != nil {
			c.Out["invalid"] = tc.invalid
		}
		h.did("plc_a", "POST", createRoute, 400, c, nil)
		if got := perm6(NewView(h.events)); (got.Status == Fail) != tc.want {
			t.Errorf("%s: PERM-6 is %s, want a breach: %t", name, got, tc.want)
		}
	}
}
