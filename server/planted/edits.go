package planted

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/control"
)

// change computes another value for a field; in is the object that has it.
type change func(old any, in map[string]any, p *reply) any

// show replaces a field's value in "data", or in each item if that is a list.
func show(routes, field string, c change) edge {
	return edge{routes: routes, say: func(p *reply) {
		if p.body == nil || p.status >= 300 {
			return
		}
		walk(p.body["data"], strings.Split(field, "."), func(in map[string]any, key string) {
			if old, ok := in[key]; ok {
				in[key] = c(old, in, p)
			}
		})
	}}
}

func walk(v any, path []string, do func(in map[string]any, key string)) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			walk(x, path, do)
		}
	case map[string]any:
		if len(path) == 1 {
			do(v, path[0])
			return
		}
		walk(v[path[0]], path[1:], do)
	}
}

func always(v any) change { return func(any, map[string]any, *reply) any { return v } }

// as answers another field of the same object.
func as(field string) change {
	return func(_ any, in map[string]any, _ *reply) any { return in[field] }
}

// swap answers to where the value is from.
func swap(from, to any) change {
	return func(old any, _ map[string]any, _ *reply) any {
		if old == from {
			return to
		}
		return old
	}
}

// later shifts a time.
func later(d time.Duration) change {
	return func(old any, _ map[string]any, _ *reply) any {
		s, _ := old.(string)
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return old
		}
		return t.Add(d).UTC().Format(control.TimeFormat)
	}
}

// plus adds to a number.
func plus(n int) change {
	return func(old any, _ map[string]any, _ *reply) any {
		if v, ok := old.(json.Number); ok {
			i, _ := v.Int64()
			return int(i) + n
		}
		return old
	}
}

// mangled changes the last character of a text.
func mangled(old any, _ map[string]any, _ *reply) any {
	s, ok := old.(string)
	if !ok || s == "" {
		return old
	}
	if strings.HasSuffix(s, "0") {
		return s[:len(s)-1] + "1"
	}
	return s[:len(s)-1] + "0"
}

// without omits list items.
func without(routes string, drop func(item map[string]any) bool) edge {
	return edge{routes: routes, say: func(p *reply) {
		list, ok := p.body["data"].([]any)
		if !ok {
			return
		}
		p.body["data"] = slices.DeleteFunc(list, func(x any) bool { m, _ := x.(map[string]any); return drop(m) })
	}}
}

// ignores drops a query parameter before anything reads it.
func ignores(routes, param string) edge {
	return queries(routes, func(q url.Values) { q.Del(param) })
}

// queries changes the query of a request.
func queries(routes string, do func(q url.Values)) edge {
	return edge{routes: routes, ask: func(r *http.Request) {
		q := r.URL.Query()
		do(q)
		r.URL.RawQuery = q.Encode()
	}}
}

// raws changes the bytes of a request's body.
func raws(routes string, do func(body []byte) []byte) edge {
	return edge{routes: routes, ask: func(r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(do(raw)))
	}}
}

// asks changes the JSON body of a request.
func asks(routes string, do func(body map[string]any)) edge {
	return raws(routes, func(raw []byte) []byte {
		var body map[string]any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if len(raw) == 0 && routes != places { // a POST without a body
			body = map[string]any{}
		} else if d.Decode(&body) != nil {
			return raw
		}
		do(body)
		return encode(body)
	})
}

// status answers with another status, in the body too.
func status(routes string, from, to int) edge {
	return edge{routes: routes, say: func(p *reply) {
		if p.status != from {
			return
		}
		p.status = to
		if p.body != nil && from >= 300 && to >= 300 {
			p.body["statusCode"] = to
		}
	}}
}

// failing changes the body of failures; a nil value removes the field.
func failing(routes, field string, value any) edge {
	return edge{routes: routes, say: func(p *reply) {
		if p.body == nil || p.status < 400 {
			return
		}
		walk(p.body, strings.Split(field, "."), func(in map[string]any, key string) {
			if _, ok := in[key]; !ok {
				return
			}
			if in[key] = value; value == nil {
				delete(in, key)
			}
		})
	}}
}

// header answers another header, "" = none.
func header(routes, name, value string) edge {
	return edge{routes: routes, say: func(p *reply) {
		if p.head.Get(name) == "" {
			return
		}
		if p.head.Set(name, value); value == "" {
			p.head.Del(name)
		}
	}}
}

func says(routes string, do func(*reply)) edge { return edge{routes: routes, say: do} }

func elsewhere(routes string) edge { return edge{routes: routes, elsewhere: true} }

// phones remembers every registered phone and shows it whole where only the last four digits belong.
func phones(routes, field string) edge {
	e := show(routes, field, func(old any, _ map[string]any, p *reply) any {
		s, _ := old.(string)
		if full, known := remembered.Load("phone " + s[max(0, len(s)-4):]); known {
			return full
		}
		return old
	})
	say := e.say
	e.routes += ", POST /space/v1/partner/entry-permits, POST /space/v1/memberships/import, POST /space/v1/customers/import, POST /space/v1/reservations"
	e.say = func(p *reply) {
		var find func(v any)
		find = func(v any) {
			switch v := v.(type) {
			case []any:
				for _, x := range v {
					find(x)
				}
			case map[string]any:
				if phone, _ := v["phone"].(string); len(phone) > 4 {
					remembered.Store("phone "+phone[len(phone)-4:], phone)
				}
				find(v["items"])
			}
		}
		if find(p.asked); p.r.Method == http.MethodGet {
			say(p)
		}
	}
	return e
}
