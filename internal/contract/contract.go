// Package contract checks answers against the OpenAPI documents that a target publishes, so that every scenario and
// every load notices a service that doesn't answer as documented.
package contract

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// subServices publish one document each, at /{sub-service}/v1/openapi.json.
var subServices = []string{"core", "space", "device"}

// MaxDocument bounds a document, in bytes.
const MaxDocument = 8 << 20

// Contract is what a target's documents promise. A nil Contract promises nothing.
type Contract struct{ routes []route }

type route struct {
	segments   []string
	operations map[string]*openapi3.Operation // by method
}

// Read asks the target for its documents. fetch returns the body of a 200. The error names each document that can't be
// read: its sub-service's answers would go unchecked, so a run with an error must not count as passed. The contract
// holds whatever could be read.
func Read(fetch func(path string) ([]byte, error)) (*Contract, error) {
	c := &Contract{}
	var unread []error
	for _, sub := range subServices {
		at := "/" + sub + "/v1/openapi.json"
		raw, err := fetch(at)
		if err != nil {
			unread = append(unread, fmt.Errorf("%s: %w", at, err))
			continue
		}
		if err := c.add("", raw); err != nil {
			unread = append(unread, fmt.Errorf("%s is not an OpenAPI document: %w", at, err))
		}
	}
	return c, errors.Join(unread...)
}

// Of is the contract of one document, whose paths are under prefix.
func Of(prefix string, document []byte) (*Contract, error) {
	c := &Contract{}
	return c, c.add(prefix, document)
}

func (c *Contract) add(prefix string, raw []byte) error {
	doc, err := read.document(raw)
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		return errors.New(why)
	}
	for path, item := range doc.Paths.Map() {
		c.routes = append(c.routes, route{strings.Split(prefix+path, "/"), item.Operations()})
	}
	return nil
}

// documents caches parsed ones: consecutive runs have targets with the same documents, and parsing them is half the
// work of a short run.
type documents struct {
	mu sync.Mutex
	by map[[sha256.Size]byte]*openapi3.T
}

var read documents

// most is how many documents are cached; beyond that, the cache starts over.
const most = 16

func (d *documents) document(raw []byte) (*openapi3.T, error) {
	sum := sha256.Sum256(raw)
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc := d.by[sum]; doc != nil {
		return doc, nil
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err == nil && doc.Paths == nil {
		err = errors.New("no paths")
	}
	if err != nil {
		return nil, err
	}
	if len(d.by) >= most || d.by == nil {
		d.by = map[[sha256.Size]byte]*openapi3.T{}
	}
	d.by[sum] = doc
	return doc, nil
}

// find returns the operation of a path or route; a literal segment wins over a parameter.
func (c *Contract) find(method, path string) *openapi3.Operation {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	var found *openapi3.Operation
	best := -1
	for _, r := range c.routes {
		if n := r.match(segments); n > best && r.operations[method] != nil {
			found, best = r.operations[method], n
		}
	}
	return found
}

// match counts equal segments; -1 if the path doesn't match.
func (r route) match(segments []string) (equal int) {
	if len(r.segments) != len(segments) {
		return -1
	}
	for i, s := range r.segments {
		switch {
		case s == segments[i]:
			equal++
		case !strings.HasPrefix(s, "{") || segments[i] == "":
			return -1
		}
	}
	return equal
}

// Check checks one answer against the document: its status, content type and body. checked is false for paths and
// methods that no document has. Safe for concurrent use.
func (c *Contract) Check(method, path string, status int, contentType string, body []byte) (checked bool, err error) {
	if c == nil {
		return false, nil
	}
	op := c.find(method, path)
	if op == nil {
		return false, nil
	}
	if err := breach(op, status, contentType, body); err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		return true, fmt.Errorf("%s %s was answered with %d: %s", method, hide(path), status, why)
	}
	return true, nil
}

// hide removes a query, which may hold a token.
func hide(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return ""
	}
	return u.Path
}

// milliseconds is the one form of times in answers: UTC with three decimals, see docs/decisions.md.
var milliseconds = openapi3.NewRegexpFormatValidator(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

func breach(op *openapi3.Operation, status int, contentType string, body []byte) error {
	r := op.Responses.Status(status)
	if r == nil || r.Value == nil {
		return errors.New("the document has no such status")
	}
	if len(r.Value.Content) == 0 && len(body) == 0 {
		return nil
	}
	media := r.Value.Content.Get(contentType)
	if media == nil {
		return fmt.Errorf("the document has no content of type %q for it", contentType)
	}
	if media.Schema == nil || !strings.Contains(contentType, "json") {
		return nil
	}
	var v any
	if json.Unmarshal(body, &v) != nil {
		return errors.New("the body is not JSON")
	}
	as := []openapi3.SchemaValidationOption{openapi3.VisitAsResponse()}
	if _, ours := op.Extensions[scopeOf]; ours {
		as = append(as, openapi3.WithStringFormatValidator("date-time", milliseconds))
	}
	return media.Schema.Value.VisitJSON(v, as...)
}
