package engine

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// TestHeldDoorsAreClosed: on a shared target a door that a command may hold is closed when the file ends, whatever was
// answered, unless the answer says that nothing was done; and a close that isn't carried out is told.
func TestHeldDoorsAreClosed(t *testing.T) {
	t.Parallel()
	const none = 0 // the connection just ends
	for name, c := range map[string]struct {
		held, closed int // statuses of the answers
		asked        bool
		trouble      string
	}{
		"held":                {200, 200, true, ""},
		"perhaps held":        {504, 200, true, ""},
		"answered by nobody":  {none, 200, true, ""},
		"nothing was done":    {409, 200, false, ""},
		"it can't be closed":  {200, 409, true, "door dor_1 may still be held: closing it: 409"},
		"nor this one either": {504, 504, true, "door dor_1 may still be held: closing it: 504"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, closes := newFake(t), 0
			f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/commands") {
					return false
				}
				body, _ := io.ReadAll(r.Body)
				status := c.held
				if strings.Contains(string(body), "close") {
					status = c.closed
					closes++
				}
				if status == none {
					panic(http.ErrAbortHandler)
				}
				say(w, status, m{"data": m{"outcome": "reported"}, "error": "store_unreachable"})
				return true
			})
			target := f.target()
			target.Marks = []history.Position{{}}
			res := must.Get(Run(t.Context(), target, []*File{parse(t, `steps: [{command: {door: dor_1, command: hold, minutes: 5, status: `+fmt.Sprint(cmp.Or(c.held, 200))+`}}]`)}, Options{}))(t)
			if (closes > 0) != c.asked || !strings.Contains(res.Trouble, c.trouble) || (c.trouble == "") != (res.Trouble == "") {
				t.Errorf("%d closes, trouble %q; want closes %v and trouble %q", closes, res.Trouble, c.asked, c.trouble)
			}
		})
	}
}

// TestPutBackAgain: what couldn't be put back at first is tried once more after everything else.
func TestPutBackAgain(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]string{1: "", 2: "503"} {
		f, asked := newFake(t), 0
		f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/revoke") {
				return false
			}
			asked++
			say(w, map[bool]int{true: 503, false: 200}[asked <= failures], m{"data": m{}, "error": "storage_unavailable"})
			return true
		})
		target := f.target()
		target.Marks = []history.Position{{}}
		res, out := playOn(t, target, `{setup: [{cohort: {name: c}}], steps: [{permit: {person: bob, place: c}}]}`, Options{})
		if asked != 2 || (res.Trouble == "") != (want == "") || !strings.Contains(res.Trouble, want) {
			t.Errorf("%d failures: asked %d times, trouble %q; want 2 and %q\n%s", failures, asked, res.Trouble, want, out)
		}
	}
}
