package api

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/fail"
)

// serveDocument serves a document with the configured address as its server, else with a relative one: the Host header
// is the caller's to choose.
func serveDocument(name string) handler {
	return func(c *call) (any, error) {
		d := c.api.document(name)
		quoted, _ := json.Marshal(cmp.Or(strings.TrimSuffix(c.api.cfg.BaseURL, "/"), "/"))
		body := bytes.Replace(d.JSON, []byte(`"`+openapi.ServerURL+`"`), quoted, 1)
		c.w.Header().Set("Cache-Control", "no-cache")
		c.w.Header().Set("Access-Control-Allow-Origin", "*")
		return answer{status: http.StatusOK, kind: typeJSON, body: body}, nil
	}
}

func (a *api) document(name string) *openapi.Document {
	return a.docs[slices.Index(openapi.Names, name)]
}

// Scalar, vendored, draws the reference: see pages/scalar/README.md.
const (
	scalarVersion = "1.72.1"
	scalarPath    = "/docs/assets/scalar-" + scalarVersion + ".js"
)

var (
	scalarGzip = []byte(mustFile("pages/scalar/standalone.js.gz"))
	// scalarPlain is unpacked once, when the first client without gzip asks for it.
	scalarPlain = sync.OnceValues(func() ([]byte, error) {
		z, err := gzip.NewReader(bytes.NewReader(scalarGzip))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	})
	docsJS = mustFile("pages/docs.js")
)

// serveDocs serves a document as a page: drawn by Scalar, or plain if JavaScript is off.
func serveDocs(name string) handler {
	return func(c *call) (any, error) {
		v := viewOf(c.api.document(name))
		v.JS, v.Script = template.JS(docsJS), scalarPath
		if c.local() && c.api.cfg.Example != nil {
			v.fill(c.api.tryOut(c.api.cfg.Example()))
			if t, err := c.api.cfg.Keys.Issue(v.Key); err == nil { // without one, the reader exchanges the key
				v.Token = t.AccessToken
			}
		}
		a := c.show("docs.html", http.StatusOK, v)
		c.w.Header().Set("Content-Security-Policy", docsWith)
		return a, nil
	}
}

// docsWith allows our own scripts and calls to this address only. Inline styles are allowed, because Scalar writes them
// as it draws; they can't load anything from elsewhere.
var docsWith = "default-src 'none'; script-src 'self' '" + hashOf(docsJS) + "'; style-src 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// serveScalar serves the script. Its address contains its version, so it may be cached for good.
func serveScalar(c *call) (any, error) {
	h := c.w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := scalarGzip
	if q, _ := quality(strings.Join(c.r.Header.Values("Accept-Encoding"), ","), "gzip"); q > 0 {
		h.Set("Content-Encoding", "gzip")
	} else {
		plain, err := scalarPlain()
		if err != nil {
			return nil, err
		}
		body = plain // shared, so slow readers don't hold copies
	}
	return answer{status: http.StatusOK, kind: "text/javascript; charset=utf-8", body: body}, nil
}

type docsView struct {
	CSS, MenuCSS             template.CSS
	Menu                     []string // the documents' names
	JS                       template.JS
	Script                   string
	Name, Title, Description string
	Operations               []docsOperation
	tryOut
	Token string // of its key; "" = none
}

// fill completes the requests for readers on this machine: they succeed as they stand.
func (v *docsView) fill(t tryOut) {
	v.tryOut = t
	for i := range v.Operations {
		v.Operations[i].Request = t.filled(v.Operations[i].Request)
	}
}

type docsOperation struct {
	ID, Method, Path, Summary, Description, Scope string
	Deprecated                                    bool
	Parameters, Fields                            []docsField
	Request, Response                             string
	Failures                                      []docsFailure
}

type docsField struct {
	Name, In, Type, Description string
	Required                    bool
}

type docsFailure struct {
	Status int
	Codes  []string
}

func viewOf(d *openapi.Document) docsView {
	v := docsView{CSS: template.CSS(docsCSS), MenuCSS: template.CSS(docsMenuCSS), Menu: openapi.Names, Name: d.Name, Title: d.Doc.Info.Title, Description: d.Doc.Info.Description}
	for _, op := range d.Ops {
		o := d.Doc.Paths.Value(op.Path).GetOperation(op.Method)
		x := docsOperation{ID: op.ID, Method: op.Method, Path: op.Path, Summary: o.Summary, Description: o.Description, Scope: op.Scope, Deprecated: o.Deprecated}
		for _, p := range o.Parameters {
			x.Parameters = append(x.Parameters, docsField{Name: p.Value.Name, In: p.Value.In, Type: typeOf(p.Value.Schema), Description: p.Value.Description, Required: p.Value.Required})
		}
		if o.RequestBody != nil {
			m := o.RequestBody.Value.Content[typeJSON]
			x.Fields, x.Request = fields("", m.Schema.Value), example(m)
		}
		x.Response = example(o.Responses.Value("200").Value.Content[typeJSON])
		for status, codes := range each.By(op.Codes, fail.Status) {
			x.Failures = append(x.Failures, docsFailure{status, codes})
		}
		slices.SortFunc(x.Failures, func(a, b docsFailure) int { return a.Status - b.Status })
		v.Operations = append(v.Operations, x)
	}
	return v
}

// fields flattens the properties of a body: args.minutes.
func fields(prefix string, s *openapi3.Schema) (out []docsField) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		out = append(out, docsField{Name: prefix + name, Type: typeOf(p), Description: p.Value.Description, Required: slices.Contains(s.Required, name)})
		if len(p.Value.Properties) > 0 && p.Ref == "" {
			out = append(out, fields(prefix+name+".", p.Value)...)
		}
	}
	return out
}

func typeOf(ref *openapi3.SchemaRef) string {
	s := ref.Value
	var kind string
	if s.Type != nil {
		kind = strings.Join(s.Type.Slice(), " ")
	}
	switch {
	case len(s.Enum) > 0:
		kind = strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", " | "), "[]")
	case s.Format != "":
		kind = s.Format
	case s.Min != nil && s.Max != nil:
		kind += fmt.Sprintf(" %g..%g", *s.Min, *s.Max)
	}
	return kind
}

func example(m *openapi3.MediaType) string {
	if m == nil || m.Example == nil {
		return ""
	}
	b, _ := json.MarshalIndent(m.Example, "", "  ")
	return string(b)
}
