package client

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestBody: a body is read as it is, whether or not its length is announced, up to the limit; one that ends too soon is an
// error, as with io.ReadAll.
func TestBody(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", wholeAtOnce+1)
	for name, c := range map[string]struct {
		method, announced, sent string
		want                    int
		cut                     bool
	}{
		"announced":           {"GET", "5", "hello", 5, false},
		"in chunks":           {"GET", "", "hello", 5, false},
		"empty":               {"GET", "0", "", 0, false},
		"of HEAD":             {"HEAD", "5", "", 0, false},
		"too short":           {"GET", "9", "hello", 5, true},
		"missing":             {"GET", "9", "", 0, true},
		"announced, too long": {"GET", strconv.Itoa(len(long)), long, wholeAtOnce, false},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.announced != "" {
				w.Header().Set("Content-Length", c.announced)
			}
			_ = http.NewResponseController(w).Flush() // else the server announces the length of a short one
			_, _ = io.WriteString(w, c.sent)
		}))
		req := must.Get(http.NewRequestWithContext(t.Context(), c.method, s.URL, nil))(t)
		resp, err := (&http.Client{Timeout: time.Minute}).Do(req) // a limit wraps even an empty body
		if err != nil {
			t.Fatal(err)
		}
		got, err := Body(resp, wholeAtOnce)
		if len(got) != c.want || errors.Is(err, io.ErrUnexpectedEOF) != c.cut || err != nil && !c.cut {
			t.Errorf("%s: %d bytes and %v, want %d and an early end: %t", name, len(got), err, c.want, c.cut)
		}
		_ = resp.Body.Close()
		s.Close()
	}
}
