package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// fields of an HTTP answer.
func (a *answer) fields() fields {
	out := fields{"status": a.Status, "body": a.Body, "data": a.field("data"), "error": a.field("error"), "message": a.field("message"),
		"details": a.field("details"), "total": a.field("total"), "replayed": a.Headers["Idempotent-Replayed"] == "true", "ms": a.Ms}
	out["headers"] = anyOfAll(a.Headers)
	if a.Body == nil {
		out["body"] = string(a.Raw)
	}
	return out
}

// anyOfAll is a map as expressions take it.
func anyOfAll[V any](in map[string]V) map[string]any {
	out := make(map[string]any, len(in))
	for k, v := range in {
		out[k] = v
	}
	return out
}

// check compares an answer with the expectations. If the step says nothing about status, error or body, here or in an
// expectation, the answer must be a success.
func (e Answered) check(x *frame, a *answer, also bool) error {
	part, failure := any(nil), false
	if e.Match != nil {
		var err error
		if part, err = e.matching(x); err != nil {
			return err
		}
		failure = saysFailure(part)
	}
	if len(e.Status) == 0 && !e.Error.set() && !failure && !also && !x.step.saysStatus() && a.Status/100 != 2 {
		hint := ""
		if len(x.step.Expect) > 0 { // the step expected something of a failure, perhaps
			hint = fmt.Sprintf("\nif you expect this failure, add status: %d", a.Status)
		}
		return failed("expected a success, found %s%s", a.short(), hint)
	}
	if len(e.Status) > 0 {
		ok, want, codes := false, []string{}, []int{}
		for _, s := range e.Status {
			n, err := s.num(x.scope)
			if err != nil {
				return err
			}
			ok = ok || int(n) == a.Status
			want, codes = append(want, fmt.Sprint(n)), append(codes, int(n))
		}
		if len(e.Status.codes()) < len(codes) {
			if err := x.listed(&e, codes); err != nil {
				return err
			}
		}
		if !ok {
			return failed("expected status %s, found %s", strings.Join(want, " or "), a.short())
		}
	}
	if err := x.says(a, "error", a.text("error"), e.Error); err != nil {
		return err
	}
	if e.Match != nil {
		if why := contains(part, a.Body, "body"); why != "" {
			return failed("%s\nin %s", why, a.short())
		}
	}
	return nil
}

// says compares a part of an answer with what is expected of it, if anything is.
func (x *frame) says(a *answer, part, found string, expected Text) error {
	if !expected.set() {
		return nil
	}
	want, err := expected.str(x.scope)
	if err == nil && found != want {
		err = failed("expected %s %s, found %s", part, want, a.said(part, found))
	}
	return err
}

// said names a part of an answer and the error that it came with, or shows the answer if it has no such part.
func (a *answer) said(part, found string) string {
	if found == "" {
		return a.short()
	}
	name, message := a.text("error"), a.text("message")
	if name == "" {
		return fmt.Sprintf("%s %s (status %d)", part, found, a.Status)
	}
	return fmt.Sprintf("%s %s (status %d, %s: %s)", part, found, a.Status, name, message)
}

// saysStatus reports whether an expectation of the step is about the status; then that expectation decides.
func (s *Step) saysStatus() bool {
	return slices.ContainsFunc(s.Expect, func(e Expr) bool { return evidence.SpeaksOfStatus(&e.Expr) })
}

// contains says where a value lacks a part, "" if it has all of them.
func contains(want, have any, path string) string {
	if list, ok := listOf(want); ok {
		want = list
	}
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %s, not an object", path, brief(have, 80))
		}
		for _, k := range keysOf(w) {
			if _, there := h[k]; !there {
				return fmt.Sprintf("%s has no %s", path, k)
			}
			if why := contains(w[k], h[k], path+"."+k); why != "" {
				return why
			}
		}
		return ""
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return fmt.Sprintf("%s is %s, not a list of %d", path, brief(have, 80), len(w))
		}
		for i := range w {
			if why := contains(w[i], h[i], fmt.Sprintf("%s[%d]", path, i)); why != "" {
				return why
			}
		}
		return ""
	}
	_, text := want.(string)
	if _, both := have.(string); !text || !both { // two texts are compared as they are: 007 isn't 7
		a, err := expression.Number(want)
		if b, other := expression.Number(have); err == nil && other == nil && a == b {
			return ""
		}
	}
	if !reflect.DeepEqual(want, have) {
		return fmt.Sprintf("%s is %s, expected %s", path, brief(have, 80), brief(want, 80))
	}
	return ""
}

func (c *Call) title() string { return c.method() + " " + c.Path.raw }

// method is GET, or POST with a body, if the file says nothing.
func (c *Call) method() string {
	if c.Method == "" && (c.Body != nil || c.Raw != nil) {
		return http.MethodPost
	}
	return cmp.Or(c.Method, http.MethodGet)
}

func (c *Call) run(x *frame) (fields, error) {
	path := need(c.Path.str(x.scope))
	x.lives = onlyLives(path)
	q := request{method: c.method(), path: path, header: map[string]string{}}
	if c.Place.set() {
		q.placeID = x.place(c.Place)
	} else {
		q.placeID = x.placeOfKey(c.Key)
	}
	if c.Place.set() || c.Key.set() {
		q.apiKey = x.apiKey(c.Key, q.placeID)
	}
	if c.Token != nil {
		q.token = new(need(c.Token.str(x.scope)))
	}
	for k, v := range c.Headers {
		q.header[k] = need(v.str(x.scope))
	}
	switch {
	case c.Raw != nil:
		q.body = []byte(need(c.Raw.str(x.scope)))
	case c.Body != nil:
		q.body = need(json.Marshal(need(c.Body.eval(x.scope))))
	}
	x.sent = &q
	return c.checked(x, need(c.send(x, q, false)))
}

// post sends a JSON body with a place's key.
func (r *run) post(ctx context.Context, method, path, placeID string, body any) (*answer, error) {
	key, err := r.dir.key(placeID)
	if err != nil {
		return nil, err
	}
	q := request{method: method, path: path, apiKey: key, placeID: placeID}
	if body != nil {
		if q.body, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	return r.do(ctx, q)
}

// pages reads a complete list with a place's key. What arrives meanwhile moves the end of a page to the next one, where it isn't counted
// again.
func (x *frame) pages(path, placeID string) (list []any) {
	key := need(x.run.dir.key(placeID))
	seen, first, dropped := map[string]bool{}, 0.0, 0.0
	for offset := 0; ; {
		u := path + "&limit=500&offset=" + fmt.Sprint(offset)
		last := need(x.run.do(x.ctx, request{method: "GET", path: u, apiKey: key}))
		page, ok := last.field("data").([]any)
		if last.Status != 200 || !ok {
			panic(stop{failed("GET %s: %s", path, last.short())})
		}
		total, _ := last.field("total").(float64)
		if offset == 0 {
			first = total
		}
		earlier := maps.Clone(seen)
		for _, e := range page {
			m, _ := e.(map[string]any)
			id, _ := cmp.Or(m["eventId"], m["recordId"]).(string)
			seen[id] = true
			if id != "" && earlier[id] && dropped < total-first {
				dropped++
				continue
			}
			list = append(list, e)
		}
		if offset += len(page); len(page) == 0 || offset >= int(total) {
			return list
		}
	}
}

func (c *Control) title() string { return c.method() + " " + c.Path.raw }

func (c *Control) run(x *frame) (fields, error) {
	lab, path := x.lab(), need(c.Path.str(x.scope))
	base := lab.main
	if c.Board.set() {
		bs := x.boards(c.Board)
		if base = bs[0].owner; base == "" {
			return nil, fmt.Errorf("no control listener has board %s", bs[0].id)
		}
	}
	var body any
	if c.Body != nil {
		body = need(c.Body.eval(x.scope))
	}
	a := need(lab.call(x.ctx, base, c.method(), path, body))
	return a.fields(), c.check(x, a, false)
}

func esc(s string) string { return url.PathEscape(s) }
