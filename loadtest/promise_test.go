package loadtest

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// someDocs describe the command's 200 and 409, but not its 504.
const someDocs = `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/device/v1/devices/{id}/commands":{"post":{"responses":{
	"200":{"description":"","content":{"application/json":{"schema":{"type":"object","required":["success","data"],"properties":{
		"data":{"type":"object","required":["outcome"],"properties":{"outcome":{"type":"string","enum":["reported"]}}}}}}}},
	"409":{"description":"","content":{"application/json":{"schema":{"type":"object","required":["error","nowhere"]}}}}}}}}}`

func TestAnswersAreHeldAgainstTheDocuments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, docs, want string
		work             func(int) (int, string)
		validated        int64
		breaches         int64
	}{
		{"all fit", someDocs, "", func(int) (int, string) { return 200, "" }, 20, 0},
		{"an undocumented status", someDocs, "answered with 504: the document has no such status", func(n int) (int, string) {
			if n == 7 {
				return 504, vocab.NoResponse
			}
			return 200, ""
		}, 20, 1},
		{"a missing field", someDocs, "nowhere", func(int) (int, string) { return 409, vocab.Offline }, 20, 20},
		{"no documents", "", "", func(int) (int, string) { return 504, vocab.NoResponse }, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.work, f.docs = c.work, c.docs
				target, o := bubble(f)
				res := must.Get(Run(t.Context(), target, mustParse(t, "rate: 10/s\nduration: 2s\n"), o))(t)
				if res.Validated != c.validated || res.Breaches != c.breaches || (res.Verdict == Pass) != (c.breaches == 0) {
					t.Errorf("%s: got %d breaches of %d checked, %v; want %d of %d", res.Verdict, res.Breaches, res.Validated, res.Reasons, c.breaches, c.validated)
				}
				if code := res.ExitCode(); code != map[bool]int{true: 4, false: 0}[c.breaches > 0] {
					t.Errorf("%s: exit %d with %d breaches, want 4 for any: 99 means that only a threshold is broken", res.Verdict, code, res.Breaches)
				}
				if !strings.Contains(res.FirstBreach, c.want) || c.breaches > 0 && !strings.Contains(res.Text(), c.want) {
					t.Errorf("first %q, want %q", res.FirstBreach, c.want)
				}
			})
		})
	}
}
