package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/doorlab/doorlab/server/fail"
)

// Query holds checked parameters. An absent one reads as the zero value.
type Query map[string]any

// Str is a string parameter.
func (q Query) Str(name string) string { s, _ := q[name].(string); return s }

// Num is an integer parameter.
func (q Query) Num(name string) int { n, _ := q[name].(float64); return int(n) }

// At is a time parameter.
func (q Query) At(name string) time.Time {
	t, _ := fail.ParseTime(name, q.Str(name)) // checked already; zero when absent
	return t
}

// Strs is a list parameter; nil when absent.
func (q Query) Strs(name string) []string {
	l, _ := q[name].([]any)
	var out []string
	for _, v := range l {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

// ReadParams checks headers, then the query. Errors (*fail.Error): the codes of
// the parameters.
func (op *Operation) ReadParams(header http.Header, rawQuery string) (Query, error) {
	if len(op.Params) == 0 {
		return nil, nil
	}
	out := Query{}
	var values url.Values
	for _, p := range op.Params {
		given := header.Values(p.Name)
		if p.In == "query" {
			if values == nil {
				var err error
				if values, err = url.ParseQuery(rawQuery); err != nil {
					return nil, fail.New(malformed(p), "the query string is malformed")
				}
			}
			given = values[p.Name]
		}
		v, err := p.read(given)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out[p.Name] = v
		}
	}
	return out, nil
}

func malformed(p *Param) string {
	if p.code == fail.LinkInvalid {
		return p.code
	}
	return fail.InvalidQuery
}

// purpose says of a parameter that is missing what to give, where its name doesn't say it.
var purpose = map[string]string{fail.IdempotencyKeyMissing: ": a new value for each command, and the same value to repeat one"}

// read checks what was given for a parameter; nil = absent.
func (p *Param) read(given []string) (any, error) {
	if len(given) == 0 || p.In == "header" && given[0] == "" {
		if p.required {
			return nil, fail.New(p.code, p.Name+" is required"+purpose[p.code], "field", p.Name)
		}
		return p.shape.def, nil
	}
	if len(given) > 1 && !p.list() {
		return nil, fail.New(p.shape.code, p.Name+" is given more than once", "field", p.Name)
	}
	v := p.value(given)
	if f := p.shape.check(v); f != nil {
		return nil, f.in(p.Name).error()
	}
	return v, nil
}

// value parses a parameter by its schema; what can't be parsed stays a string, which the check rejects.
func (p *Param) value(given []string) any {
	switch {
	case p.list():
		var l []any
		for _, g := range given {
			for s := range strings.SplitSeq(g, ",") {
				l = append(l, strings.TrimSpace(s))
			}
		}
		return l
	case p.shape.kind == "integer":
		n, err := strconv.ParseInt(given[0], 10, 64)
		switch {
		case given[0] == "" || given[0][0] == '+':
		case errors.Is(err, strconv.ErrRange), n > exact, n < -exact:
			return json.Number(given[0])
		case err == nil:
			return float64(n)
		}
	case p.shape.time: // a + that was not escaped has become a space
		return strings.Replace(given[0], " ", "+", 1)
	}
	return given[0]
}

// exact is how far float64 has every whole number.
const exact = 1 << 53

// Decode reads a body, checks it and decodes it into v, a pointer to the request's generated type. Properties that the
// document doesn't have are dropped first, because encoding/json would accept "Items" for "items". If the check fails,
// v has the fields that could be read. Errors (*fail.Error): invalid_body, missing_field, the schema's codes.
func (b *Body) Decode(raw []byte, contentType string, v any) error {
	o, err := decode(raw, contentType, b.form, b.shape.hasRows())
	if err != nil {
		return err
	}
	flaw := b.shape.check(o)
	clean, err := json.Marshal(b.shape.known(o))
	if err == nil {
		err = json.Unmarshal(clean, v)
	}
	if flaw != nil {
		return flaw.error()
	}
	return err
}

// decode parses a body into an object. Errors: invalid_body. In a body with rows, half of a surrogate pair fails only its
// row: it becomes a NUL, which no text may have.
func decode(raw []byte, contentType string, form, rows bool) (map[string]any, error) {
	kind, param, err := mime.ParseMediaType(contentType)
	switch {
	case contentType == "": // no content type: assume JSON
	case err == nil && kind == "application/json":
	case err == nil && form && kind == "application/x-www-form-urlencoded":
		return decodeForm(raw)
	case form:
		return nil, fail.New(fail.InvalidBody, "the content type must be application/json or application/x-www-form-urlencoded")
	case err == nil && kind == "application/x-www-form-urlencoded": // what curl -d sends
		return nil, fail.New(fail.InvalidBody, "the content type must be application/json, not "+kind+" (with curl: -H 'Content-Type: application/json')")
	default:
		return nil, fail.New(fail.InvalidBody, "the content type must be application/json")
	}
	switch charset := strings.ToLower(param["charset"]); {
	case charset != "" && charset != "utf-8" && charset != "utf8" && charset != "us-ascii":
		return nil, fail.New(fail.InvalidBody, "the charset must be utf-8")
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, fail.New(fail.InvalidBody, "the body is empty")
	case !utf8.Valid(raw): // else different names would become equal
		return nil, fail.New(fail.InvalidBody, "the body is not UTF-8")
	}
	if !json.Valid(raw) {
		return nil, fail.New(fail.InvalidBody, notJSON(raw))
	}
	switch i := halfPair(raw, 0); {
	case i < 0:
	case rows && !halfOutside(raw):
		raw = bytes.Clone(raw)
		for ; i >= 0; i = halfPair(raw, i) {
			copy(raw[i:], `\u0000`)
		}
	default:
		return nil, fail.New(fail.InvalidBody, `the body has half of a surrogate pair (\ud800 to \udfff), which is not a character`)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fail.New(fail.InvalidBody, "the body is not valid JSON: "+err.Error())
	}
	m, ok := numbers(v).(map[string]any)
	if !ok {
		return nil, fail.New(fail.InvalidBody, "the body must be a JSON object")
	}
	return m, nil
}

// notJSON says what is wrong with a body that json.Valid rejects.
func notJSON(raw []byte) string {
	err := json.Unmarshal(raw, new(json.RawMessage))
	var at *json.SyntaxError
	switch {
	case !errors.As(err, &at):
		return "the body is not valid JSON"
	case strings.Contains(err.Error(), "max depth"): // encoding/json's own bound
		return "the body is nested too deeply: at most 10,000 levels"
	}
	return fmt.Sprintf("the body is not valid JSON: byte %d: %s", at.Offset, err)
}

// halfOutside reports whether a body with rows has half of a surrogate pair beside them, where it isn't one row's mistake.
func halfOutside(raw []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return false // it isn't an object, which is said later
	}
	for _, v := range fields {
		if v[0] != '[' && halfPair(v, 0) >= 0 {
			return true
		}
	}
	return false
}

// numbers turns a value's numbers into float64, except those that float64 can't tell: too large, or rounded to a whole
// number. These stay as they are, for a check to refuse if their field matters.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			v[name] = numbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = numbers(x)
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && (f != math.Trunc(f) || whole(v.String())) {
			return f
		}
	}
	return v
}

// whole reports whether the text of a JSON number means a whole one, such as 1.50e1.
func whole(number string) bool {
	digits, power, _ := strings.Cut(strings.ToLower(number), "e")
	units, fraction, _ := strings.Cut(digits, ".")
	significant := strings.TrimRight(units+fraction, "0")
	if strings.Trim(significant, "-0") == "" {
		return true
	}
	if strings.HasPrefix(power, "-") && len(power) > 9 {
		return false
	}
	n, err := strconv.Atoi(cmp.Or(power, "0"))
	return err != nil || n-len(fraction)+len(units+fraction)-len(significant) >= 0 // err: a power beyond all digits
}

func decodeForm(raw []byte) (map[string]any, error) {
	values, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, fail.New(fail.InvalidBody, "the form is malformed")
	}
	o := map[string]any{}
	for name, v := range values {
		o[name] = v[0]
		if len(v) > 1 {
			o[name] = v // a check refuses it if the field matters
		}
	}
	return o, nil
}

// halfPair finds the first escaped surrogate without its other half in valid JSON, from a byte outside of any escape on;
// -1 if there is none. encoding/json turns them all into the same replacement character, so different names would become
// equal.
func halfPair(raw []byte, from int) int {
	for i := from; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first := escaped(raw[i:])
		switch {
		case first < 0: // of two bytes
			i++
		case !utf16.IsSurrogate(first):
			i += 5
		case utf16.DecodeRune(first, escaped(raw[i+6:])) == utf8.RuneError:
			return i
		default:
			i += 11
		}
	}
	return -1
}

// escaped is the number of the \uXXXX that b begins with; -1 when it doesn't.
func escaped(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
