package openapi

import (
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// breaks lists what a client of the old document can't live with in the new one.
type breaks struct {
	list []string
	on   []*openapi3.Schema // schemas being compared, because they may contain themselves
}

func (b *breaks) add(format string, args ...any) {
	b.list = append(b.list, fmt.Sprintf(format, args...))
}

func breaking(old, now *openapi3.T) []string {
	b := &breaks{}
	for path, item := range old.Paths.Map() {
		next := now.Paths.Value(path)
		if next == nil {
			b.add("%s is gone", path)
			continue
		}
		for method, o := range item.Operations() {
			n := next.GetOperation(method)
			if n == nil {
				b.add("%s %s is gone", method, path)
				continue
			}
			b.operation(method+" "+path, o, n)
		}
	}
	slices.Sort(b.list)
	return b.list
}

func (b *breaks) operation(at string, old, now *openapi3.Operation) {
	if a, z := text(old.Extensions, "x-required-scope", ""), text(now.Extensions, "x-required-scope", ""); a != z && z != "none" {
		b.add("%s: scope %s became %s", at, a, z)
	}
	for _, p := range old.Parameters {
		if now.Parameters.GetByInAndName(p.Value.In, p.Value.Name) == nil {
			b.add("%s: parameter %s is gone", at, p.Value.Name)
		}
	}
	for _, p := range now.Parameters {
		was, where := old.Parameters.GetByInAndName(p.Value.In, p.Value.Name), at+" "+p.Value.Name
		switch {
		case was == nil && p.Value.Required, was != nil && p.Value.Required && !was.Required:
			b.add("%s is now required", where)
		case was != nil:
			b.schema(where, was.Schema, p.Value.Schema, true)
		}
	}
	b.body(at, old.RequestBody, now.RequestBody)
	for status, o := range old.Responses.Map() {
		n := now.Responses.Value(status)
		if n == nil {
			if status[0] == '2' {
				b.add("%s: %s is gone", at, status)
			}
			continue
		}
		b.content(at+" "+status, o.Value.Content, n.Value.Content, false)
	}
}

func (b *breaks) body(at string, old, now *openapi3.RequestBodyRef) {
	switch {
	case old == nil && now != nil && now.Value.Required:
		b.add("%s: a body is now required", at)
	case old == nil:
	case now == nil:
		b.add("%s: the body is gone", at)
	default:
		if now.Value.Required && !old.Value.Required {
			b.add("%s: a body is now required", at)
		}
		b.content(at+" body", old.Value.Content, now.Value.Content, true)
	}
}

func (b *breaks) content(at string, old, now openapi3.Content, request bool) {
	for kind, o := range old {
		n := now[kind]
		if n == nil {
			b.add("%s: %s is gone", at, kind)
			continue
		}
		b.schema(at, o.Schema, n.Schema, request)
	}
}

// schema compares what is accepted (request) or returned (response).
func (b *breaks) schema(at string, oldRef, nowRef *openapi3.SchemaRef, request bool) {
	if oldRef == nil || nowRef == nil {
		return
	}
	old, now := oldRef.Value, nowRef.Value
	if slices.Contains(b.on, old) {
		return
	}
	b.on = append(b.on, old)
	defer func() { b.on = b.on[:len(b.on)-1] }()
	if a, z := fmt.Sprint(old.Type.Slice()), fmt.Sprint(now.Type.Slice()); a != z {
		b.add("%s: type %s became %s", at, a, z)
		return
	}
	if old.Nullable != now.Nullable && now.Nullable != request {
		b.add("%s: nullable became %v", at, now.Nullable)
	}
	if old.Format != now.Format || old.Pattern != now.Pattern {
		b.add("%s: format or pattern changed", at)
	}
	b.enum(at, old.Enum, now.Enum, request)
	b.bounds(at, old, now, request)
	b.properties(at, old, now, request)
	b.schema(at+"[]", old.Items, now.Items, request)
	b.schema(at+".*", old.AdditionalProperties.Schema, now.AdditionalProperties.Schema, request)
	for i := range min(len(old.AllOf), len(now.AllOf)) {
		b.schema(at, old.AllOf[i], now.AllOf[i], request)
	}
	for i := range min(len(old.OneOf), len(now.OneOf)) {
		b.schema(at, old.OneOf[i], now.OneOf[i], request)
	}
	if len(old.AllOf) > len(now.AllOf) || len(old.OneOf) > len(now.OneOf) || len(old.AnyOf) > len(now.AnyOf) {
		b.add("%s: a form is gone", at)
	}
}

func (b *breaks) enum(at string, old, now []any, request bool) {
	if len(old) == 0 && len(now) > 0 && request {
		b.add("%s: takes only %v now", at, now)
	}
	for _, v := range old {
		if len(now) > 0 && !slices.Contains(now, v) {
			b.add("%s: value %v is gone", at, v)
		}
	}
}

// bounds: a request's bounds may only become wider.
func (b *breaks) bounds(at string, old, now *openapi3.Schema, request bool) {
	if !request {
		return
	}
	lower := func(o, n *float64) bool { return n != nil && (o == nil || *n < *o) }
	higher := func(o, n *float64) bool { return n != nil && (o == nil || *n > *o) }
	number := func(v *uint64) *float64 {
		if v == nil {
			return nil
		}
		f := float64(*v)
		return &f
	}
	if higher(old.Min, now.Min) || lower(old.Max, now.Max) || now.MinLength > old.MinLength || lower(number(old.MaxLength), number(now.MaxLength)) ||
		now.MinItems > old.MinItems || lower(number(old.MaxItems), number(now.MaxItems)) {
		b.add("%s: bounds are narrower", at)
	}
}

func (b *breaks) properties(at string, old, now *openapi3.Schema, request bool) {
	for name, o := range old.Properties {
		n := now.Properties[name]
		if n == nil {
			b.add("%s: field %s is gone", at, name)
			continue
		}
		b.schema(at+"."+name, o, n, request)
	}
	for _, name := range now.Required {
		if request && !slices.Contains(old.Required, name) {
			b.add("%s: field %s is now required", at, name)
		}
	}
	for _, name := range old.Required {
		if !request && !slices.Contains(now.Required, name) {
			b.add("%s: field %s may now be absent", at, name)
		}
	}
}
