package planted

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// listValues are bugs that show only when something is asked for in another way: behind a filter, in the middle of a
// list, with more values than usual.
var listValues = map[string]edge{
	"total-of-a-middle-page-is-its-end": says(activity+", "+customers, func(p *reply) {
		q := p.r.URL.Query()
		limit, _ := strconv.Atoi(q.Get("limit"))
		offset, _ := strconv.Atoi(q.Get("offset"))
		if list, _ := p.body["data"].([]any); offset > 0 && limit > 0 && len(list) == limit {
			p.body["total"] = offset + limit
		}
	}),
	"first-total-stays": says(customers+", "+bookings, func(p *reply) {
		if p.status != http.StatusOK || p.r.URL.Query().Has("externalRef") {
			return
		}
		p.body["total"], _ = remembered.LoadOrStore("total "+p.r.URL.Path, p.body["total"])
	}),
	"opening-without-its-door-name": show(activity, "doorName", func(old any, row map[string]any, _ *reply) any {
		if row["method"] == "api" {
			return nil
		}
		return old
	}),
	"use-on-site-without-its-reference": show(activity, "externalRef", func(old any, row map[string]any, _ *reply) any {
		if row["method"] == "onsite" {
			return nil
		}
		return old
	}),
	"ten-digits-without-a-head": show(logs, "actorLabel", func(old any, row map[string]any, _ *reply) any {
		label := fmt.Sprint(old)
		if row["method"] == "phone" && strings.HasPrefix(label, "02") {
			return label[len(label)-4:]
		}
		return old
	}),
	"second-use-not-shown": show(permitRows, "useCount", func(old any, _ map[string]any, _ *reply) any {
		if n, err := strconv.Atoi(fmt.Sprint(old)); err == nil && n > 1 {
			return 1
		}
		return old
	}),
	"only-openings-are-delayed": asks(orders, func(body map[string]any) {
		args, _ := body["args"].(map[string]any)
		if reason, _ := args["reason"].(string); strings.HasPrefix(reason, "sim:delay:") && body["command"] != "open" {
			args["reason"] = "sim:delay:0"
		}
	}),
	"value-after-a-blank-not-found": {routes: activity, ask: func(r *http.Request) {
		r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, ",%20", ",-")
	}},
	"null-doors-of-a-row-are-none": asks(imports, func(body map[string]any) {
		items, _ := body["items"].([]any)
		for _, item := range items {
			row, _ := item.(map[string]any)
			if ids, given := row["doorIds"]; given && ids == nil {
				row["doorIds"] = []any{}
			}
		}
	}),
	"seconds-in-a-list": show("GET /device/v1/devices", "health", func(old any, _ map[string]any, _ *reply) any {
		health, _ := old.(map[string]any)
		if since, _, ok := strings.Cut(fmt.Sprint(health["since"]), "."); ok {
			health["since"] = since + "Z"
		}
		return old
	}),
	"refusal-page-is-a-success": says("POST /entry/open", func(p *reply) {
		if p.status == http.StatusConflict && strings.Contains(p.head.Get("Content-Type"), "html") {
			p.status = http.StatusOK
		}
	}),
	"code-of-a-dead-link": says("GET /entry/*", func(p *reply) {
		if p.status == http.StatusNotFound && strings.HasSuffix(p.r.URL.Path, ".svg") {
			p.status, p.body, p.raw = http.StatusOK, nil, []byte("<svg xmlns=\"http://www.w3.org/2000/svg\"/>")
			p.head.Set("Content-Type", "image/svg+xml")
			p.head.Set("Content-Length", strconv.Itoa(len(p.raw)))
		}
	}),
	"cancelled-active-in-a-whole-list": show(bookings, "state", func(old any, _ map[string]any, p *reply) any {
		if old == "cancelled" && !p.r.URL.Query().Has("externalRef") {
			return "active"
		}
		return old
	}),
	"windows-of-the-mode-in-force": says(windows, func(p *reply) {
		list, _ := p.body["data"].([]any)
		var mode any
		for _, x := range list {
			if w, _ := x.(map[string]any); w["active"] == true {
				mode = w["mode"]
			}
		}
		for _, x := range list {
			if w, _ := x.(map[string]any); mode != nil && w["mode"] == mode {
				w["active"] = true
			}
		}
	}),
	"doors-counted-before-they-collapse": asks(create, func(body map[string]any) {
		if ids, _ := body["doorIds"].([]any); len(ids) > 200 {
			body["doorIds"] = "too many"
		}
	}),
	"token-taken-from-the-address": {routes: devices, ask: func(r *http.Request) {
		if t := r.URL.Query().Get("access_token"); t != "" {
			r.Header.Set("Authorization", "Bearer "+t)
		}
	}},
	"key-trimmed": asks(exchange, func(body map[string]any) {
		if s, ok := body["key"].(string); ok {
			body["key"] = strings.TrimSpace(s)
		}
	}),
	"third-value-of-a-list-ignored": queries(activity, func(q url.Values) {
		for _, name := range []string{"kind", "doorId"} {
			if values := strings.Split(q.Get(name), ","); len(values) > 2 {
				q.Set(name, strings.Join(values[:2], ","))
			}
		}
	}),
	"empty-limit-is-none": queries(permits+", "+logs+", "+activity, func(q url.Values) {
		if q.Get("limit") == "" {
			q.Del("limit")
		}
	}),
	"row-numbers-are-text": asks(imports, func(body map[string]any) {
		items, _ := body["items"].([]any)
		for _, x := range items {
			if row, ok := x.(map[string]any); ok {
				if n, ok := row["phone"].(json.Number); ok {
					row["phone"] = "0" + n.String()
				}
			}
		}
	}),
	"reason-lost-beside-two-names": asks(revoke, func(body map[string]any) {
		if body["externalRef"] != nil && body["permitId"] != nil {
			delete(body, "reason")
		}
	}),
	"result-ignored-beside-door-and-kind": queries(activity, func(q url.Values) {
		if q.Has("doorId") && q.Has("kind") {
			q.Del("result")
		}
	}),
	"keys-without-marks-at-their-end": {routes: orders, ask: func(r *http.Request) {
		r.Header.Set("Idempotency-Key", strings.TrimRight(r.Header.Get("Idempotency-Key"), ".-_"))
	}},
	"challenge-for-a-scope-gone":         headerWhere(isStatus(http.StatusForbidden), "Www-Authenticate", ""),
	"place-kind-gone-of-a-missing-scope": headerWhere(isStatus(http.StatusForbidden), "X-Place-Kind", ""),
}
