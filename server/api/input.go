package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/doorlab/doorlab/server/rule"
)

// object is a checked JSON object: the getters never fail, what is absent or
// null is the zero value.
type object map[string]any

func (o object) str(name string) string { s, _ := o[name].(string); return s }
func (o object) num(name string) int    { n, _ := o[name].(float64); return int(n) }
func (o object) obj(name string) object { m, _ := o[name].(map[string]any); return m }

// text is nil for a field that is absent or null.
func (o object) text(name string) *string {
	if s, ok := o[name].(string); ok {
		return &s
	}
	return nil
}

// at is nil for a time that is absent or null.
func (o object) at(name string) *time.Time {
	if s, ok := o[name].(string); ok {
		if t, err := rule.ParseTime(name, s); err == nil {
			return &t
		}
	}
	return nil
}

// texts is nil for a list that is absent or null.
func (o object) texts(name string) []string {
	l, ok := o[name].([]any)
	if !ok {
		return nil
	}
	out := make([]string, 0, len(l))
	for _, v := range l {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

// readParams checks headers, then the query.
func (c *call) readParams() error {
	if len(c.op.params) == 0 {
		return nil
	}
	c.query = object{}
	var values url.Values
	for _, p := range c.op.params {
		given := c.r.Header.Values(p.name)
		if p.in == "query" {
			if values == nil {
				var err error
				if values, err = url.ParseQuery(c.r.URL.RawQuery); err != nil {
					return rule.New(malformed(p), "the query string is malformed")
				}
			}
			given = values[p.name]
		}
		if err := c.readParam(p, given); err != nil {
			return err
		}
	}
	return nil
}

func malformed(p *param) string {
	if p.code == rule.LinkInvalid {
		return p.code
	}
	return rule.InvalidQuery
}

func (c *call) readParam(p *param, given []string) error {
	if len(given) == 0 || p.in == "header" && given[0] == "" {
		if p.required {
			return rule.New(p.code, p.name+" is required", "field", p.name)
		}
		if p.shape.def != nil {
			c.query[p.name] = p.shape.def
		}
		return nil
	}
	if len(given) > 1 && !p.list {
		return rule.New(p.shape.code, p.name+" is given more than once", "field", p.name)
	}
	v := p.value(given)
	if f := p.shape.check(v); f != nil {
		return f.in(p.name).error()
	}
	c.query[p.name] = v
	return nil
}

// value reads a parameter as its schema wants it; what cannot be read stays a
// string, and the check says so.
func (p *param) value(given []string) any {
	switch {
	case p.list:
		var l []any
		for _, g := range given {
			for s := range strings.SplitSeq(g, ",") {
				l = append(l, strings.TrimSpace(s))
			}
		}
		return l
	case p.shape.kind == "integer":
		if n, err := strconv.ParseInt(given[0], 10, 32); err == nil && given[0][0] != '+' {
			return float64(n)
		}
	case p.shape.time: // a + that was not escaped has become a space
		return strings.Replace(given[0], " ", "+", 1)
	}
	return given[0]
}

// readBody reads, decodes and checks the body.
func (c *call) readBody() error {
	b := c.op.body
	if b == nil {
		return nil
	}
	var err error
	if c.raw, err = c.readAll(b.max); err != nil {
		return err
	}
	if len(c.raw) == 0 && !b.required {
		return nil
	}
	if c.body, err = decode(c.raw, c.r.Header.Get("Content-Type"), b.form); err != nil {
		return err
	}
	if f := b.shape.check(map[string]any(c.body)); f != nil {
		return f.error()
	}
	return nil
}

func (c *call) readAll(limit int64) ([]byte, error) {
	tooLarge := rule.New(rule.BodyTooLarge, "the body is larger than "+strconv.FormatInt(limit>>10, 10)+" KiB", "maxBytes", limit)
	if c.r.ContentLength > limit {
		return nil, tooLarge
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case err != nil:
		return nil, rule.New(rule.InvalidBody, "the body could not be read")
	}
	return raw, nil
}

// decode makes an object of a body. Errors: invalid_body.
func decode(raw []byte, contentType string, form bool) (object, error) {
	kind, param, err := mime.ParseMediaType(contentType)
	switch {
	case contentType == "": // nothing said: JSON it is
	case err == nil && (kind == typeJSON || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")):
	case err == nil && form && kind == "application/x-www-form-urlencoded":
		return decodeForm(raw)
	default:
		return nil, rule.New(rule.InvalidBody, "the content type must be application/json")
	}
	switch charset := strings.ToLower(param["charset"]); {
	case charset != "" && charset != "utf-8" && charset != "utf8" && charset != "us-ascii":
		return nil, rule.New(rule.InvalidBody, "the charset must be utf-8")
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, rule.New(rule.InvalidBody, "the body is empty")
	case !utf8.Valid(raw): // else different names would become one
		return nil, rule.New(rule.InvalidBody, "the body is not UTF-8")
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, rule.New(rule.InvalidBody, "the body is not valid JSON")
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, rule.New(rule.InvalidBody, "the body must be a JSON object")
	}
	return m, nil
}

func decodeForm(raw []byte) (object, error) {
	values, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, rule.New(rule.InvalidBody, "the form is malformed")
	}
	o := object{}
	for name, v := range values {
		o[name] = v[0]
	}
	return o, nil
}
