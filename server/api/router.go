package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/server/rule"
)

// handler does one operation. It returns the data of a success, a list or an
// answer; or an error.
type handler func(*call) (any, error)

// removed are endpoints of the past: 404 endpoint_removed, whatever the method.
var removed = []string{
	"/space/v1/doors/{deviceId}/access-config",
	"/space/v1/access/people",
	"/space/v1/access/groups",
}

// router registers every operation of the documents.
func (a *API) router() (http.Handler, error) {
	mux := chi.NewRouter()
	used := map[string]bool{}
	methods := map[string][]string{}
	for _, d := range a.docs {
		for _, op := range d.ops {
			h := a.handlers[op.id]
			if h == nil {
				return nil, fmt.Errorf("no handler for %s", op.id)
			}
			used[op.id] = true
			run := a.serve(op, h)
			mux.Method(op.method, op.path, run)
			methods[op.path] = append(methods[op.path], op.method)
			if op.method == http.MethodGet {
				mux.Method(http.MethodHead, op.path, run)
				methods[op.path] = append(methods[op.path], http.MethodHead)
			}
		}
	}
	for id := range a.handlers {
		if !used[id] {
			return nil, fmt.Errorf("no document describes %s", id)
		}
	}
	for _, path := range removed {
		mux.Handle(path, a.fail(path, rule.New(rule.EndpointRemoved, "this endpoint was removed on 2026-09-24")))
	}
	mux.NotFound(a.fail("", rule.New(rule.NotFound, "there is no such path")))
	mux.MethodNotAllowed(a.notAllowed(mux, methods))
	return mux, nil
}

// fail answers a path that is no operation.
func (a *API) fail(route string, e *rule.Error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		op := &operation{path: route, method: r.Method, scope: "none", legacy: legacyPath(r.URL.Path)}
		a.serve(op, func(*call) (any, error) { return nil, e })(w, r)
	}
}

// notAllowed answers a known path with a wrong method.
func (a *API) notAllowed(mux *chi.Mux, methods map[string][]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		for pattern, list := range methods {
			if mux.Find(chi.NewRouteContext(), list[0], path) == pattern {
				w.Header().Set("Allow", strings.Join(list, ", "))
				a.fail(pattern, rule.New(rule.MethodNotAllowed, "this path takes "+strings.Join(list, ", ")))(w, r)
				return
			}
		}
		a.fail("", rule.New(rule.MethodNotAllowed, "this path takes other methods"))(w, r)
	}
}

// legacyPath: the older door and board paths, whose failures say more.
func legacyPath(path string) bool {
	for _, p := range []string{"/device/v1/doors", "/device/v1/boards"} {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}
