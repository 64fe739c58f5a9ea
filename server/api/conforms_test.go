package api

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/fail"
)

var brace = regexp.MustCompile(`\\\{[^}]*\\\}`)

// operationOf finds the operation of a request in the documents.
func (a *api) operationOf(method, path string) (*openapi.Operation, *openapi3.Operation) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path, _, _ = strings.Cut(path, "?")
	for _, d := range a.docs {
		for _, op := range d.Ops {
			re := regexp.MustCompile("^" + brace.ReplaceAllString(regexp.QuoteMeta(op.Path), "[^/]+") + "$")
			if op.Method == method && re.MatchString(path) && (strings.Contains(op.Path, "{") || op.Path == path) {
				if op.Path != path && a.literal(method, path) {
					continue
				}
				return op, d.Doc.Paths.Value(op.Path).GetOperation(op.Method)
			}
		}
	}
	return nil, nil
}

func (a *api) literal(method, path string) bool {
	for _, d := range a.docs {
		if p := d.Doc.Paths.Value(path); p != nil && p.GetOperation(method) != nil {
			return true
		}
	}
	return false
}

// conforms checks an answer's status, code and body against its document.
func (h *house) conforms(q request, r response) {
	h.t.Helper()
	at := q.method + " " + q.path
	if r.Header().Get("X-Request-Id") == "" {
		h.t.Errorf("%s: the answer has no X-Request-Id", at)
	}
	if r.Code >= 400 && r.json != nil {
		if _, ok := r.json["message"].(string); !ok || r.json["statusCode"] != float64(r.Code) || fail.Status(r.code()) != r.Code {
			h.t.Errorf("%s: the envelope %s lacks a message, or its statusCode or code doesn't match the status", at, r.Body)
		}
		if m, _ := r.json["message"].(string); strings.Contains(m, "\n") || m == "" {
			h.t.Errorf("%s: got message %q, want one line", at, m)
		}
	}
	op, o := h.api.operationOf(q.method, q.path)
	if op == nil || r.code() == "method_not_allowed" || r.code() == "endpoint_removed" {
		return
	}
	doc := o.Responses.Value(strconv.Itoa(r.Code))
	if doc == nil {
		h.t.Errorf("%s: status %d isn't in the document: %s", at, r.Code, r.Body)
		return
	}
	if r.code() != "" && !slices.Contains(op.Codes, r.code()) {
		h.t.Errorf("%s: code %s isn't in the document", at, r.code())
	}
	kind, _, _ := strings.Cut(r.Header().Get("Content-Type"), ";")
	media := doc.Value.Content[kind]
	if media == nil {
		h.t.Errorf("%s: for status %d the document has no %s", at, r.Code, kind)
		return
	}
	if r.json != nil {
		if err := media.Schema.Value.VisitJSON(r.json, openapi3.VisitAsResponse(), openapi3.MultiErrors()); err != nil {
			h.t.Errorf("%s: %.500s\n%s", at, err, r.Body)
		}
	}
}
