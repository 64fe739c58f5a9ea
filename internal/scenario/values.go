package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Pos is a place in a file, both from 1.
type Pos struct{ Line, Col int }

// node remembers where a value stood.
type node struct{ pos Pos }

func (n *node) setPos(p Pos) { n.pos = p }

// Text is a string with ${expression} parts; a text that is one such part keeps its value's type.
type Text struct {
	node
	raw   string
	parts []part
}

type part struct {
	text string
	expr *Expr
}

// set reports whether the key was given.
func (t Text) set() bool { return t.raw != "" }

func (t *Text) bindText(b *binder, raw string, pos Pos) {
	t.raw, t.pos = raw, pos
	t.parts = b.template(raw, pos)
}

func (b *binder) template(raw string, pos Pos) (parts []part) {
	for rest, off := raw, 0; rest != ""; {
		i := strings.Index(rest, "${")
		if i < 0 {
			return append(parts, part{text: rest})
		}
		end := closing(rest[i+2:])
		if end < 0 {
			b.problem(Pos{pos.Line, pos.Col + off + i}, "${ without a closing }")
			return parts
		}
		if i > 0 {
			parts = append(parts, part{text: rest[:i]})
		}
		e := &Expr{}
		e.bindText(b, rest[i+2:i+2+end], Pos{pos.Line, pos.Col + off + i + 2})
		parts = append(parts, part{expr: e})
		off += i + end + 3
		rest = rest[i+end+3:]
	}
	return parts
}

// closing finds the brace that ends an expression, past nested ones and strings.
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

// eval fills a text in.
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
		out.WriteString(show(v))
	}
	return out.String(), nil
}

// str fills a text in as a string.
func (t Text) str(s *scope) (string, error) {
	v, err := t.eval(s)
	if err != nil {
		return "", err
	}
	return show(v), nil
}

// show writes a value the way a template does.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// Any is a YAML value of any shape whose strings are templates.
type Any struct {
	node
	v any // nil, bool, int64, float64, Text, []Any, map[string]Any
}

func (a *Any) bindNode(b *binder, n ast.Node) {
	a.pos = posOf(n)
	switch n := b.resolve(n).(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		a.v = n.Value
	case *ast.IntegerNode:
		if i, err := strconv.ParseInt(fmt.Sprint(n.Value), 10, 64); err == nil {
			a.v = i
		} else {
			a.v = float64(0)
		}
	case *ast.FloatNode:
		a.v = n.Value
	case *ast.SequenceNode:
		list := make([]Any, len(n.Values))
		for i, v := range n.Values {
			list[i].bindNode(b, v)
		}
		a.v = list
	case ast.MapNode:
		m := map[string]Any{}
		for _, kv := range b.pairs(n.(ast.Node)) {
			var v Any
			v.bindNode(b, kv.Value)
			m[keyOf(kv)] = v
		}
		a.v = m
	default:
		var t Text
		raw, _ := b.scalar(n)
		t.bindText(b, raw, posOf(n))
		a.v = t
	}
}

// eval fills the templates in.
func (a Any) eval(s *scope) (any, error) {
	switch v := a.v.(type) {
	case Text:
		return v.eval(s)
	case []Any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = v[i].eval(s); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]Any:
		out := map[string]any{}
		for k := range v {
			e, err := v[k].eval(s)
			if err != nil {
				return nil, err
			}
			out[k] = e
		}
		return out, nil
	}
	return a.v, nil
}

// Num is a whole or decimal number or a template of one; a share may be written as 10%.
type Num struct{ Text }

func (n *Num) bindText(b *binder, raw string, pos Pos) {
	n.Text.bindText(b, raw, pos)
	if !strings.Contains(raw, "${") {
		if _, err := number(raw); err != nil {
			b.problem(pos, "%s", err)
		}
	}
}

func number(v any) (float64, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	case string:
		text, percent := strings.CutSuffix(strings.TrimSpace(v), "%")
		f, err := strconv.ParseFloat(text, 64)
		if err == nil {
			if percent {
				f /= 100
			}
			return f, nil
		}
	}
	return 0, fmt.Errorf("%q is not a number", show(v))
}

func (n Num) num(s *scope) (float64, error) {
	v, err := n.eval(s)
	if err != nil {
		return 0, err
	}
	return number(v)
}

// Dur is a duration like 36h, 1m30s, 250ms, 2d, or a template of one.
type Dur struct{ Text }

func (d *Dur) bindText(b *binder, raw string, pos Pos) {
	d.Text.bindText(b, raw, pos)
	if !strings.Contains(raw, "${") {
		if _, err := duration(raw); err != nil {
			b.problem(pos, "%s", err)
		}
	}
}

var days = regexp.MustCompile(`^([0-9]+)d`)

// duration parses Go's durations and leading days.
func duration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	rest, add := text, time.Duration(0)
	if m := days.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		if add, rest = time.Duration(n)*24*time.Hour, text[len(m[0]):]; rest == "" {
			return add, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration, write it like 36h, 1m30s or 2d", text)
	}
	return add + d, nil
}

func (d Dur) dur(s *scope) (time.Duration, error) {
	text, err := d.str(s)
	if err != nil {
		return 0, err
	}
	return duration(text)
}

// When is a moment: now, a label, either with an offset (cut+36h-1s), an offset
// alone (+48h: from now), or an RFC 3339 time.
type When struct{ Text }

var moment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)?\s*((?:[+-]\s*[0-9][0-9a-zµ.]*\s*)*)$`)
var offset = regexp.MustCompile(`([+-])\s*([0-9][0-9a-zµ.]*)`)

func (w *When) bindText(b *binder, raw string, pos Pos) {
	w.Text.bindText(b, raw, pos)
	if strings.Contains(raw, "${") {
		return
	}
	label, _, err := splitMoment(raw)
	if err != nil {
		b.problem(pos, "%s", err)
	} else if label != "" && label != "now" {
		b.uses = append(b.uses, use{kind: "label", name: label, pos: pos})
	}
}

// splitMoment returns the label ("" for an absolute time) and the offset.
func splitMoment(text string) (label string, d time.Duration, err error) {
	text = strings.TrimSpace(text)
	if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return "", 0, nil
	}
	m := moment.FindStringSubmatch(text)
	if m == nil || text == "" {
		return "", 0, fmt.Errorf("%q is not a moment, write it like now, cut+36h-1s, +48h or an RFC 3339 time", text)
	}
	if label = m[1]; label == "" {
		label = "now"
	}
	for _, o := range offset.FindAllStringSubmatch(m[2], -1) {
		v, err := duration(o[2])
		if err != nil {
			return "", 0, err
		}
		if o[1] == "-" {
			v = -v
		}
		d += v
	}
	return label, d, nil
}

// Ref names something: a cohort, a person, an expression over them
// (one.doors[1]), or an id as it is (dor_..).
type Ref struct {
	node
	raw  string
	text Text
	expr *Expr
}

var anID = regexp.MustCompile(`^(plc|brd|dor|pmt|mem|rsv|key)_[0-9A-Za-z_]+$`)

func (r Ref) set() bool { return r.raw != "" }

func (r *Ref) bindText(b *binder, raw string, pos Pos) {
	r.raw, r.pos = raw, pos
	switch {
	case strings.Contains(raw, "${"):
		r.text.bindText(b, raw, pos)
	case anID.MatchString(raw):
	default:
		r.expr = &Expr{}
		r.expr.bindText(b, raw, pos)
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
