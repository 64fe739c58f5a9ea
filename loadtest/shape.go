package loadtest

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/doorlab/doorlab/internal/near"
)

var planType = reflect.TypeFor[Plan]()

type position struct{ line, col int }

// shape walks the YAML tree beside the Go type, so that all wrong names and
// values of a plan are told at once and with their places.
type shape struct {
	problems []Problem
	at       map[string]position
}

func newShape() *shape { return &shape{at: map[string]position{}} }

func (s *shape) bad(n ast.Node, path, format string, args ...any) {
	if n != nil {
		s.at[path] = positionOf(n)
	}
	s.problems = append(s.problems, Problem{path, fmt.Sprintf(format, args...)})
}

func (s *shape) node(n ast.Node, t reflect.Type, path string) {
	if _, seen := s.at[path]; !seen {
		s.at[path] = positionOf(n)
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if u, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		s.scalar(n, path, func(text string) error { return u.UnmarshalText([]byte(text)) })
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		s.mapping(n, t, path)
	case reflect.Map:
		for _, kv := range s.pairs(n, path) {
			name := keyName(kv)
			s.at[path+"."+name] = positionOf(kv.Key)
			s.scalar(kv.Value, path+"."+name, func(string) error { return nil })
		}
	case reflect.Slice:
		list, ok := n.(*ast.SequenceNode)
		if !ok {
			s.bad(n, path, "want a list")
			return
		}
		for i, v := range list.Values {
			s.node(v, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		s.scalar(n, path, func(text string) error { return basic(t.Kind(), text) })
	}
}

func (s *shape) mapping(n ast.Node, t reflect.Type, path string) {
	fields := map[string]reflect.Type{}
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		fields[name] = f.Type
		names = append(names, name)
	}
	for _, kv := range s.pairs(n, path) {
		name := keyName(kv)
		if ft, ok := fields[name]; ok {
			s.at[path+"."+name] = positionOf(kv.Key)
			s.node(kv.Value, ft, path+"."+name)
			continue
		}
		s.bad(kv.Key, path+"."+name, "unknown name %q%s", name, near.Hint(name, names))
	}
}

func (s *shape) pairs(n ast.Node, path string) []*ast.MappingValueNode {
	switch v := n.(type) {
	case *ast.MappingNode:
		return v.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}
	}
	s.bad(n, path, "want names with values")
	return nil
}

func (s *shape) scalar(n ast.Node, path string, check func(string) error) {
	v, ok := n.(ast.ScalarNode)
	if !ok {
		s.bad(n, path, "want a single value")
		return
	}
	if err := check(fmt.Sprint(v.GetValue())); err != nil {
		s.bad(n, path, "%v", err)
	}
}

func basic(k reflect.Kind, text string) (err error) {
	switch k {
	case reflect.Int, reflect.Int64:
		if _, err = strconv.ParseInt(text, 10, 64); err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
	case reflect.Float64:
		if _, err = strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
	}
	return nil
}

func keyName(kv *ast.MappingValueNode) string { return kv.Key.GetToken().Value }
