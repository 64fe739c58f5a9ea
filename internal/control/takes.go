package control

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/near"
)

// Takes is what a call takes besides its path.
type Takes struct {
	Body  bool
	Query []string
}

var withBody = Takes{Body: true}

func query(names ...string) Takes { return Takes{Query: names} }

// takes lists the calls that take something, on all listeners; the others take nothing. It repeats the OpenAPI document,
// which would take a process too long to read; a test compares them.
var takes = map[string]Takes{
	"GET /clock":                query("stamp"),
	"POST /clock/advance":       withBody,
	"GET /boards":               query("placeId", "limit", "offset"),
	"GET /boards/{id}/journal":  query("limit", "offset"),
	"POST /boards/{id}/tell":    withBody,
	"POST /faults":              withBody,
	"POST /people/call":         withBody,
	"POST /people/present":      withBody,
	"POST /people/leaf":         withBody,
	"PATCH /places/{placeId}":   withBody,
	"PATCH /doors/{doorId}":     withBody,
	"GET /keys":                 query("placeId"),
	"POST /keys":                withBody,
	"POST /memberships":         withBody,
	"DELETE /memberships/{id}":  query("placeId"),
	"POST /reservations":        withBody,
	"DELETE /reservations/{id}": query("placeId"),
	"GET /grants":               query("placeId", "kind", "limit", "offset"),
	"GET /audit":                query("placeId", "limit", "offset"),
	"GET /why":                  query("doorId", "phone", "link", "grantId", "journalSeq", "at", "placeId"),
	"GET /exposure":             query("placeId"),
	"GET /inbox":                query("placeId", "status", "path", "key", "limit", "offset"),
	"DELETE /inbox":             query("placeId"),
	"GET /go-live":              query("placeId"),
	"POST /server":              withBody,
	"POST /connections/ended":   withBody,
	"POST /restart":             withBody,
	"POST /crash":               withBody,
	"POST /disk":                withBody,
	"GET /history":              query("since"),
}

// TakesOf is what a call such as POST /people/call takes.
func TakesOf(method, pattern string) Takes { return takes[method+" "+pattern] }

// strict refuses what a call doesn't take, and decodes the parameters of the path.
func strict(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := chi.RouteContext(r.Context())
		if r.URL.RawPath != "" { // chi matched it in the place of Path, which is decoded already
			for i, v := range at.URLParams.Values {
				if decoded, err := url.PathUnescape(v); err == nil {
					at.URLParams.Values[i] = decoded
				}
			}
		}
		t := TakesOf(r.Method, strings.TrimPrefix(at.RoutePattern(), Prefix))
		if onlyQuery(w, r, t.Query) && (t.Body || noBody(w, r)) {
			next.ServeHTTP(w, r)
		}
	})
}

// onlyQuery is false after it has answered 400: to a parameter that isn't known, is given more than once, or is empty.
func onlyQuery(w http.ResponseWriter, r *http.Request, known []string) (ok bool) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		Fail(w, http.StatusBadRequest, "invalid_query", "the query string is malformed", nil)
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		why := ""
		switch values := given[name]; {
		case !slices.Contains(known, name):
			why = strconv.Quote(name) + " is not a known query parameter" + near.Hints(name, known)
		case len(values) > 1:
			why = name + " is given more than once"
		case values[0] == "" && name == "placeId" && r.Method == http.MethodGet: // all places
			continue
		case values[0] == "":
			why = name + " must not be empty; leave it out or give it a value"
		default:
			continue
		}
		Fail(w, http.StatusBadRequest, "invalid_query", why, map[string]any{"field": name})
		return false
	}
	return true
}

// noBody is false after it has answered 400: a call without a body may be sent an empty one, {}, or null, which is what
// clients make of no body.
func noBody(w http.ResponseWriter, r *http.Request) (ok bool) {
	b, ok := whole(w, r)
	switch b = bytes.TrimSpace(b); {
	case !ok:
		return false
	case len(b) == 0, string(b) == "null":
		return true
	case b[0] != '{':
		Fail(w, http.StatusBadRequest, "invalid_body", "this call takes no body; leave it out or send {}", nil)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	return Body(w, r, &struct{}{})
}

// repeated is the first field that an object anywhere in a valid JSON value has more than once, such as closures[0].from;
// "" = none. encoding/json would take the last.
func repeated(d *json.Decoder, path string) string {
	t, err := d.Token()
	if err != nil {
		return ""
	}
	again := ""
	switch t {
	case json.Delim('{'):
		for seen := map[string]bool{}; again == "" && d.More(); {
			name, _ := d.Token()
			field, _ := name.(string)
			at := strings.TrimPrefix(path+"."+field, ".")
			if seen[field] {
				return at
			}
			seen[field] = true
			again = repeated(d, at)
		}
	case json.Delim('['):
		for i := 0; again == "" && d.More(); i++ {
			again = repeated(d, path+"["+strconv.Itoa(i)+"]")
		}
	default:
		return ""
	}
	if again == "" {
		_, _ = d.Token() // the end of the object or list
	}
	return again
}
