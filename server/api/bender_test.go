package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/server/api/openapi"
)

// bender makes requests and corrupts them.
type bender struct {
	h    *house
	fill *strings.Replacer
	ops  []*openapi.Operation
}

var (
	oddText = []string{"", " ", "\x00", "null", "0", "-1", "1e999", "NaN", "true", "가나다", "\xff\xfe", "../..", "%00", "%2e%2e%2f", "'; DROP TABLE permits;--",
		"<script>", "${jndi:x}", "\u202e", "\r\nX-Evil: 1", "{}", "[]", "\"", "\\", "🚪", "2026-13-40T99:99:99Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00+23:59"}
	oddJSON = []string{"null", "true", "0", "-0", "-1", "1e400", "1.5", "99999999999999999999", `""`, `" "`, `"\u0000"`, `"\ud800"`, "{}", "[]", "[[]]", `[null]`, `{"":null}`,
		`{"a":{"a":{"a":[]}}}`, "\"가\"", "nul", "'x'", "[1,]", `{"a":1,"a":2}`, "1 2", "//", "\xff"}
	oddMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X", "M-SEARCH"}
	oddHeaders = []string{"Authorization", "Content-Type", "Idempotency-Key", "Accept", "Accept-Language", "Accept-Encoding", "X-Request-Id", "X-Forwarded-For",
		"X-Forwarded-Proto", "Content-Encoding", "Transfer-Encoding", "Expect", "Range", "If-None-Match", "Origin", "Cookie", "Host", "Connection", "Upgrade"}
	oddTypes = []string{"application/json", "application/json; charset=utf-16", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "application/json;;", "/", ";", "APPLICATION/JSON", "application/xml"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (m *bender) send(t *testing.T, r *rand.Rand, seen *tally) {
	op := pick(r, m.ops)
	row := matrix[op.ID]
	method, path, body := op.Method, m.fill.Replace(row.path), []byte(m.fill.Replace(row.body))
	head := http.Header{"Content-Type": {typeJSON}}
	if op.Scope != "none" || r.IntN(4) == 0 {
		head.Set("Authorization", "Bearer "+m.h.tokens[pick(r, []string{"key_a", "key_a", "key_a", "key_p", "key_d", "key_b"})])
	}
	if row.key {
		head.Set("Idempotency-Key", fmt.Sprint("m-", r.IntN(5000)))
	}
	for range 1 + r.IntN(3) {
		switch r.IntN(10) {
		case 0:
			method = pick(r, oddMethods)
		case 1, 2:
			path = bendPath(r, path)
		case 3:
			head[pick(r, oddHeaders)] = []string{pick(r, oddText), strings.Repeat(pick(r, oddText), r.IntN(300))}[:1+r.IntN(2)]
		case 4:
			head.Set("Content-Type", pick(r, oddTypes))
		default:
			if op.Body != nil {
				body = bendBody(r, body)
			} else {
				path = bendQuery(r, path)
			}
		}
	}
	u := &url.URL{Scheme: "http", Host: "doors.test"}
	u.Path, u.RawQuery, _ = strings.Cut(path, "?")
	if p, err := url.PathUnescape(u.Path); err == nil && p != u.Path { // as a server reads it
		u.Path, u.RawPath = p, u.Path
	}
	req := &http.Request{Method: method, URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: head, Host: pick(r, []string{"doors.test", "", "a:b:c", "[::1"}),
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)) - int64(r.IntN(2)), RemoteAddr: fmt.Sprintf("10.9.%d.%d:1", r.IntN(4), r.IntN(250)), RequestURI: path}
	w := httptest.NewRecorder()
	m.h.http.ServeHTTP(w, req.WithContext(t.Context()))
	if kind := w.Header().Get("Content-Type"); kind == typeJSON && method != http.MethodHead && !json.Valid(w.Body.Bytes()) {
		t.Errorf("%s %q: %.200q isn't JSON, but says it is", method, path, w.Body)
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	seen.n++
	seen.status[w.Code]++
}

func bendPath(r *rand.Rand, path string) string {
	at := r.IntN(len(path) + 1)
	switch r.IntN(5) {
	case 0:
		return path[:at] + pick(r, oddText) + path[at:]
	case 1:
		parts := strings.Split(path, "/")
		parts[r.IntN(len(parts))] = pick(r, oddText)
		return strings.Join(parts, "/")
	case 2:
		return path[:at]
	case 3:
		return path + strings.Repeat("/a", r.IntN(2000))
	}
	return strings.ToUpper(path)
}

func bendQuery(r *rand.Rand, path string) string {
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	path += sep + pick(r, []string{"limit", "offset", "t", "days", "from", "to", "kind", "result", "ref", "policyId", "sinceDays", "doorId", "externalRef", "x"})
	if r.IntN(2) == 0 {
		return path + "=" + url.QueryEscape(pick(r, oddText))
	}
	return path + "=" + pick(r, oddText) + pick(r, []string{"", "&&=;%", "&limit=1", "&%zz=1"})
}

func bendBody(r *rand.Rand, body []byte) []byte {
	b := slices.Clone(body)
	at := r.IntN(len(b) + 1)
	switch r.IntN(8) {
	case 0:
		return b[:at]
	case 1:
		if len(b) > 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		return b
	case 2:
		return slices.Concat(b[:at], []byte(pick(r, oddText)), b[at:])
	case 3:
		return []byte(pick(r, oddJSON))
	case 4:
		return []byte(strings.Repeat(pick(r, []string{"[", `{"a":`, "\"", "9", "가"}), 1+r.IntN(3000)))
	}
	return bendValue(r, b)
}

// bendValue replaces one value in a JSON object, so that the mistake is deep inside.
func bendValue(r *rand.Rand, body []byte) []byte {
	var v map[string]any
	if json.Unmarshal(body, &v) != nil || len(v) == 0 {
		return []byte(pick(r, oddJSON))
	}
	o := v
	for {
		keys := make([]string, 0, len(o))
		for k := range o {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		k := pick(r, keys)
		if deep, ok := o[k].(map[string]any); ok && len(deep) > 0 && r.IntN(3) > 0 {
			o = deep
			continue
		}
		switch r.IntN(5) {
		case 0:
			delete(o, k)
		case 1:
			o[k] = pick(r, oddText)
		default:
			o[k] = json.RawMessage(`"\u0001MARK"`)
		}
		break
	}
	out, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return bytes.Replace(out, []byte(`"\u0001MARK"`), []byte(pick(r, oddJSON)), 1)
}
