package openapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/contract"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/must"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	count := map[On]int{}
	for _, on := range []On{All, Server, Fleet} {
		doc, err := Load(on)
		if err != nil {
			t.Fatalf("%q: %v", on, err)
		}
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				count[on]++
				if op.Summary == "" || op.OperationID == "" || len(op.Tags) != 1 {
					t.Errorf("%s %s: want a summary, an operationId and one tag, got %q %q %v", method, path, op.Summary, op.OperationID, op.Tags)
				}
			}
		}
	}
	if count[All] != count[Server]+1 || count[Fleet] >= count[Server] {
		t.Errorf("operations by listener: got %v, want one that only a fleet has", count)
	}
	b, err := JSON(Fleet)
	if err != nil || !strings.Contains(string(b), `"introduceServer"`) || strings.Contains(string(b), `"createKey"`) {
		t.Errorf("JSON of a fleet: %v, want introduceServer without createKey in %.200s", err, b)
	}
}

// TestTakes: the listeners take the queries and bodies that the document has, and no others.
func TestTakes(t *testing.T) {
	t.Parallel()
	doc := must.Get(Load(All))(t)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			want := control.Takes{Body: op.RequestBody != nil}
			for _, p := range op.Parameters {
				if p.Value.In == "query" {
					want.Query = append(want.Query, p.Value.Name)
				}
			}
			if got := control.TakesOf(method, path); got.Body != want.Body || !slices.Equal(got.Query, want.Query) {
				t.Errorf("%s %s: takes %+v, want %+v", method, path, got, want)
			}
		}
	}
}

// TestMisfitIsNoticed: an answer with a different status, an extra or missing field, or a field of another type
// doesn't match.
func TestMisfitIsNoticed(t *testing.T) {
	t.Parallel()
	raw := must.Get(JSON(Server))(t)
	says := must.Get(contract.Of(control.Prefix, raw))(t)
	const clock = `{"success":true,"data":{"now":"2026-01-01T00:00:00.000Z","mode":"virtual","state":"ready","wallNs":1}}`
	for body, fits := range map[string]bool{
		clock: true,
		strings.Replace(clock, `"mode"`, `"fast":true,"mode"`, 1): false,
		strings.Replace(clock, `"state":"ready"`, `"x":1`, 1):     false,
		strings.Replace(clock, `"virtual"`, `"fast"`, 1):          false,
		strings.Replace(clock, `}}`, `},"total":1}`, 1):           false,
	} {
		checked, err := says.Check(http.MethodGet, control.Prefix+"/clock", http.StatusOK, "application/json; charset=utf-8", []byte(body))
		if !checked || (err == nil) != fits {
			t.Errorf("%s: checked %v, %v; want it to fit: %v", body, checked, err, fits)
		}
	}
	if _, err := says.Check(http.MethodGet, control.Prefix+"/clock", http.StatusTeapot, "application/json", nil); err == nil {
		t.Error("a status that the document doesn't name: got no error, want one")
	}
}
