package listen

import (
	"net/http"
	"net/url"
	"regexp"
)

var (
	escape     = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	unreserved = regexp.MustCompile(`^[A-Za-z0-9._~-]$`)
)

// PlainPath is a request in whose RawPath, which routers compare with the fixed parts of paths, characters are decoded that
// mean the same whether they are percent-encoded or not (RFC 3986, 6.2.2.2); others, such as %2F, stay as they are.
func PlainPath(r *http.Request) *http.Request {
	if r.URL.RawPath == "" {
		return r
	}
	u := *r.URL
	u.RawPath = escape.ReplaceAllStringFunc(u.RawPath, func(escaped string) string {
		if c, err := url.PathUnescape(escaped); err == nil && unreserved.MatchString(c) {
			return c
		}
		return escaped
	})
	r = r.WithContext(r.Context())
	r.URL = &u
	return r
}
