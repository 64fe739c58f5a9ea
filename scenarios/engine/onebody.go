package engine

import (
	"maps"
	"reflect"
)

// bodyParts are results that repeat a part of the answer's body.
var bodyParts = []string{"data", "error", "message", "details", "total"}

// oneBody makes the body of an answer agree with the results that repeat parts of it: what was changed in one of them
// changes in the other, so comparing the two proves nothing. was is the answer before.
func oneBody(env, was map[string]any) map[string]any {
	before, _ := was["body"].(map[string]any)
	body, _ := env["body"].(map[string]any)
	if before == nil || body == nil {
		return env
	}
	out, body := maps.Clone(env), maps.Clone(body)
	for _, part := range bodyParts {
		switch {
		case !has(was, part):
		case !unchanged(env[part], was[part]):
			body[part] = env[part]
		default:
			out[part] = body[part]
		}
	}
	if code, err := number(body["statusCode"]); err == nil && has(was, "status") {
		if status, err := number(env["status"]); err == nil && !unchanged(env["status"], was["status"]) {
			body["statusCode"] = as(body["statusCode"], status)
		} else {
			out["status"] = as(was["status"], code)
		}
	}
	page(out, body, was)
	out["body"] = body
	if whole, _ := env["it"].(map[string]any); whole != nil {
		whole = maps.Clone(whole)
		for _, part := range append([]string{"body", "status"}, bodyParts...) {
			if has(whole, part) {
				whole[part] = out[part]
			}
		}
		out["it"] = whole
	}
	return out
}

// page makes a list and its total agree, as a page is never longer than the list.
func page(out, body, was map[string]any) {
	list, ok := out["data"].([]any)
	total, err := number(out["total"])
	if n := int(total); !ok || err != nil || n >= len(list) {
		return
	} else if n >= 0 && !unchanged(out["total"], was["total"]) {
		out["data"] = list[:n]
	} else {
		out["total"] = as(out["total"], float64(len(list)))
	}
	body["data"], body["total"] = out["data"], out["total"]
}

// unchanged reports whether two values are the same one: alternatives share what they don't change.
func unchanged(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if !x.IsValid() || !y.IsValid() || x.Type() != y.Type() {
		return a == nil && b == nil
	}
	switch x.Kind() {
	case reflect.Map:
		return x.Pointer() == y.Pointer()
	case reflect.Slice:
		return x.Len() == y.Len() && x.Pointer() == y.Pointer()
	}
	return x.Comparable() && a == b
}
