package loadtest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// TestChangedResultsAreRefused: a result.json with other content than what was written isn't read, so it is neither judged nor
// merged. Other formatting changes nothing, and a load that judged no history needs no digest.
func TestChangedResultsAreRefused(t *testing.T) {
	t.Parallel()
	whole, none := history.Summary{Count: 5}, (*history.Summary)(nil)
	swap := func(old, new string) func([]byte) []byte {
		return func(raw []byte) []byte {
			if !bytes.Contains(raw, []byte(old)) {
				t.Errorf("result.json lacks %s, which is to be changed", old)
			}
			return bytes.Replace(raw, []byte(old), []byte(new), 1)
		}
	}
	noDigest := func(raw []byte) []byte {
		var all map[string]any
		must.OK(t, json.Unmarshal(raw, &all))
		delete(all, "digest")
		return must.Get(json.Marshal(all))(t)
	}
	for name, c := range map[string]struct {
		judged *history.Summary
		change func([]byte) []byte
		want   string // "" = it is read
	}{
		"as written":            {&whole, func(raw []byte) []byte { return raw }, ""},
		"formatted":             {&whole, func(raw []byte) []byte { b := bytes.Buffer{}; must.OK(t, json.Compact(&b, raw)); return b.Bytes() }, ""},
		"a verdict":             {&whole, swap(`"verdict": "FAIL"`, `"verdict": "PASS"`), "was changed after the run"},
		"a threshold":           {&whole, swap(`"ok": false`, `"ok": true`), "was changed after the run"},
		"no digest":             {&whole, noDigest, "has no digest"},
		"a count":               {none, swap(`"sent": 7`, `"sent": 8`), "was changed after the run"},
		"no digest, not judged": {none, noDigest, ""},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		must.OK(t, os.Mkdir(dir, 0o700))
		res := Result{Verdict: Fail, Sent: 7, Guarantees: &Guarantees{History: c.judged}, Thresholds: []Threshold{{Name: "p99", Limit: "100 ms", Value: "2 s"}}}
		must.OK(t, res.Write(dir))
		path := filepath.Join(dir, "result.json")
		must.OK(t, os.WriteFile(path, c.change(must.Get(os.ReadFile(path))(t)), 0o600))
		got, err := ReadResult(dir)
		switch {
		case c.want == "" && (err != nil || got.Sent != 7 || got.Digest != ""):
			t.Errorf("%s: got %+v, %v, want what was written", name, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want an error that says %q", name, err, c.want)
		}
	}
}
