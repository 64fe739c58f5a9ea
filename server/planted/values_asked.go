package planted

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/plain"
)

// askedValues are bugs of what requests may say, and of what failures say back.
var askedValues = map[string]edge{
	"unknown-fields-refused": asks(create+", "+orders, func(body map[string]any) {
		for name := range body {
			if !slices.Contains([]string{"externalRef", "phone", "name", "startsAt", "endsAt", "doorIds", "capability", "command", "args"}, name) {
				clear(body)
				return
			}
		}
	}),
	"bodies-of-any-size": raws(create+", "+imports, bytes.TrimSpace),
	"invisible-characters-dropped": asks(create, func(body map[string]any) {
		for _, field := range []string{"name", "externalRef"} {
			if s, ok := body[field].(string); ok && plain.Deceptive(s) {
				body[field] = strings.Map(func(r rune) rune {
					if plain.Deceptive(string(r)) {
						return -1
					}
					return r
				}, s)
			}
		}
	}),
	"source-of-64-refused": asks(imports, func(body map[string]any) {
		if s, _ := body["source"].(string); len(s) == 64 {
			body["source"] = s + "x"
		}
	}),
	"touching-intervals-refused": asks(places, func(body map[string]any) {
		hours, _ := body["hours"].(map[string]any)
		week, _ := hours["week"].(map[string]any)
		for day, list := range week {
			pairs, _ := list.([]any)
			for i := 1; i < len(pairs); i++ {
				before, _ := pairs[i-1].([]any)
				after, _ := pairs[i].([]any)
				if len(before) == 2 && len(after) == 2 && before[1] == after[0] {
					week[day] = "09:00-15:00"
				}
			}
		}
	}),
	"door-does-not-open-in-silence": asks(orders, func(body map[string]any) {
		if args, ok := body["args"].(map[string]any); ok && args["reason"] == "sim:noResponse:opened" {
			args["reason"] = "sim:noResponse"
		}
	}),
	"outcomes-asked-for-openings-only": asks(orders, func(body map[string]any) {
		if body["command"] != "open" {
			args(body, func(a map[string]any) { delete(a, "reason") })
		}
	}),
	"misspelt-query-removes-all": queries("DELETE /device/v1/doors/*/policies", func(q url.Values) {
		for name := range q {
			if name != "ref" && name != "policyId" {
				q.Del(name)
			}
		}
	}),
	"short-request-id-replaced": {routes: anything, ask: func(r *http.Request) {
		if len(r.Header.Get("X-Request-Id")) == 8 {
			r.Header.Del("X-Request-Id")
		}
	}},
	"month-of-records-unasked": queries(logs, func(q url.Values) {
		if !q.Has("sinceDays") {
			q.Set("sinceDays", "30")
		}
	}),
	"too-long-names-the-first-door": says(create, func(p *reply) {
		details, _ := p.body["details"].(map[string]any)
		ids, _ := p.asked["doorIds"].([]any)
		if p.status == http.StatusConflict && len(ids) > 0 {
			details["doorId"] = slices.MinFunc(ids, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
		}
	}),
	"request-id-gone-of-failures":  headerOfFailures("X-Request-Id", ""),
	"deprecation-gone-of-failures": headerOfFailures("Deprecation", ""),
	"allow-gone":                   headerOfFailures("Allow", ""),
	"deprecation-gone-of-a-405":    headerWhere(isStatus(http.StatusMethodNotAllowed), "Deprecation", ""),
	"page-of-a-dead-link-names-it": headerOfFailures("Referrer-Policy", "unsafe-url"),
	"legacy-detail-is-reason": says(legacy, func(p *reply) {
		if p.status >= 400 {
			p.body["detail"] = p.body["reason"]
		}
	}),
	"failed-rows-say-nothing": show(imports, "results.message", always("")),
	"named-charset-refused": {routes: orders, ask: func(r *http.Request) {
		if strings.Contains(r.Header.Get("Content-Type"), "charset") {
			r.Header.Set("Content-Type", "text/plain")
		}
	}},
	"notes-trimmed": asks(orders, func(body map[string]any) {
		args(body, func(a map[string]any) {
			if s, ok := a["reason"].(string); ok {
				a["reason"] = strings.TrimSpace(s)
			}
		})
	}),
	"bodies-alike-taken-for-one": raws(orders, func(raw []byte) []byte {
		if len(raw) <= 100 {
			return raw
		}
		was, _ := remembered.LoadOrStore("body "+string(raw[:100]), raw)
		return was.([]byte)
	}),
	"challenge-says-nothing-of-the-end": headerOfFailures("Www-Authenticate", `Bearer realm="store-access"`),
}

// headerOfFailures answers another header with a failure, "" = none.
func headerOfFailures(name, value string) edge {
	return headerWhere(func(status int) bool { return status >= 400 }, name, value)
}

func isStatus(status int) func(int) bool { return func(of int) bool { return of == status } }

func headerWhere(fits func(status int) bool, name, value string) edge {
	e := header(anything, name, value)
	say := e.say
	e.say = func(p *reply) {
		if fits(p.status) {
			say(p)
		}
	}
	return e
}
