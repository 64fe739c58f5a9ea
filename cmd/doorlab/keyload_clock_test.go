package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestLoadLooksAtTheClock: with keys only, a load of permits isn't sent to a target whose clock is days off, as check plays no
// file there.
func TestLoadLooksAtTheClock(t *testing.T) {
	t.Parallel()
	claims := fmt.Sprintf(`{"exp":%d}`, time.Now().Add(72*time.Hour+15*time.Minute).Unix())
	token := "x." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
	var other []string
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/apikey/token") {
			other = append(other, r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"success":true,"data":{"accessToken":%q,"expiresIn":900,"placeId":"plc_1","scopes":["space:partner","device:door"]}}`, token)
	}))
	defer target.Close()
	dir := t.TempDir()
	plan := filepath.Join(dir, "p.yaml")
	must.OK(t, os.WriteFile(plan, []byte("rate: 10/s\nduration: 1s\nrequests: {register: 100%}\n"), 0o600))
	code, _, said := runQuietly(t.Context(), "load", plan, "--target", target.URL, "--key", "sacl_0123456789abcdefghijABCDEFGHIJ012345", "--out", filepath.Join(dir, "out"))
	if code != codeInvalid || !strings.Contains(said, "ahead of this machine's, so it would call a permit for now expired") || len(other) > 0 {
		t.Errorf("got exit code %d, %q and the requests %q, want %d, that the clock is off, and none", code, said, other, codeInvalid)
	}
}
