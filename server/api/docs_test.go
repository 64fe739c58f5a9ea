package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// The vendored script is the one that its README names, whichever encodings the caller accepts.
func TestScalar(t *testing.T) {
	t.Parallel()
	readme := mustFile("pages/scalar/README.md")
	if !strings.Contains(readme, scalarVersion) || !strings.Contains(mustFile("pages/scalar/LICENSE"), "MIT License") {
		t.Error("README.md and LICENSE say the version and the licence")
	}
	h := newHouse(t)
	sums := map[bool]string{} // unpacking is expensive: once per encoding
	for accept, packed := range map[string]bool{"": false, "br, gzip": true, "gzip;q=0": false, "gzip; q=0.0, br": false, "deflate, GZIP;q=0.5": true, "*": false} {
		r := h.want(200, "", request{method: "GET", path: scalarPath, header: map[string]string{"Accept-Encoding": accept}})
		if got := r.Header().Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("%q: packed %v, want %v", accept, got, packed)
		}
		if !strings.Contains(r.Header().Get("Cache-Control"), "immutable") || r.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf(`got %v, want "immutable" in r.Header().Get("Cache-Control"), r.Header().Get("Vary") = "Accept-Encoding"`, r.Header())
		}
		if sums[packed] != "" {
			continue
		}
		var body io.Reader = r.Body
		if packed {
			z := must.Get(gzip.NewReader(bytes.NewReader(r.Body.Bytes())))(t)
			body = z
		}
		sum := sha256.New()
		must.Get(io.Copy(sum, body))(t)
		if sums[packed] = hex.EncodeToString(sum.Sum(nil)); !strings.Contains(readme, sums[packed]) {
			t.Errorf("%q: checksum %s isn't in README.md", accept, sums[packed])
		}
	}
	h.want(405, "method_not_allowed", request{method: "POST", path: scalarPath})
}

// TestScriptIsShared: requests for the script share one copy, with and without gzip.
func TestScriptIsShared(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"", "gzip"} {
		var first *byte
		for range 2 {
			r := httptest.NewRequest(http.MethodGet, scalarPath, nil)
			r.Header.Set("Accept-Encoding", encoding)
			v := must.Get(serveScalar(&call{w: httptest.NewRecorder(), r: r}))(t)
			p := &v.(answer).body[0]
			if first != nil && p != first {
				t.Errorf("encoding %q: a reader gets its own copy, want a shared one", encoding)
			}
			first = p
		}
	}
}
