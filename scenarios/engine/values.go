package engine

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// Pos is a place in a file.
type Pos = strictyaml.Pos

// node remembers a value's position.
type node struct{ pos Pos }

func (n *node) SetPos(p Pos) { n.pos = p }

// Text is a string with ${expression} parts; a text that consists of one such part keeps its value's type. $${ stands for
// ${ itself.
type Text struct {
	node
	raw   string
	parts []part
}

type part struct {
	text string
	expr *Expr
}

// Literal is the text as written; ok is false if it contains a template.
func (t Text) Literal() (string, bool) { return t.raw, !strings.Contains(t.raw, "${") }

func (t Text) asWritten() string { return t.raw }

// firstKey is a verb's first key as it is written: what the verb is about.
func firstKey(v reflect.Value) string {
	if text, ok := reflect.TypeAssert[interface{ asWritten() string }](v); ok {
		return text.asWritten()
	}
	if v.Kind() == reflect.Struct {
		return firstKey(v.Field(0))
	}
	return v.String()
}

// set reports whether the key was given.
func (t Text) set() bool { return t.raw != "" }

func (t *Text) BindText(b *strictyaml.Binder, raw string, pos Pos) {
	t.raw, t.pos = raw, pos
	t.parts = template(b, raw, pos)
}

func template(b *strictyaml.Binder, raw string, pos Pos) (parts []part) {
	for rest, off := raw, 0; rest != ""; {
		i := strings.Index(rest, "${")
		if i < 0 {
			return append(parts, part{text: rest})
		}
		if i > 0 && rest[i-1] == '$' { // $${ is ${
			parts = append(parts, part{text: rest[:i-1] + "${"})
			off, rest = off+i+2, rest[i+2:]
			continue
		}
		end := closing(rest[i+2:])
		if end < 0 {
			b.Problem(Pos{Line: pos.Line, Col: pos.Col + off + i}, "${ without a closing }")
			return parts
		}
		if i > 0 {
			parts = append(parts, part{text: rest[:i]})
		}
		e := &Expr{}
		e.BindText(b, rest[i+2:i+2+end], Pos{Line: pos.Line, Col: pos.Col + off + i + 2})
		parts = append(parts, part{expr: e})
		off += i + end + 3
		rest = rest[i+end+3:]
	}
	return parts
}

// closing finds the brace that ends an expression, skipping nested ones and strings.
func closing(s string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// eval fills in a text.
func (t Text) eval(s *scope) (any, error) {
	if len(t.parts) == 1 && t.parts[0].expr != nil {
		return t.parts[0].expr.eval(s)
	}
	var out strings.Builder
	for _, p := range t.parts {
		if p.expr == nil {
			out.WriteString(p.text)
			continue
		}
		v, err := p.expr.eval(s)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return nil, fmt.Errorf("%s: %s has no value", t.raw, p.expr.Src)
		}
		out.WriteString(expression.Show(v))
	}
	return out.String(), nil
}

// str fills in a text as a string. A template that yields nothing is an error: as a filter it would let everything
// through.
func (t Text) str(s *scope) (string, error) {
	v, err := t.eval(s)
	if err != nil {
		return "", err
	}
	if v == nil && t.set() {
		return "", fmt.Errorf("%s has no value", t.raw)
	}
	return expression.Show(v), nil
}

// Num is a whole or decimal number or a template of one; a share may be written as 10%.
type Num struct{ Text }

func (n *Num) BindText(b *strictyaml.Binder, raw string, pos Pos) {
	n.Text.BindText(b, raw, pos)
	if !strings.Contains(raw, "${") {
		if _, err := expression.Number(raw); err != nil {
			b.Problem(pos, "%s", err)
		}
	}
}

func (n Num) num(s *scope) (float64, error) {
	v, err := n.eval(s)
	if err != nil {
		return 0, err
	}
	return expression.Number(v)
}

// Ref names something: a cohort, a person, an expression over them
// (one.doors[1]), or an id as it is (dor_..).
type Ref struct {
	node
	raw  string
	text Text
	expr *Expr
}

// anID is an id as a world file may write it. A hyphen belongs to it: nothing is subtracted from dor_a-1.
var anID = regexp.MustCompile(`^(plc|brd|dor|pmt|mem|rsv|cus|pol|cmd|rec|evt|key)_[0-9A-Za-z_-]+$`)

func (r Ref) asWritten() string { return r.raw }

func (r Ref) set() bool { return r.raw != "" }

func (r *Ref) BindText(b *strictyaml.Binder, raw string, pos Pos) {
	r.raw, r.pos = raw, pos
	switch {
	case strings.Contains(raw, "${"):
		r.text.BindText(b, raw, pos)
	case anID.MatchString(raw):
	default:
		r.expr = &Expr{ref: true}
		r.expr.BindText(b, raw, pos)
	}
}

func (r Ref) eval(s *scope) (any, error) {
	switch {
	case r.text.set():
		return r.text.eval(s)
	case r.expr != nil:
		return r.expr.eval(s)
	}
	return r.raw, nil
}
