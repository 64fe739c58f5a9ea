package contract

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

const shaped = `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/doors":{"get":{"responses":{
	"200":{"description":"","content":{"application/json":{"schema":{"type":"object","properties":{
		"data":{"type":"array","items":{"allOf":[{"type":"object","properties":{"id":{"type":"string"}}},{"type":"object","properties":{"name":{"type":"string"}}}]}},
		"channels":{"type":"object","additionalProperties":{"type":"string"}},"anything":{"type":"object"}}}}}},
	"404":{"description":"","content":{"application/json":{"schema":{"type":"object","properties":{"error":{"type":"string"}}}}}}}}},
	"/page":{"get":{"responses":{"200":{"description":"","content":{"text/html":{"schema":{"type":"string"}}}}}}}}}`

// TestField: a field can exist if any answer has it, or if the document leaves the object open.
func TestField(t *testing.T) {
	t.Parallel()
	c := must.Get(Of("", []byte(shaped)))(t)
	for _, x := range []struct {
		path  string
		field []any
		may   bool
		at    int
		known []string
	}{
		{"/doors", []any{"data", 0, "id"}, true, 0, nil},
		{"/doors", []any{"data", 0, "name"}, true, 0, nil},
		{"/doors?limit=1", []any{"data", 0, "nam"}, false, 2, []string{"id", "name"}},
		{"/doors", []any{"data", "id"}, false, 1, nil},
		{"/doors", []any{"error"}, true, 0, nil},
		{"/doors", []any{"details"}, false, 0, []string{"anything", "channels", "data", "error"}},
		{"/doors", []any{"error", "code"}, false, 1, nil},
		{"/doors", []any{"channels", "7"}, true, 0, nil},
		{"/doors", []any{"anything", "else"}, true, 0, nil},
		{"/page", []any{"data"}, true, 0, nil},
		{"/nowhere", []any{"data"}, true, 0, nil},
	} {
		may, at, known := c.Field("GET", x.path, x.field)
		slices.Sort(known)
		if may != x.may || at != x.at || !slices.Equal(known, x.known) {
			t.Errorf("%s %v: got %t at %d, known %v; want %t at %d, known %v", x.path, x.field, may, at, known, x.may, x.at, x.known)
		}
	}
}
