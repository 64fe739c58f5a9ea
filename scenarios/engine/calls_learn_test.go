package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestNumbersAreLearned: whatever number the run has sent, as a person's or a caller's and in however long a body, is a leak if
// an answer has it in full.
func TestNumbersAreLearned(t *testing.T) {
	t.Parallel()
	const number = "01012345678" // in the answers to /echo
	for name, step := range map[string]string{
		"a caller":         `phone: {from: "` + number + `", to: "05012345678", answered: true, result: denied}`,
		"a caller by hand": `control: {path: /people/call, body: {from: "` + number + `", to: "05012345678"}}`,
		"at a reader":      `present: {phone: "` + number + `", door: dor_1, result: denied}`,
		"a long body":      `call: {path: /echo, body: {items: [{phone: "` + number + `", name: "` + strings.Repeat("n", 70_000) + `"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, leaks := &sink{}, 0
			_, out := play(t, newFake(t), "steps: [{"+step+"}, {call: {path: /echo}, expect: data.n == 3}]", Options{Sink: s.of(history.Call)})
			for _, e := range s.kept {
				var c history.CallText
				if json.Unmarshal([]byte(e.Text), &c) == nil && e.Route == "/echo" && e.Method == "GET" {
					leaks += c.Leaks
				}
			}
			if leaks != 1 {
				t.Errorf("%d leaks, want the one in the answer\n%s", leaks, out[max(0, len(out)-2000):])
			}
		})
	}
}
