package faults_test

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/faults"
)

// TestHint: Toxiproxy's names lead to the faults that are like them, in a hint and in what the control API answers.
func TestHint(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"latency": ` ("slow" delays the board, "lossy" with delayMs the line)`, "offlin": `, did you mean "offline"?`, "xyzzy": "",
	} {
		if got := faults.Hint(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		said := faults.Asked{Fault: name}.Problems()[0].Error()
		if !strings.HasPrefix(said, `"`+name+`" is not a valid fault`+want) {
			t.Errorf("%s: a request is answered %q", name, said)
		}
	}
}
