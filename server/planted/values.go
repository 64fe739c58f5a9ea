package planted

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Routes of the public API.
const (
	exchange   = "POST /core/v1/auth/apikey/token"
	places     = "PATCH /core/v1/places/*"
	activity   = "GET /core/v1/places/*/events"
	schedule   = "GET /core/v1/public/places/*/schedule"
	create     = "POST /space/v1/partner/entry-permits"
	revoke     = "POST /space/v1/partner/entry-permits/revoke"
	permits    = "GET /space/v1/partner/entry-permits"
	permit     = "GET /space/v1/partner/entry-permits/*"
	logs       = "GET /space/v1/partner/entry-logs"
	gate       = "GET /space/v1/partner/gate-config"
	imports    = "POST /space/v1/customers/import, POST /space/v1/memberships/import"
	customers  = "GET /space/v1/customers"
	members    = "GET /space/v1/memberships"
	bookings   = "GET /space/v1/reservations"
	devices    = "GET /device/v1/devices"
	device     = "GET /device/v1/devices/*"
	orders     = "POST /device/v1/devices/*/commands"
	doors      = "GET /device/v1/doors"
	legacy     = "POST /device/v1/doors/*/open, POST /device/v1/doors/*/hold, POST /device/v1/doors/*/close"
	windows    = "GET /device/v1/doors/*/policies"
	boardRows  = "GET /device/v1/boards"
	netloss    = "GET /device/v1/boards/*/netloss"
	setLoss    = "PUT /device/v1/boards/*/netloss"
	page       = "GET /entry"
	press      = "POST /entry/open"
	permitRows = permits + ", " + permit
	anything   = "* *"
)

// tokenValues, and so on: bugs of what the edge is asked or answers.
var tokenValues = map[string]edge{
	"token-says-an-hour":         show(exchange, "expiresIn", always(3600)),
	"token-of-another-place":     show(exchange, "placeId", mangled),
	"token-shows-all-scopes":     show(exchange, "scopes", always([]string{"device:door", "space:partner"})),
	"missing-scope-is-401":       status(anything, 403, 401),
	"expired-is-403":             status(anything, 401, 403),
	"challenge-header-gone":      header(anything, "Www-Authenticate", ""),
	"retry-after-gone":           header(exchange, "Retry-After", ""),
	"retry-after-is-a-minute":    header(exchange, "Retry-After", "60"),
	"place-kind-gone":            header(anything, "X-Place-Kind", ""),
	"request-id-forgotten":       header(anything, "X-Request-Id", "000000000000000000000000"),
	"retry-after-a-second-early": header(exchange, "Retry-After", "29"),
	"failure-without-status":     failing(anything, "statusCode", nil),
	"failure-code-is-general":    failing(anything, "error", "error"),
	"list-without-total":         says(permitRows+", "+logs+", "+devices, func(p *reply) { delete(p.body, "total") }),
	"success-flag-gone":          says(anything, func(p *reply) { delete(p.body, "success") }),
	"scheme-in-small-letters-unknown": {routes: anything, ask: func(r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "bearer ") {
			r.Header.Del("Authorization")
		}
	}},
	"forwarded-for-believed": {routes: exchange, ask: func(r *http.Request) {
		if to := r.Header.Get("X-Forwarded-For"); to != "" {
			r.RemoteAddr, _, _ = strings.Cut(to, ",")
		}
	}},
	"netloss-of-any-place":        elsewhere(setLoss),
	"netloss-seen-from-any-place": elsewhere(netloss),
	"commands-of-any-place":       elsewhere(orders),
	"legacy-doors-of-any-place":   elsewhere(legacy),
	"windows-of-any-place":        elsewhere("POST /device/v1/doors/*/policies"),
	"windows-gone-from-any-place": elsewhere("DELETE /device/v1/doors/*/policies"),
	"device-of-any-place":         elsewhere(device),
	"permit-of-any-place":         elsewhere(permit),
	"revoke-of-any-place":         elsewhere(revoke),
	"cancel-of-any-place":         elsewhere("POST /space/v1/reservations/*/cancel"),
	"events-of-any-place":         elsewhere(activity),
	"hours-of-any-place":          elsewhere(places),
	testKeysAnywhere:              testKeyAt,
	"openapi-document-gone":       status("GET /space/v1/openapi.json", 200, 404),
	"openapi-path-gone": says("GET /device/v1/openapi.json", func(p *reply) {
		paths, _ := p.body["paths"].(map[string]any)
		delete(paths, "/device/v1/boards")
	}),
	"dead-links-unlimited": {routes: "POST /entry/open", say: func(p *reply) {
		if p.status == http.StatusTooManyRequests && p.body != nil {
			p.status, p.body["statusCode"], p.body["error"] = http.StatusNotFound, http.StatusNotFound, "link_invalid"
		}
	}},
	"docs-page-gone":             status("GET /device/v1/docs", 200, 404),
	"removed-endpoint-not-found": failing("GET /space/v1/access/people", "error", "not_found"),
}

var permitValues = map[string]edge{
	"permit-name-is-reference":     show(permitRows, "name", as("externalRef")),
	"permit-reference-wrong":       show(permitRows, "externalRef", mangled),
	"permit-tail-wrong":            show(permitRows, "phoneTail", mangled),
	"permit-shows-the-phone":       phones(permitRows, "phoneTail"),
	"permit-id-wrong":              show(permits, "permitId", mangled),
	"pending-shown-active":         show(permitRows, "state", swap("pending", "active")),
	"expired-shown-active":         show(permitRows, "state", swap("expired", "active")),
	"revoked-shown-expired":        show(permitRows, "state", swap("revoked", "expired")),
	"permit-starts-a-second-late":  show(permitRows, "startsAt", later(time.Second)),
	"permit-ends-a-second-late":    show(permitRows, "endsAt", later(time.Second)),
	"uses-stay-0":                  show(permitRows, "useCount", always(0)),
	"first-use-never":              show(permitRows, "firstUsedAt", always(nil)),
	"permit-link-of-nobody":        show(permitRows, "url", mangled),
	"permit-doors-hidden":          show(permit, "doorIds", always([]string{})),
	"permit-created-is-updated":    show(permit, "createdAt", as("updatedAt")),
	"permit-updated-is-created":    show(permit, "updatedAt", as("createdAt")),
	"permit-revoked-at-null":       show(permit, "revokedAt", always(nil)),
	"permit-reason-lost":           show(permit, "revokeReason", always(nil)),
	"sync-always-synced":           show(permit, "sync.state", always("synced")),
	"sync-never-synced":            show(permit, "sync.state", always("waiting")),
	"sync-boards-wrong":            show(permit, "sync.boards", plus(1)),
	"synced-boards-wrong":          show(permit, "sync.syncedBoards", plus(1)),
	"last-synced-is-updated":       show(permit, "sync.lastSyncedAt", func(_ any, _ map[string]any, p *reply) any { return p.body["data"].(map[string]any)["createdAt"] }),
	"created-token-wrong":          show(create, "entryToken", mangled),
	"created-link-without-token":   show(create, "url", func(old any, _ map[string]any, _ *reply) any { s, _, _ := strings.Cut(old.(string), "?"); return s }),
	"created-id-wrong":             show(create, "permitId", mangled),
	"revoke-answers-active":        show(revoke, "state", always("active")),
	"revoke-forgets-reason":        asks(revoke, func(b map[string]any) { delete(b, "reason") }),
	"revoke-answers-null-reason":   show(revoke, "reason", always(nil)),
	"permits-reference-ignored":    ignores(permits, "externalRef"),
	"permits-limit-ignored":        ignores(permits, "limit"),
	"permits-offset-ignored":       ignores(permits, "offset"),
	"permits-total-is-of-the-page": says(permits, func(p *reply) { l, _ := p.body["data"].([]any); p.body["total"] = len(l) }),
	"empty-doorids-means-all": asks(create, func(b map[string]any) {
		if ids, ok := b["doorIds"].([]any); ok && len(ids) == 0 {
			delete(b, "doorIds")
		}
	}),
	"period-error-without-code":      failing(create, "error", "invalid_field"),
	"invalid-doors-unnamed":          failing(create, "details.invalid", []string{}),
	"period-error-hours-wrong":       failing(create, "details.requestedHours", 1000),
	"gate-maximum-is-24":             show(gate, "entryPermitMaxHours", always(24)),
	"gate-phone-off":                 show(gate, "phoneEnabled", swap(true, false)),
	"gate-phone-always-on":           show(gate, "phoneEnabled", always(true)),
	"gate-number-wrong":              show(gate, "entryPhone", mangled),
	"gate-number-never-absent":       says(gate, func(p *reply) { ensure(p, "entryPhone", "") }),
	"membership-shows-the-phone":     phones(members, "phoneTail"),
	"membership-state-stays":         show(members, "state", always("active")),
	"membership-ends-late":           show(members, "endsAt", later(time.Hour)),
	"membership-doors-hidden":        show(members, "doorIds", always([]string{})),
	"membership-source-api":          show(members, "source", always("api")),
	"membership-updated-is-created":  show(members, "updatedAt", as("createdAt")),
	"membership-created-is-updated":  show(members, "createdAt", as("updatedAt")),
	"membership-name-is-reference":   show(members, "name", as("externalRef")),
	"reservation-state-stays":        show(bookings, "state", always("active")),
	"reservation-cancelled-at-null":  show(bookings, "cancelledAt", always(nil)),
	"reservation-created-is-updated": show(bookings+", POST /space/v1/reservations/*/cancel", "createdAt", as("updatedAt")),
	"reservation-updated-is-created": show(bookings, "updatedAt", as("createdAt")),
	"cancellation-changes-the-name":  show("POST /space/v1/reservations/*/cancel", "name", mangled),
	"reservation-starts-early":       show(bookings, "startsAt", later(-time.Hour)),
	"customer-name-is-reference":     show(customers, "name", as("externalRef")),
	"customer-shows-the-phone":       phones(customers, "phoneTail"),
	"customer-source-lost":           show(customers, "source", always("import")),
	"customers-offset-ignored":       ignores(customers, "offset"),
	"customer-updated-is-created":    show(customers, "updatedAt", as("createdAt")),
	"customer-created-is-updated":    show(customers, "createdAt", as("updatedAt")),
	"customer-reference-ignored":     ignores(customers, "externalRef"),
}

// ensure adds a field to "data" if it is absent.
func ensure(p *reply, field string, v any) {
	if data, ok := p.body["data"].(map[string]any); ok {
		if _, there := data[field]; !there {
			data[field] = v
		}
	}
}

var importValues = map[string]edge{
	"import-counts-from-1": show(imports, "results.index", plus(1)),
	"import-counts-by-batch": show(imports, "results.index", func(old any, _ map[string]any, _ *reply) any {
		i, _ := old.(json.Number).Int64()
		return int(i) % 50
	}),
	"import-created-wrong":        show(imports, "created", plus(1)),
	"import-unchanged-is-updated": show(imports, "results.status", swap("unchanged", "updated")),
	"import-unchanged-wrong":      show(imports, "unchanged", always(0)),
	"import-failed-hidden":        show(imports, "failed", always(0)),
	"import-received-is-created":  show(imports, "received", as("created")),
	"import-error-general":        show(imports, "results.error", always("invalid_field")),
	"import-ids-hidden":           show(imports, "results.id", always(nil)),
	"import-source-lost":          show(imports, "source", always("import")),
	"import-reference-hidden":     show(imports, "results.externalRef", always(nil)),
	"import-fails-whole": says(imports, func(p *reply) {
		if d, ok := p.body["data"].(map[string]any); ok && p.status == 200 && string(encode(d["failed"])) != "0" {
			p.status, p.body = 400, map[string]any{"error": "invalid_field", "message": "a row failed", "statusCode": 400}
		}
	}),
	"import-again-creates": asks(imports, func(b map[string]any) {
		if s, _ := b["source"].(string); len(s) > 0 && len(s) < 40 {
			again, _ := remembered.LoadOrStore("import", new(atomic.Int64))
			b["source"] = s + strings.Repeat("+", int(again.(*atomic.Int64).Add(1)))
		}
	}),
	"import-stops-at-a-bad-row": asks(imports, func(b map[string]any) {
		items, _ := b["items"].([]any)
		for i, x := range items {
			if row, ok := x.(map[string]any); i > 0 && (!ok || row["phone"] == nil) && len(items) < 100 {
				b["items"] = items[:i]
				return
			}
		}
	}),
	"hours-answer-is-old":   show(places, "hours.week", always(map[string]any{"mon": []any{}, "tue": []any{}, "wed": []any{}, "thu": []any{}, "fri": []any{}, "sat": []any{}, "sun": []any{}})),
	"hours-name-is-another": show(places, "name", mangled),
	"hours-zone-is-utc":     show(places, "timezone", always("UTC")),
	"hours-with-other-fields": asks(places, func(b map[string]any) {
		if h, ok := b["hours"]; ok {
			clear(b)
			b["hours"] = h
		}
	}),
	"hours-absent-days-close": asks(places, func(b map[string]any) {
		h, _ := b["hours"].(map[string]any)
		w, _ := h["week"].(map[string]any)
		for _, day := range []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
			if _, there := w[day]; len(w) > 0 && !there {
				w[day] = []any{}
			}
		}
	}),
	"schedule-days-ignored":     ignores(schedule, "days"),
	"schedule-always-open":      show(schedule, "days.open", always(true)),
	"schedule-notes-gone":       show(schedule, "days.note", always(nil)),
	"schedule-notes-are-closed": show(schedule, "days.note.type", always("closure")),
	"schedule-note-unnamed":     show(schedule, "days.note.name", always("")),
	"schedule-instants-local":   show(schedule, "days.intervals.startsAt", later(9*time.Hour)),
	"schedule-ends-early":       show(schedule, "days.intervals.end", mangled),
	"schedule-end-instant-late": show(schedule, "days.intervals.endsAt", later(time.Minute)),
	"schedule-weekday-monday":   show(schedule, "days.weekday", always("mon")),
	"schedule-begins-wrong":     show(schedule, "days.intervals.start", mangled),
	"schedule-date-wrong":       show(schedule, "days.date", mangled),
	"schedule-zone-is-utc":      show(schedule, "timezone", always("UTC")),
	"schedule-place-wrong":      show(schedule, "placeId", mangled),
	"schedule-needs-a-token": says(schedule, func(p *reply) {
		if p.r.Header.Get("Authorization") == "" {
			p.status, p.body = 401, map[string]any{"error": "token_missing", "message": "send the access token", "statusCode": 401}
		}
	}),
}
