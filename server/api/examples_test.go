package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestExamples runs the documents' examples as the reference pages fill them in for a reader on this machine. Each
// request succeeds unchanged, and the answer has the fields of the example response. Every operation has an example.
func TestExamples(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fixtures()
	h.tick(time.Minute)
	try := h.api.tryOut(Example{Key: h.keys["key_a"], PlaceID: "plc_a", DoorID: "dor_1", BoardID: "brd_a", Now: h.clk.Now()})
	ran := 0
	for _, d := range h.api.docs {
		for _, op := range d.Ops {
			o := d.Doc.Paths.Value(op.Path).GetOperation(op.Method)
			q := request{method: op.Method, path: op.Path}
			if op.Scope != "none" {
				q.token = "key_a"
			}
			for _, p := range o.Parameters {
				value := try.Known[p.Value.Name]
				switch p.Value.In {
				case "path":
					q.path = strings.Replace(q.path, "{"+p.Value.Name+"}", value, 1)
				case "header":
					q.key = "example-" + op.ID
				case "query":
					if p.Value.Required {
						q.path += "?" + p.Value.Name + "=" + value
					}
				}
			}
			if o.RequestBody != nil {
				m := o.RequestBody.Value.Content[typeJSON]
				if m.Example == nil {
					t.Errorf("%s: the document has no example of a request", op.ID)
					continue
				}
				q.body = try.filled(string(must.Get(json.Marshal(m.Example))(t)))
			}
			if m := o.Responses.Value("200").Value.Content["text/html"]; m != nil && o.Responses.Value("200").Value.Content[typeJSON] != nil {
				q.header = map[string]string{"Accept": typeJSON}
			}
			r := h.want(200, "", q)
			ran++
			m := o.Responses.Value("200").Value.Content[typeJSON]
			if m == nil || strings.HasSuffix(op.Path, "/openapi.json") {
				continue
			}
			if m.Example == nil {
				t.Errorf("%s: the document has no example of an answer", op.ID)
				continue
			}
			if missing := lacks("", m.Example, r.json); missing != nil && !slices.Contains([]string{"listRecords", "listEvents"}, op.ID) {
				t.Errorf("%s: the example shows %v, which the answer lacks: %s", op.ID, missing, r.Body)
			}
		}
	}
	t.Logf("%d examples", ran)
}

// lacks lists the fields that an example has but an answer lacks. For lists the first items are compared, if there
// are any.
func lacks(at string, example, answer any) (out []string) {
	switch e := example.(type) {
	case map[string]any:
		a, _ := answer.(map[string]any)
		if a == nil || at == ".data.channels" {
			return nil // null, or an object whose keys are data
		}
		for k, v := range e {
			w, ok := a[k]
			if !ok {
				out = append(out, at+"."+k)
				continue
			}
			out = append(out, lacks(at+"."+k, v, w)...)
		}
	case []any:
		if a, _ := answer.([]any); len(e) > 0 && len(a) > 0 {
			return lacks(at+"[]", e[0], a[0])
		}
	}
	slices.Sort(out)
	return out
}
