package contract

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

const mannered = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{
	"/events":{"get":{"x-required-scope":"any","parameters":[{"name":"limit","in":"query","schema":{"type":"integer"}}],"responses":{"200":{"description":""}}}},
	"/doors":{"get":{"x-required-scope":"device:door","deprecated":true,"responses":{"200":{"description":""}}}},
	"/doors/{id}/open":{"get":{"x-required-scope":"device:door","deprecated":true,"x-successor":"/devices/{id}/commands","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
		"responses":{"200":{"description":""}}}},
	"/open":{"get":{"x-required-scope":"none","responses":{"200":{"description":""}}}},
	"/entry":{"get":{"x-required-scope":"none","responses":{"200":{"description":""}}}},
	"/theirs":{"get":{"responses":{"200":{"description":""}}}}}}`

// The headers that answers usually have; old is for a deprecated path.
var (
	usual = map[string]string{"X-Request-Id": "r", "X-Place-Kind": "test"}
	old   = map[string]string{"X-Request-Id": "r", "X-Place-Kind": "live", "Deprecation": "@1", "Link": `</x>; rel="successor-version"`}
)

func with(h map[string]string, pairs ...string) map[string]string {
	h = maps.Clone(h)
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = pairs[i+1]
	}
	return h
}

// leads are the headers of a deprecated path whose successor has this address.
func leads(to string) map[string]string {
	return with(old, "Link", "<"+to+`>; rel="successor-version"`)
}

func failed(code string, status int) string {
	return fmt.Sprintf(`{"error":%q,"message":"m","statusCode":%d}`, code, status)
}

type answer struct {
	path   string
	status int
	header map[string]string
	body   string
	want   string // part of the error; "" = no error
}

func answers(t *testing.T, all map[string]answer) {
	t.Helper()
	c := must.Get(Of("", []byte(mannered)))(t)
	for name, a := range all {
		err := c.Manners("GET", a.path, a.status, a.header, []byte(a.body))
		if (err == nil) != (a.want == "") || err != nil && !strings.Contains(err.Error(), a.want) {
			t.Errorf("%s: got %v, want %q", name, err, a.want)
		}
	}
}

// The rules for every answer, and each way to break one.
func TestManners(t *testing.T) {
	t.Parallel()
	page := with(usual, "Content-Type", "text/html; charset=utf-8", "Cache-Control", "no-store", "Referrer-Policy", "no-referrer",
		"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	answers(t, map[string]answer{
		"nobody's path":                {"/none", 200, nil, `{}`, ""},
		"a document of others":         {"/theirs", 200, nil, `{}`, ""},
		"a success":                    {"/events", 200, usual, `{"data":{}}`, ""},
		"no request id":                {"/events", 200, with(usual, "X-Request-Id", ""), `{}`, "no X-Request-Id"},
		"no kind of place":             {"/events", 404, with(usual, "X-Place-Kind", ""), `{}`, "X-Place-Kind"},
		"another kind of place":        {"/events", 404, with(usual, "X-Place-Kind", "demo"), `{}`, "X-Place-Kind"},
		"without a token it has none":  {"/open", 200, map[string]string{"X-Request-Id": "r"}, `{}`, ""},
		"nobody's token":               {"/events", 401, map[string]string{"X-Request-Id": "r", "Www-Authenticate": "Bearer realm"}, failed("token_missing", 401), ""},
		"no challenge":                 {"/events", 401, usual, `{"error":"token_missing"}`, "WWW-Authenticate"},
		"the challenge of no token":    {"/events", 401, with(usual, "Www-Authenticate", "Bearer realm"), `{"error":"token_expired"}`, "WWW-Authenticate"},
		"an expired token":             {"/events", 401, with(usual, "Www-Authenticate", `Bearer error="invalid_token"`), failed("token_expired", 401), ""},
		"a key is no token":            {"/open", 401, usual, failed("invalid_api_key", 401), ""},
		"a scope without a challenge":  {"/events", 403, usual, `{"error":"scope_missing"}`, "WWW-Authenticate"},
		"a scope":                      {"/events", 403, with(usual, "Www-Authenticate", `Bearer error="insufficient_scope"`), failed("scope_missing", 403), ""},
		"too often, for how long":      {"/open", 429, usual, `{}`, "Retry-After"},
		"too often, for no time":       {"/open", 429, with(usual, "Retry-After", "0"), `{}`, "Retry-After"},
		"too often":                    {"/open", 503, with(usual, "Retry-After", "5"), failed("storage_unavailable", 503), ""},
		"a deprecated path":            {"/doors", 200, old, `{"data":[],"total":0}`, ""},
		"one that doesn't say so":      {"/doors", 404, with(old, "Deprecation", ""), `{}`, "Deprecation"},
		"one that has no successor":    {"/doors", 404, with(old, "Link", ""), `{}`, "Link"},
		"the successor of a door":      {"/doors/dor_a/open", 200, leads("/devices/dor_a/commands"), `{}`, ""},
		"of a door with odd letters":   {"/doors/d%6Fr_a/open?x=1", 200, leads("/devices/dor_a/commands"), `{}`, ""},
		"that of another door":         {"/doors/dor_a/open", 404, leads("/devices/dor_b/commands"), failed("x", 404), "same id"},
		"that of no door":              {"/doors/dor_a/open", 200, leads("/devices/{id}/commands"), `{}`, "same id"},
		"another path of the door":     {"/doors/dor_a/open", 200, leads("/devices/dor_a"), `{}`, "same id"},
		"one that is not deprecated":   {"/events", 200, with(usual, "Deprecation", "@1"), `{}`, "Deprecation"},
		"a whole list":                 {"/doors", 200, old, `{"data":[{"id":"a"},{"id":"b"}],"total":2}`, ""},
		"a whole list of more":         {"/doors", 200, old, `{"data":[{"id":"a"}],"total":2}`, "total is 2"},
		"a page":                       {"/events?limit=1&offset=3", 200, usual, `{"data":[{"eventId":"a"}],"total":9}`, ""},
		"a page that is too long":      {"/events?limit=1", 200, usual, `{"data":[{"eventId":"a"},{"eventId":"b"}],"total":2}`, "has 2 items"},
		"a page behind the total":      {"/events?limit=1&offset=3", 200, usual, `{"data":[{"eventId":"a"}],"total":3}`, "total is 3"},
		"a last page before the total": {"/events?limit=2&offset=3", 200, usual, `{"data":[{"eventId":"a"}],"total":9}`, "total is 9"},
		"an empty page within":         {"/events?limit=2&offset=3", 200, usual, `{"data":[],"total":9}`, "total is 9"},
		"a page beyond":                {"/events?limit=2&offset=9", 200, usual, `{"data":[],"total":9}`, ""},
		"an entry page":                {"/entry?t=x", 404, page, ``, ""},
		"one that is kept":             {"/entry?t=x", 404, with(page, "Cache-Control", ""), ``, "Cache-Control"},
		"one that tells on":            {"/entry?t=x", 200, with(page, "Referrer-Policy", ""), ``, "Referrer-Policy"},
		"one in a frame":               {"/entry?t=x", 200, with(page, "Content-Security-Policy", "default-src 'none'"), ``, "Security"},
		"one twice":                    {"/events", 200, usual, `{"data":[{"eventId":"a"},{"eventId":"a"}],"total":2}`, "twice"},
		"two of one record":            {"/events", 200, usual, `{"data":[{"eventId":"a","recordId":"r"},{"eventId":"b","recordId":"r"}],"total":2}`, ""},
		"the oldest first": {"/events", 200, usual, `{"data":[{"recordedAt":"2026-11-01T00:00:00.000Z"},{"recordedAt":"2026-11-01T00:00:00.001Z"}],"total":2}`,
			"newest first"},
		"the smaller id first": {"/events", 200, usual, `{"data":[{"eventId":"a","recordedAt":"2026-11-01T00:00:00.000Z"},{"eventId":"b","recordedAt":"2026-11-01T00:00:00.000Z"}],"total":2}`,
			"want the larger id first"},
		"the larger id first": {"/events", 200, usual, `{"data":[{"eventId":"b","recordedAt":"2026-11-01T00:00:00.000Z"},{"eventId":"a","recordedAt":"2026-11-01T00:00:00.000Z"}],"total":2}`, ""},
		"by when it was recorded": {"/events", 200, usual,
			`{"data":[{"recordedAt":"2026-11-01T00:00:00.001Z","createdAt":"2026-11-01T00:00:00.000Z"},{"recordedAt":"2026-11-01T00:00:00.000Z","createdAt":"2026-11-01T00:00:00.001Z"}],"total":2}`, ""},
	})
	var none *Contract
	if err := none.Manners("GET", "/events", 200, nil, nil); err != nil {
		t.Errorf("got %v of no contract, want no error", err)
	}
}

// The fields of each answer, and each way to have different ones.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	answers(t, map[string]answer{
		"a status in words":            {"/events", 404, usual, failed("not_found", 400), "statusCode is 400"},
		"a failure without a message":  {"/events", 404, usual, `{"error":"not_found","statusCode":404}`, "no message"},
		"a failure with more":          {"/events", 404, usual, `{"error":"not_found","message":"m","statusCode":404,"reason":"r","detail":"m"}`, `a field "detail"`},
		"a failure with details":       {"/events", 404, usual, `{"error":"not_found","message":"m","statusCode":404,"details":{}}`, ""},
		"a legacy failure":             {"/doors", 404, old, `{"error":"not_found","message":"m","statusCode":404,"reason":"r","detail":"m"}`, ""},
		"a legacy failure like others": {"/doors", 404, old, failed("not_found", 404), "no reason"},
		"a replay in the old shape":    {"/events", 409, with(usual, "Idempotent-Replayed", "true"), `{"error":"e","message":"m","statusCode":409,"reason":"r","detail":"m"}`, ""},
		"a replay in the new shape":    {"/doors", 409, with(old, "Idempotent-Replayed", "true"), failed("e", 409), ""},
		"a failure without a code":     {"/events", 404, usual, `{"message":"m","statusCode":404}`, "no error"},
		"a success with more":          {"/events", 200, usual, `{"success":true,"data":{},"page":1}`, `a field "page"`},
		"a success without data":       {"/events", 200, usual, `{"success":true}`, "no data"},
	})
}
