package planted

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

var recordValues = map[string]edge{
	"record-door-name-is-id":      show(logs, "doorName", as("doorId")),
	"record-door-wrong":           show(logs, "doorId", mangled),
	"record-held-shown-opened":    show(logs, "result", swap("held", "opened")),
	"record-denied-shown-refused": show(logs, "result", swap("denied", "refused")),
	"record-reason-is-method":     show(logs, "reason", as("method")),
	"record-method-is-api":        show(logs, "method", always("api")),
	"record-actor-unknown":        show(logs, "actor", always("guest:*----")),
	"record-label-is-actor":       show(logs, "actorLabel", as("actor")),
	"operator-label-is-the-key": show(logs, "actorLabel", func(old any, in map[string]any, _ *reply) any {
		if key, ok := strings.CutPrefix(in["actor"].(string), "api:"); ok {
			return key
		}
		return old
	}),
	"record-short-phone-with-a-head": show(logs, "actorLabel", func(old any, _ map[string]any, _ *reply) any {
		if s, _ := old.(string); len(s) == 4 && s != "----" {
			return "021-****-" + s
		}
		return old
	}),
	"record-shows-the-phone":        phones(logs, "actorLabel"),
	"record-command-hidden":         show(logs, "commandId", always(nil)),
	"record-requested-is-recorded":  show(logs, "requestedAt", as("recordedAt")),
	"record-occurred-is-recorded":   show(logs, "occurredAt", as("recordedAt")),
	"record-recorded-is-occurred":   show(logs, "recordedAt", as("occurredAt")),
	"record-source-is-server":       show(logs, "source", always("server")),
	"record-never-settled":          show(logs, "settledAs", always(nil)),
	"record-settled-at-null":        show(logs, "settledAt", always(nil)),
	"record-replays-0":              show(logs, "replays", always(0)),
	"record-note-lost":              show(logs, "note", always(nil)),
	"record-ids-equal":              show(logs, "recordId", always("rec_00000000000000000000000000")),
	"refused-commands-not-recorded": without(logs, func(i map[string]any) bool { return i["result"] == "refused" }),
	"offline-commands-not-recorded": without(logs, func(i map[string]any) bool { return i["result"] == "offline" }),
	"silent-commands-not-recorded":  without(logs, func(i map[string]any) bool { return i["result"] == "noResponse" }),
	"operator-not-recorded":         without(logs, func(i map[string]any) bool { return i["method"] == "api" }),
	"policies-not-shown-in-records": without(logs, func(i map[string]any) bool { return i["result"] == "changed" }),
	"records-since-ignored": queries(logs, func(q url.Values) {
		if q.Get("sinceDays") == "1" {
			q.Set("sinceDays", "30")
		}
	}),
	"records-since-31-taken":      ignores(logs, "sinceDays"),
	"records-limit-ignored":       ignores(logs, "limit"),
	"records-offset-ignored":      ignores(logs, "offset"),
	"event-never-late":            show(activity, "late", always(false)),
	"event-permit-hidden":         show(activity, "permitId", always(nil)),
	"event-reference-hidden":      show(activity, "externalRef", always(nil)),
	"event-place-wrong":           show(activity, "placeId", mangled),
	"event-door-name-is-id":       show(activity, "doorName", as("doorId")),
	"event-kind-is-opened":        show(activity, "kind", swap("entry.permit.used", "entry.opened")),
	"event-result-is-opened":      show(activity, "result", always("opened")),
	"event-record-wrong":          show(activity, "recordId", mangled),
	"event-recorded-is-occurred":  show(activity, "recordedAt", as("occurredAt")),
	"event-id-is-the-record":      show(activity, "eventId", as("recordId")),
	"event-actor-unknown":         show(activity, "actor", always("guest:*----")),
	"event-shows-the-phone":       phones(activity, "actorLabel"),
	"event-occurred-is-recorded":  show(activity, "occurredAt", as("recordedAt")),
	"events-oldest-first":         says(activity, turned),
	"records-oldest-first":        says(logs, turned),
	"events-from-ignored":         ignores(activity, "from"),
	"events-to-ignored":           ignores(activity, "to"),
	"events-result-ignored":       ignores(activity, "result"),
	"events-kind-ignored":         ignores(activity, "kind"),
	"events-door-ignored":         ignores(activity, "doorId"),
	"events-permit-ignored":       ignores(activity, "permitId"),
	"events-limit-ignored":        ignores(activity, "limit"),
	"events-offset-ignored":       ignores(activity, "offset"),
	"used-events-missing":         without(activity, func(i map[string]any) bool { return i["kind"] == "entry.permit.used" }),
	"link-offline-answers-200":    status(press, 503, 200),
	"link-refused-is-504":         status(press, 502, 504),
	"link-silent-is-502":          status(press, 504, 502),
	"link-dead-is-403":            status(press, 404, 403),
	"link-rule-hidden":            failing(press, "details.rule", nil),
	"link-result-is-reported":     show(press, "result", always("reported")),
	"link-door-name-is-id":        show(press, "doorName", as("doorId")),
	"link-page-cached":            header(page, "Cache-Control", "max-age=60"),
	"link-page-names-the-link":    header(page, "Referrer-Policy", "unsafe-url"),
	"link-page-of-a-dead-link-ok": status(page, 404, 200),
}

var deviceValues = map[string]edge{
	"device-name-is-id":          show(devices+", "+device, "name", as("id")),
	"device-kind-is-board":       show(devices+", "+device, "kind", always("board")),
	"device-offline-is-unknown":  show(devices+", "+device, "health.state", swap("offline", "unknown")),
	"device-unknown-is-offline":  show(devices+", "+device, "health.state", swap("unknown", "offline")),
	"device-always-online":       show(devices+", "+device, "health.state", swap("offline", "online")),
	"device-seen-never":          show(devices+", "+device, "health.lastSeenAt", always(nil)),
	"standing-reported-is-since": show(device, "standing.reportedAt", as("since")),
	"device-since-a-minute-late": show(devices+", "+device, "health.since", later(time.Minute)),
	"device-holds-not":           show(devices+", "+device, "capabilities.door", always([]string{"open", "close"})),
	"standing-stays-locked":      show(device, "standing.state", always("locked")),
	"standing-leaf-stays-closed": show(device, "standing.leaf", always("closed")),
	"standing-always-fresh":      show(device, "standing.fresh", always(true)),
	"standing-hold-end-hidden":   show(device, "standing.holdUntil", always(nil)),
	"standing-since-is-reported": show(device, "standing.since", as("reportedAt")),
	"standing-gone":              show(device, "standing", always(nil)),
	"door-warning-is-open":       show(doors, "doorState", swap("warning", "open")),
	"door-open-is-locked":        show(doors, "doorState", swap("open", "locked")),
	"door-held-is-locked":        show(doors, "doorState", swap("unlocked", "locked")),
	"door-always-online":         show(doors, "online", always(true)),
	"door-of-another-board":      show(doors, "boardId", mangled),
	"door-name-is-id":            show(doors, "name", as("id")),
	"board-always-online":        show(boardRows, "online", always(true)),
	"board-name-is-id":           show(boardRows, "name", as("boardId")),
	"board-doors-hidden":         show(boardRows, "doorIds", always([]string{})),
	"board-channels-hidden":      show(boardRows, "channels", always([]int{})),
	"board-seen-never":           show(boardRows, "lastSeenAt", always(nil)),
	"absent-board-seen-later": show(boardRows, "lastSeenAt", func(old any, in map[string]any, p *reply) any {
		if in["online"] == true {
			return old
		}
		return later(time.Minute)(old, in, p)
	}),
	"netloss-grace-is-default":      show(netloss+", "+setLoss, "graceSec", always(129600)),
	"netloss-channels-all-close":    show(netloss+", "+setLoss, "channels", always(map[string]string{"1": "close", "2": "close"})),
	"netloss-version-0":             show(netloss+", "+setLoss, "version", always(0)),
	"netloss-applied-never":         show(netloss+", "+setLoss, "appliedAt", always(nil)),
	"netloss-applied-a-minute-late": show(netloss, "appliedAt", later(time.Minute)),
	"netloss-offline-answers-200":   status(setLoss, 503, 200),
	"netloss-silent-is-503":         status(setLoss, 504, 503),
	"windows-all-active":            show(windows, "active", always(true)),
	"window-mode-is-auth":           show(windows, "mode", always("auth")),
	"window-ref-is-always":          show(windows, "window.ref", always("always")),
	"window-week-lost":              show(windows, "window.week", always(map[string]any{})),
	"window-made-an-hour-ago":       show(windows, "createdAt", later(-time.Hour)),
	"windows-deleted-says-0":        show("DELETE /device/v1/doors/*/policies", "deleted", always(0)),
	"legacy-failure-no-reason":      failing(legacy, "reason", nil),
	"legacy-failure-no-detail":      failing(legacy, "detail", nil),
	"legacy-hold-is-a-minute":       asks("POST /device/v1/doors/*/hold", func(b map[string]any) { def(b, "minutes", 1) }),
	"legacy-not-deprecated":         header(legacy, "Deprecation", ""),
	"command-id-wrong":              show(orders, "commandId", mangled),
	"command-device-wrong":          show(orders, "deviceId", mangled),
	"command-outcome-done":          show(orders, "outcome", always("done")),
	"command-name-is-open":          show(orders, "command", always("open")),
	"command-reported-early":        show(orders, "reportedAt", later(-time.Minute)),
	"command-requested-late":        show(orders, "requestedAt", later(time.Minute)),
	"command-standing-gone":         show(orders, "standing", always(nil)),
	"command-standing-wrong":        show(orders, "standing.state", swap("unlocked", "locked")),
	"offline-is-503":                status(orders, 409, 503),
	"offline-answers-200":           status(orders+", "+legacy, 409, 200),
	"refused-is-500":                status(orders, 502, 500),
	"refused-answers-200":           status(orders+", "+legacy, 502, 200),
	"silent-is-502":                 status(orders, 504, 502),
	"silent-answers-200":            status(orders+", "+legacy, 504, 200),
	"failure-without-reason":        failing(orders, "details.reason", nil),
	"device-code-hidden":            failing(orders, "details.deviceCode", nil),
	"replay-not-marked":             header(orders, "Idempotent-Replayed", ""),
	"command-minutes-ignored":       asks(orders, func(b map[string]any) { args(b, func(a map[string]any) { delete(a, "minutes") }) }),
	"command-note-dropped":          asks(orders, func(b map[string]any) { args(b, func(a map[string]any) { delete(a, "reason") }) }),
	"command-minutes-are-two-more": asks(orders, func(b map[string]any) {
		args(b, func(a map[string]any) {
			if a["minutes"] != nil {
				a["minutes"] = plus(2)(a["minutes"], a, nil)
			}
		})
	}),
	"idempotency-key-optional": {routes: orders + ", " + legacy, ask: func(r *http.Request) {
		if r.Header.Get("Idempotency-Key") == "" {
			r.Header.Set("Idempotency-Key", rand.Text())
		}
	}},
	"idempotency-key-ignored": {routes: orders, ask: func(r *http.Request) { r.Header.Set("Idempotency-Key", rand.Text()) }},
}

func def(body map[string]any, field string, v any) {
	if body[field] == nil {
		body[field] = v
	}
}

func args(body map[string]any, do func(map[string]any)) {
	if a, ok := body["args"].(map[string]any); ok {
		do(a)
	}
}

// turned reverses the order of a page.
func turned(p *reply) {
	if l, ok := p.body["data"].([]any); ok {
		slices.Reverse(l)
	}
}
