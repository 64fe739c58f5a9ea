package loadtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestStageWithoutRequests: a stage in which nothing was due has a list of no outcomes, as the schema of results says.
func TestStageWithoutRequests(t *testing.T) {
	t.Parallel()
	p := Plan{Stages: []Stage{{Rate: 20, Duration: Duration(1e9)}, {Duration: Duration(1e9)}}}
	raw := must.Get(json.Marshal(p.stageResults(newCollector())[1]))(t)
	if !strings.Contains(string(raw), `"outcomes":[]`) {
		t.Errorf("got %s, want an empty list of outcomes", raw)
	}
}
