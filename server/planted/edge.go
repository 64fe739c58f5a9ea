package planted

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// edge is a bug in values: it changes a route's request or its answer.
type edge struct {
	routes string // "GET /device/v1/devices/*", comma-separated
	ask    func(*http.Request)
	say    func(*reply)
	// elsewhere: look for what isn't found in the caller's place in the others.
	elsewhere bool
}

// reply is an answer on its way out. body is nil if it isn't a JSON object.
type reply struct {
	r      *http.Request
	asked  map[string]any // the JSON body of the request
	status int
	head   http.Header
	raw    []byte
	body   map[string]any
}

// What bugs of the edge remember, even across restarts of the server.
var (
	remembered sync.Map // whatever a bug keeps
	authorized sync.Map // Authorization headers that worked
)

// around puts a bug of the edge around the public handler.
func (e edge) around(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.matches(r) {
			h.ServeHTTP(w, r)
			return
		}
		sent, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
		if e.ask != nil {
			e.ask(r)
			if sent2, err := io.ReadAll(r.Body); err == nil {
				sent = sent2
			}
		}
		p := e.play(h, r, sent)
		if auth := r.Header.Get("Authorization"); e.elsewhere {
			if auth != "" && p.status != http.StatusUnauthorized {
				authorized.Store(auth, true)
			}
			for other := range authorized.Range {
				if other == auth || p.status != http.StatusNotFound && p.status != http.StatusForbidden {
					continue
				}
				r2 := r.Clone(r.Context())
				r2.Header.Set("Authorization", other.(string))
				if q := e.play(h, r2, sent); q.status < 400 {
					p = q
				}
			}
		}
		if e.say != nil {
			if p.body != nil {
				_ = json.Unmarshal(sent, &p.asked)
			}
			e.say(p)
			if p.body != nil {
				p.raw = encode(p.body)
				p.head.Set("Content-Length", strconv.Itoa(len(p.raw)))
			}
		}
		maps.Copy(w.Header(), p.head)
		w.WriteHeader(p.status)
		_, _ = w.Write(p.raw)
	})
}

// play serves a request into a reply.
func (e edge) play(h http.Handler, r *http.Request, sent []byte) *reply {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
	w := &kept{head: http.Header{}}
	h.ServeHTTP(w, r)
	p := &reply{r: r, status: max(w.status, http.StatusOK), head: w.head, raw: w.body.Bytes()}
	d := json.NewDecoder(bytes.NewReader(p.raw))
	d.UseNumber()
	if strings.Contains(w.head.Get("Content-Type"), "json") && d.Decode(&p.body) != nil {
		p.body = nil
	}
	return p
}

// kept is a response that is held back.
type kept struct {
	head   http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.head }
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }
func (k *kept) WriteHeader(status int) {
	k.status = cmp.Or(k.status, status)
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// matches compares method and path, a segment at a time; "*" is any segment.
func (e edge) matches(r *http.Request) bool {
	if e.elsewhere && strings.HasSuffix(r.URL.Path, "/devices") { // tokens are learnt from it
		return true
	}
	for route := range strings.SplitSeq(e.routes, ",") {
		method, path, _ := strings.Cut(strings.TrimSpace(route), " ")
		if method != "*" && method != r.Method {
			continue
		}
		want, got := strings.Split(path, "/"), strings.Split(r.URL.Path, "/")
		if path == "*" || slices.EqualFunc(want, got, func(w, g string) bool { return w == "*" || w == g }) {
			return true
		}
	}
	return false
}
