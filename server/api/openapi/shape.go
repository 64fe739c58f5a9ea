package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/fail"
)

// shape is a compiled request schema. Checking is a plain walk in a fixed order, so the same error always comes first.
type shape struct {
	kind     string // object array string integer number boolean, "" = anything
	nullable bool
	code     string // of a failed check, inherited by what is inside
	empty    string // of an array without items
	foreign  string // of an unknown property in a closed object
	message  string // completes "<field> "

	required []string
	names    []string // properties in the order they are checked
	props    map[string]*shape
	extra    *shape // additionalProperties
	closed   bool

	items              *shape
	minItems, maxItems int
	minLen, maxLen     int
	pattern            *regexp.Regexp
	enum               []string
	min, max           float64
	time               bool
	def                any
}

// compile turns a schema into a shape. It returns an error for a keyword that check doesn't support, so that no
// document promises what isn't checked.
func compile(ref *openapi3.SchemaRef, code string) (*shape, error) {
	x := ref.Value
	s := &shape{
		nullable: x.Nullable, code: text(x.Extensions, "x-error-code", code), empty: text(x.Extensions, "x-error-code-empty", ""),
		foreign: text(x.Extensions, "x-error-code-extra", ""),
		message: text(x.Extensions, "x-error-message", ""), required: x.Required, minItems: int(x.MinItems), maxItems: int(orElse(x.MaxItems, math.MaxInt)),
		minLen: int(x.MinLength), maxLen: int(orElse(x.MaxLength, math.MaxInt)), min: orElse(x.Min, math.Inf(-1)), max: orElse(x.Max, math.Inf(1)),
		enum: each.Of(x.Enum, func(v any) string { return fmt.Sprint(v) }), time: x.Format == "date-time", def: x.Default,
	}
	if x.Type != nil && len(x.Type.Slice()) > 0 {
		s.kind = x.Type.Slice()[0]
	}
	if len(x.OneOf)+len(x.AnyOf)+len(x.AllOf) > 0 || x.Not != nil || x.UniqueItems || x.MultipleOf != nil || x.MinProps > 0 || x.MaxProps != nil {
		return nil, fmt.Errorf("a request schema uses a keyword that is not checked: %s", x.Description)
	}
	if x.Pattern != "" {
		var err error
		if s.pattern, err = regexp.Compile(x.Pattern); err != nil {
			return nil, err
		}
	}
	return s, s.inside(x)
}

// orElse is a bound of a schema.
func orElse[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}

func (s *shape) inside(x *openapi3.Schema) (err error) {
	if x.Items != nil {
		if s.items, err = compile(x.Items, s.code); err != nil {
			return err
		}
	}
	if x.AdditionalProperties.Schema != nil {
		if s.extra, err = compile(x.AdditionalProperties.Schema, s.code); err != nil {
			return err
		}
	}
	s.closed = x.AdditionalProperties.Has != nil && !*x.AdditionalProperties.Has
	s.props = map[string]*shape{}
	for name, p := range x.Properties {
		if s.props[name], err = compile(p, s.code); err != nil {
			return err
		}
	}
	s.names = slices.SortedFunc(maps.Keys(s.props), func(a, b string) int { // required ones first, as listed
		return cmp.Or(cmp.Compare(rank(x.Required, a), rank(x.Required, b)), strings.Compare(a, b))
	})
	return nil
}

func rank(list []string, name string) int {
	if i := slices.Index(list, name); i >= 0 {
		return i
	}
	return len(list)
}

func text(ext map[string]any, name, otherwise string) string {
	if s, ok := ext[name].(string); ok {
		return s
	}
	return otherwise
}

// flaw is the first thing wrong with a value.
type flaw struct {
	code, path, why string
	value           any
}

func (f *flaw) in(path string) *flaw {
	if f != nil {
		if f.path != "" && f.path[0] != '[' {
			path += "."
		}
		f.path = path + f.path
	}
	return f
}

// error is the flaw in the contract's words.
func (f *flaw) error() *fail.Error {
	field := cmp.Or(f.path, "body")
	e := fail.New(f.code, field+" "+f.why, "field", field)
	if f.code == fail.InvalidDoorIDs {
		e.Details["invalid"] = []any{f.value}
	}
	return e
}

func (s *shape) flaw(v any, why string) *flaw {
	return &flaw{code: cmp.Or(s.code, fail.InvalidField), why: cmp.Or(s.message, why), value: v}
}

// check walks a decoded value: missing properties first, then each property.
func (s *shape) check(v any) *flaw {
	if v == nil {
		if s.nullable || s.kind == "" {
			return nil
		}
		return s.flaw(v, "must not be null")
	}
	switch s.kind {
	case "object":
		m, ok := v.(map[string]any)
		if !ok {
			return s.flaw(v, "must be an object")
		}
		return s.checkObject(m)
	case "array":
		l, ok := v.([]any)
		if !ok {
			return s.flaw(v, "must be an array")
		}
		return s.checkArray(l)
	case "string":
		switch t := v.(type) {
		case string:
			return s.checkString(t)
		case []string: // of a form
			return s.flaw(v, "is given more than once")
		}
		return s.flaw(v, "must be a string")
	case "integer", "number":
		if t, ok := v.(json.Number); ok && (s.kind == "number" || whole(t.String())) {
			if math.IsInf(s.max, 1) {
				return s.flaw(v, "is too large")
			}
			return s.flaw(v, s.span())
		}
		n, ok := v.(float64)
		if !ok || s.kind == "integer" && n != math.Trunc(n) {
			return s.flaw(v, "must be "+map[string]string{"integer": "an integer", "number": "a number"}[s.kind])
		}
		if n < s.min || n > s.max {
			return s.flaw(v, s.span())
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return s.flaw(v, "must be true or false")
		}
	}
	return nil
}

func (s *shape) span() string {
	if math.IsInf(s.max, 1) {
		return fmt.Sprintf("must be at least %g", s.min)
	}
	return "must be " + strconv.FormatFloat(s.min, 'f', -1, 64) + " to " + strconv.FormatFloat(s.max, 'f', -1, 64)
}

func (s *shape) checkObject(m map[string]any) *flaw {
	if s.closed || s.extra != nil {
		if f := s.checkExtra(m); f != nil {
			return f
		}
	}
	for _, name := range s.required {
		if v, ok := m[name]; !ok || v == nil {
			return &flaw{code: fail.MissingField, path: name, why: "is required"}
		}
	}
	for _, name := range s.names {
		v, ok := m[name]
		if !ok {
			continue
		}
		if f := s.props[name].check(v); f != nil {
			return f.in(name)
		}
	}
	return nil
}

// known is a checked value without the properties that the schema doesn't name.
func (s *shape) known(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if s.kind != "object" {
			return v
		}
		out := make(map[string]any, len(v))
		for name, x := range v {
			switch p := s.props[name]; {
			case p != nil:
				out[name] = p.known(x)
			case s.extra != nil:
				out[name] = s.extra.known(x)
			}
		}
		return out
	case []any:
		if s.items != nil && s.items.kind != "" {
			for i, x := range v {
				v[i] = s.items.known(x)
			}
		}
	}
	return v
}

// allowed lists the properties, days in their order.
func (s *shape) allowed() string {
	week := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	names := slices.Sorted(maps.Keys(s.props))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(slices.Index(week, a), slices.Index(week, b)) })
	return strings.Join(names, ", ")
}

func (s *shape) checkExtra(m map[string]any) *flaw {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if s.props[name] != nil {
			continue
		}
		if s.closed {
			return &flaw{code: cmp.Or(s.foreign, s.code, fail.InvalidField), path: name,
				why: "is not allowed here, only " + s.allowed()}
		}
		if f := s.extra.check(m[name]); f != nil {
			return f.in(name)
		}
	}
	return nil
}

func (s *shape) checkArray(l []any) *flaw {
	switch {
	case len(l) == 0 && s.minItems > 0:
		f := s.flaw(l, "must not be empty")
		f.code = cmp.Or(s.empty, f.code)
		return f
	case s.minItems == s.maxItems && len(l) != s.minItems:
		return s.flaw(l, fmt.Sprintf("must have %d items", s.minItems))
	case len(l) < s.minItems || len(l) > s.maxItems:
		return s.flaw(l, fmt.Sprintf("must have %d to %d items", s.minItems, s.maxItems))
	}
	if s.items == nil || s.items.kind == "" {
		return nil
	}
	for i, v := range l {
		if f := s.items.check(v); f != nil {
			return f.in("[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

// oneOf is what a value must be.
func oneOf(enum []string) string {
	if len(enum) == 1 {
		return "must be " + enum[0]
	}
	return "must be one of " + strings.Join(enum, ", ")
}

func (s *shape) checkString(t string) *flaw {
	n := utf8.RuneCountInString(t)
	switch {
	case len(s.enum) > 0 && !slices.Contains(s.enum, t):
		return s.flaw(t, oneOf(s.enum))
	case n == 0 && s.minLen > 0:
		return s.flaw(t, "must not be empty")
	case n > s.maxLen:
		return s.flaw(t, fmt.Sprintf("must have at most %d characters", s.maxLen))
	case n < s.minLen:
		return s.flaw(t, fmt.Sprintf("must have at least %d characters", s.minLen))
	case s.pattern != nil && !s.pattern.MatchString(t):
		return s.flaw(t, "has the wrong format")
	case s.time:
		var wrong *fail.Error
		if _, err := fail.ParseTime("", t); errors.As(err, &wrong) {
			return s.flaw(t, strings.TrimSpace(wrong.Message))
		}
	}
	return nil
}

// hasRows reports whether an object has a list of anything: its rows are checked one by one, later.
func (s *shape) hasRows() bool {
	for _, p := range s.props {
		if p.items != nil && p.items.kind == "" {
			return true
		}
	}
	return false
}
