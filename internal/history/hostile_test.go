package history

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestSourceOutOfRange: checkers count clocks by the number of their source, so a history with an impossible one is
// refused.
func TestSourceOutOfRange(t *testing.T) {
	t.Parallel()
	for src, ok := range map[int]bool{0: true, mostSources: true, -1: false, mostSources + 1: false, 2_000_000_000: false} {
		line := must.Get(json.Marshal(Event{Kind: Label, Src: src}))(t)
		var whole bytes.Buffer
		must.OK(t, Write(&whole, []Event{{Kind: Label, Src: src}}))
		_, err := Read(&whole)
		switch {
		case ok && err != nil:
			t.Errorf("%s: got %v, want no error", line, err)
		case !ok && (err == nil || !strings.Contains(err.Error(), "line 1: src ")):
			t.Errorf("%s: got %v, want an error that names the line and src", line, err)
		}
	}
}
