package inbox

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/doorlab/doorlab/internal/must"
)

// TestCopiedMethod: HTTP lets a client make up a method. In a shell it stays one word, and in a scenario one text.
func TestCopiedMethod(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"PATCH", "X|sh", "X&sh", "X'", "`sh`", "$HOME", "#", "*", "!", "null"} {
		e := &Entry{Method: method, Path: "/anything", Status: 404, Code: "not_found"}
		out := must.Get(exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(e.Curl("http://x"), "curl", "printf '%s\\n'", 1)).Output())(t)
		if want := "-sS\n-X\n" + method + "\nhttp://x/anything\n"; string(out) != want {
			t.Errorf("as curl, the shell reads %q, want %q", out, want)
		}
		var steps []struct{ Call struct{ Method any } }
		if err := yaml.Unmarshal([]byte(e.Step(Site{})), &steps); err != nil || len(steps) != 1 || steps[0].Call.Method != method {
			t.Errorf("%s as a step: %v, %v", method, steps, err)
		}
	}
}

// TestCopiedCommand: what a client gives as a command may be any text.
func TestCopiedCommand(t *testing.T) {
	t.Parallel()
	const command = "open\n- wait: 1h # ${now}"
	e := &Entry{Method: "POST", Route: "/device/v1/devices/{id}/commands", DoorID: "dor_1", IdempotencyKey: "k", Status: 429,
		Request: `{"capability":"door","command":"open\n- wait: 1h # ${now}"}`}
	var steps []struct{ Command struct{ Command string } }
	if err := yaml.Unmarshal([]byte(e.Step(Site{Doors: []string{"dor_1"}})), &steps); err != nil || len(steps) != 1 || steps[0].Command.Command != strings.Replace(command, "${", "$${", 1) {
		t.Errorf("as a step: %+v, %v", steps, err)
	}
}

// TestFileIsNamed: a scenario is named after its route or, if no operation has the path, after the path.
func TestFileIsNamed(t *testing.T) {
	t.Parallel()
	for route, want := range map[string]string{"/device/v1/devices/{id}": "GET /device/v1/devices/{id} answers 404", "other": "GET /device/v1/nope answers 404"} {
		e := &Entry{Method: "GET", Route: route, Path: "/device/v1/nope?a=1", Status: 404, Token: "x"}
		if got := e.File(Site{Kind: "test"}); !strings.HasPrefix(got, `name: "`+want+"\"\n") {
			t.Errorf("route %s: got %q, want it named %q", route, got, want)
		}
	}
}
