package api

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/fail"
)

// handler performs one operation. It returns the data of a success, a list, or an answer; or an error.
type handler func(*call) (any, error)

// removed are former endpoints: 404 endpoint_removed for every method.
var removed = []string{
	"/space/v1/doors/{deviceId}/access-config",
	"/space/v1/access/people",
	"/space/v1/access/groups",
}

var (
	errRemoved = fail.New(fail.EndpointRemoved, "this endpoint was removed on 2026-09-24")
	errNoPath  = fail.New(fail.NotFound, "no such path")
)

// router registers every operation of the documents.
func (a *api) router() (http.Handler, error) {
	mux := chi.NewRouter()
	used := map[string]bool{}
	for _, d := range a.docs {
		for _, op := range d.Ops {
			h := a.handlers[op.ID]
			if h == nil {
				return nil, fmt.Errorf("no handler for %s", op.ID)
			}
			used[op.ID] = true
			run := a.serve(op, h)
			mux.Method(op.Method, op.Path, run)
			if op.Method == http.MethodGet {
				mux.Method(http.MethodHead, op.Path, run)
			}
		}
	}
	for id := range a.handlers {
		if !used[id] {
			return nil, fmt.Errorf("no document describes %s", id)
		}
	}
	for _, path := range removed {
		mux.Handle(path, a.fail(path, "", errRemoved))
	}
	asset := a.serve(&openapi.Operation{Path: scalarPath, Method: http.MethodGet, Scope: "none"}, serveScalar)
	mux.Method(http.MethodGet, scalarPath, asset)
	mux.Method(http.MethodHead, scalarPath, asset)
	start := a.serve(landing, serveLanding)
	mux.Method(http.MethodGet, landing.Path, start)
	mux.Method(http.MethodHead, landing.Path, start)
	mux.NotFound(func(w http.ResponseWriter, r *http.Request) { a.fail("", "", a.noPath(r.URL.Path))(w, r) })
	mux.MethodNotAllowed(a.notAllowed(mux))
	return mux, nil
}

// verbs are the methods that an operation can have.
var verbs = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// fail answers a path that has no operation; successor is what has replaced an older one.
func (a *api) fail(route, successor string, e *fail.Error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		op := &openapi.Operation{Path: cmp.Or(route, Other), Method: Other, Scope: "none", Legacy: legacyPath(r.URL.Path), Successor: successor}
		if slices.Contains(verbs, r.Method) {
			op.Method = r.Method
		}
		a.serve(op, func(*call) (any, error) { return nil, e })(w, r)
	}
}

// notAllowed answers a known path with a wrong method. Several patterns can match the path (.../revoke is also a
// {permitId}): Allow lists the methods of all of them, in a fixed order. A method that nobody has heard of comes here
// with any path.
func (a *api) notAllowed(mux *chi.Mux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.RawPath // as the router looks at it
		path = cmp.Or(path, r.URL.Path)
		var allow []string
		var pattern, id string
		for _, m := range verbs {
			at := chi.NewRouteContext()
			p := mux.Find(at, m, path)
			if p == "" {
				continue
			}
			allow = append(allow, m)
			if pattern == "" || p == path { // the literal one names the route
				pattern, id = p, at.URLParam("id")
			}
		}
		switch {
		case pattern == "":
			a.fail("", "", errNoPath)(w, r)
			return
		case slices.Contains(removed, pattern):
			a.fail(pattern, "", errRemoved)(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allow, ", "))
		if u, err := url.PathUnescape(id); err == nil && r.URL.RawPath != "" {
			id = u
		}
		a.fail(pattern, strings.Replace(a.successor(pattern), "{id}", url.PathEscape(id), 1), fail.New(fail.MethodNotAllowed, "this path takes "+strings.Join(allow, ", ")))(w, r)
	}
}

// successor is what has replaced an older path; "" for the others.
func (a *api) successor(path string) string {
	for _, d := range a.docs {
		for _, op := range d.Ops {
			if op.Path == path {
				return op.Successor
			}
		}
	}
	return ""
}

// legacyPath reports whether a path is one of the older door and board paths, whose failures have more fields.
func legacyPath(path string) bool {
	return slices.ContainsFunc([]string{"/device/v1/doors", "/device/v1/boards"}, func(p string) bool {
		return path == p || strings.HasPrefix(path, p+"/")
	})
}
