// Package control is what all control listeners share: bearer check, envelope, strict queries and bodies, and the clock's
// routes.
// server/console, boardsim and testbed mount their routes on it.
package control

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/near"
)

// Prefix of every route.
const Prefix = "/lab/v1"

// maxBody is the largest body that is read.
const maxBody = 1 << 20

// Handler serves what mount registers under Prefix, behind the bearer token.
func Handler(token string, mount func(chi.Router)) http.Handler {
	root := chi.NewRouter()
	root.Use(plain)
	root.NotFound(func(w http.ResponseWriter, r *http.Request) {
		var known []string
		_ = chi.Walk(root, func(_, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			known = append(known, pattern)
			return nil
		})
		noPath(w, r, known)
	})
	root.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete} {
			if root.Match(chi.NewRouteContext(), answeredAs(m), r.URL.Path) {
				allowed = append(allowed, m)
			}
		}
		FailMethod(w, r, allowed...)
	})
	root.Route(Prefix, func(r chi.Router) {
		mount(r.With(bearer(token), strict)) // only on routes: an unknown path or method is reported first
	})
	return root
}

// plain is a request as the router should see it.
func plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = listen.PlainPath(r).WithContext(r.Context())
		r.Method = answeredAs(r.Method)
		next.ServeHTTP(w, r)
	})
}

// answeredAs is the method whose answer a method gets: HEAD that of GET, whose body net/http leaves out.
func answeredAs(method string) string {
	if method == http.MethodHead {
		return http.MethodGet
	}
	return method
}

// Exact answers 404 to a path with empty or dotted segments. http.ServeMux, which comes after it, would redirect the call
// to a path that nobody asked for.
func Exact(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clean := path.Clean(r.URL.Path)
		if clean != r.URL.Path && (clean == "/" || clean+"/" != r.URL.Path) {
			noPath(w, r, nil)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// noPath names the known path that was probably meant.
func noPath(w http.ResponseWriter, r *http.Request, known []string) {
	message := "no such path: " + r.URL.Path
	if meant := near.Path(r.URL.Path, known); meant != "" {
		message += ", did you mean " + meant + "?"
	}
	Fail(w, http.StatusNotFound, "not_found", message, nil)
}

func bearer(token string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if bearerOf(r) == "" {
				w.Header().Set("WWW-Authenticate", `Bearer realm="doorlab control"`)
				Fail(w, http.StatusUnauthorized, "token_missing", "the control token is missing: Authorization: Bearer <controlToken>", nil)
				return
			}
			if !Bears(r, token) {
				w.Header().Set("WWW-Authenticate", `Bearer realm="doorlab control", error="invalid_token"`)
				Fail(w, http.StatusUnauthorized, "token_invalid", "the control token is wrong", nil)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// bearerOf is the token that a request has, "" if it has none.
func bearerOf(r *http.Request) string {
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return got
}

// Bears reports whether a request has the token.
func Bears(r *http.Request, token string) bool {
	return subtle.ConstantTimeCompare([]byte(bearerOf(r)), []byte(token)) == 1
}

func write(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read it in a terminal
	if err := enc.Encode(v); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"error":"internal_error","message":"the answer cannot be encoded","statusCode":500}` + "\n")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// Data answers {success, data}.
func Data(w http.ResponseWriter, v any) {
	write(w, http.StatusOK, map[string]any{"success": true, "data": v})
}

// List answers {success, data, total}; a nil slice is [].
func List[T any](w http.ResponseWriter, items []T, total int) {
	if items == nil {
		items = []T{}
	}
	write(w, http.StatusOK, map[string]any{"success": true, "data": items, "total": total})
}

// Fail answers {error, message, statusCode, details?}.
func Fail(w http.ResponseWriter, status int, code, message string, details map[string]any) {
	body := map[string]any{"error": code, "message": message, "statusCode": status}
	if len(details) > 0 {
		body["details"] = details
	}
	write(w, status, body)
}

// FailField answers 400 invalid_field.
func FailField(w http.ResponseWriter, field, why string) { FailText(w, field, field+" "+why) }

// FailText answers 400 invalid_field with a sentence of its own.
func FailText(w http.ResponseWriter, field, text string) {
	Fail(w, http.StatusBadRequest, "invalid_field", text, map[string]any{"field": field})
}

// FailMethod answers 405 method_not_allowed.
func FailMethod(w http.ResponseWriter, r *http.Request, allowed ...string) {
	methods := strings.Join(allowed, ", ")
	w.Header().Set("Allow", methods) // in one line, because many clients read only the first
	Fail(w, http.StatusMethodNotAllowed, "method_not_allowed", r.Method+" is not allowed on "+r.URL.Path+", which takes "+methods, nil)
}

// FailMissing answers 400 missing_field.
func FailMissing(w http.ResponseWriter, field, why string) {
	Fail(w, http.StatusBadRequest, "missing_field", field+" "+why, map[string]any{"field": field})
}

// whole reads the body. ok is false after it has answered 400.
func whole(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	b, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		Fail(w, http.StatusBadRequest, "invalid_body", "the body could not be read", nil)
	case len(b) > maxBody:
		Fail(w, http.StatusBadRequest, "body_too_large", "the body is larger than 1 MiB", nil)
	default:
		return b, true
	}
	return nil, false
}

// Body decodes a JSON object strictly into v, a pointer to a struct. ok is false after it has answered 400: not an
// object, a wrong type, a field given more than once, or an unknown field, with the nearest known name.
func Body(w http.ResponseWriter, r *http.Request, v any) (ok bool) {
	b, ok := whole(w, r)
	if !ok {
		return false
	}
	if trimmed := bytes.TrimSpace(b); len(trimmed) == 0 || trimmed[0] != '{' {
		Fail(w, http.StatusBadRequest, "invalid_body", "the body must be a JSON object", nil)
		return false
	}
	err := one(b) // first, because the next two see nothing wrong in what is no JSON
	if err == nil {
		if name := repeated(json.NewDecoder(bytes.NewReader(b)), ""); name != "" {
			FailField(w, name, "is given more than once")
			return false
		}
		if name, hint := Misnamed("", b, v); name != "" {
			FailField(w, name, "is not a known field"+hint)
			return false
		}
		err = json.Unmarshal(b, v)
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return true
	case errors.As(err, &wrong):
		FailField(w, wrong.Field, Mistyped(wrong))
	case strings.Contains(err.Error(), "max depth"): // encoding/json's own bound
		Fail(w, http.StatusBadRequest, "invalid_body", "the body is nested too deeply: at most 10,000 levels", nil)
	default:
		Fail(w, http.StatusBadRequest, "invalid_body", "the body is not the expected JSON: "+err.Error(), nil)
	}
	return false
}

// one checks that a body is one JSON value and nothing else: Decoder.More sees no more in a bracket.
func one(body []byte) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	err := dec.Decode(new(json.RawMessage))
	if err == nil && len(bytes.TrimSpace(body[dec.InputOffset():])) > 0 {
		err = errors.New("more than one JSON value")
	}
	return err
}

// Mistyped says what is wrong with a value of the wrong type, to follow its field. For a number that doesn't fit into Go's
// type, encoding/json adds its text.
func Mistyped(e *json.UnmarshalTypeError) string {
	must := kind(e.Type.String())
	number, isNumber := strings.CutPrefix(e.Value, "number ")
	switch {
	case !isNumber:
		return "must be " + must + ", not " + e.Value
	case must == "a whole number" && strings.ContainsAny(number, ".eE"):
		return "must be a whole number, without a decimal point or an exponent (found " + number + ")"
	}
	return "is out of range"
}

func kind(goType string) string {
	switch t := strings.TrimPrefix(goType, "*"); {
	case strings.HasPrefix(t, "int"):
		return "a whole number"
	case strings.HasPrefix(t, "float"):
		return "a number"
	case t == "bool":
		return "true or false"
	case strings.HasPrefix(t, "[]"):
		return "a list"
	case t == "string", t == "time.Time":
		return "a string"
	}
	return "an object"
}

// Page parses limit (default 100, 1..max) and offset. ok is false after it has answered 400.
func Page(w http.ResponseWriter, r *http.Request, maxLimit int) (limit, offset int, ok bool) {
	limit, ok = number(w, r, "limit", 100, 1, maxLimit)
	if !ok {
		return 0, 0, false
	}
	offset, ok = number(w, r, "offset", 0, 0, 1<<31-1)
	return limit, offset, ok
}

// Part parses limit and offset of a list that is whole without them. ok is false after it has answered 400.
func Part(w http.ResponseWriter, r *http.Request) (limit, offset int, ok bool) {
	const most = 1<<31 - 1
	limit, ok = number(w, r, "limit", most, 1, most)
	if !ok {
		return 0, 0, false
	}
	offset, ok = number(w, r, "offset", 0, 0, most)
	return limit, offset, ok
}

// yes reads a query parameter that is true or false, false without it. ok is false after it has answered 400.
func yes(w http.ResponseWriter, r *http.Request, name string) (value, ok bool) {
	q := r.URL.Query()
	switch text := q.Get(name); {
	case !q.Has(name), text == "false":
		return false, true
	case text == "true":
		return true, true
	}
	Fail(w, http.StatusBadRequest, "invalid_query", name+" must be true or false", map[string]any{"field": name})
	return false, false
}

func number(w http.ResponseWriter, r *http.Request, name string, def, low, high int) (int, bool) {
	q := r.URL.Query()
	if !q.Has(name) {
		return def, true
	}
	n, err := strconv.Atoi(q.Get(name))
	if err != nil || n < low || n > high {
		Fail(w, http.StatusBadRequest, "invalid_query", fmt.Sprintf("%s must be a whole number from %d to %d", name, low, high), map[string]any{"field": name})
		return 0, false
	}
	return n, true
}
