package evidence

import (
	"maps"
	"reflect"
	"slices"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// An answer that a target didn't give has to be one that it could have given: parts that repeat each other change
// together, so comparing the two proves nothing.

// listed are the results of the verbs that read lists. Such a verb has no other result but the list's length and ends.
var listed = []string{"records", "events", "lines", "boards"}

// consistent makes what the engine derives from a list agree with the list, or the list with a changed length, and
// the body of an answer with its parts.
func consistent(env, was map[string]any) map[string]any {
	env = addedUp(oneBody(together(env, was), was), was)
	for _, name := range listed {
		list, ok := env[name].([]any)
		before, _ := was[name].([]any)
		count, err := expression.Number(env["count"])
		if _, counts := was["count"]; !ok || !counts || err != nil {
			continue
		}
		if n := int(count); len(list) == len(before) && n != len(list) && n >= 0 && n <= maxLength {
			for more := any(map[string]any{}); len(list) < n; {
				if len(list) > 0 {
					more = list[0]
				}
				list = append(slices.Clip(list), more)
			}
			list = list[:min(n, len(list))]
		}
		out := maps.Clone(env)
		ends := map[string]int{"first": 0, "last": len(list) - 1}
		for _, end := range sortedKeys(ends) {
			if was[end] != nil && env[end] == nil { // only an empty list has no ends
				list = nil
			}
			if _, there := was[end]; there && len(list) > 0 && !reflect.DeepEqual(env[end], was[end]) { // the end itself was changed
				list, _ = put(list, spot{ends[end]}, env[end]).([]any)
			}
		}
		out[name], out["count"] = list, as(was["count"], float64(len(list)))
		for end, i := range ends {
			if len(list) == 0 {
				delete(out, end)
			} else {
				out[end] = list[i]
			}
		}
		return inWhole(out, name, "count", "first", "last")
	}
	return env
}

// inWhole copies these parts of an answer into the whole result, if there is one with them.
func inWhole(env map[string]any, parts ...string) map[string]any {
	whole, _ := env["it"].(map[string]any)
	if whole == nil {
		return env
	}
	whole = maps.Clone(whole)
	for _, part := range parts {
		if has(whole, part) {
			whole[part] = env[part]
		}
	}
	env["it"] = whole
	return env
}

// maxLength bounds the length that a list is given.
const maxLength = 2000

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
	if code, err := expression.Number(body["statusCode"]); err == nil && has(was, "status") {
		if status, err := expression.Number(env["status"]); err == nil && !unchanged(env["status"], was["status"]) {
			body["statusCode"] = as(body["statusCode"], status)
		} else {
			out["status"] = as(was["status"], code)
		}
	}
	page(out, body, was)
	out["body"] = body
	return inWhole(out, append([]string{"body", "status"}, bodyParts...)...)
}

// page makes a list and its total agree, as a page is never longer than the list.
func page(out, body, was map[string]any) {
	list, ok := out["data"].([]any)
	total, err := expression.Number(out["total"])
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

// agree reports whether an answer is consistent: failures have an error, and a success, which is always 200, has none.
func agree(env map[string]any) bool {
	status, err := expression.Number(env["status"])
	code, _ := env["error"].(string)
	return err != nil || (status != 200) == (code != "")
}
