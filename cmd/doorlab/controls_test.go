package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhichControl: of several control APIs, the one that refuses its token is named, and a target that is a control API
// is refused before anything runs.
func TestWhichControl(t *testing.T) {
	t.Parallel()
	listener := func(token string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+token {
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = w.Write([]byte(`{"success":false,"error":"token_invalid","message":"the control token is wrong","statusCode":401}`))
				return
			}
			_, _ = w.Write([]byte(`{"success":true,"data":{}}`))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	server, boards := listener("a"), listener("b")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"the second's token":  {[]string{"--target", "http://127.0.0.1:1", "--control", server, "--control", boards, "--control-token", "a,x"}, "doorlab: --control " + boards + ": the control token is wrong or missing"},
		"the first's token":   {[]string{"--target", "http://127.0.0.1:1", "--control", server, "--control", boards, "--control-token", "x,b"}, "doorlab: --control " + server + ": the control token is wrong or missing"},
		"a target of control": {[]string{"--target", server + "/", "--control", server, "--control-token", "a"}, "doorlab: --target " + server + ": this is the address of a control API"},
	} {
		code, _, errs := runQuietly(t.Context(), append([]string{"check", "terms_values", "--out", t.TempDir()}, c.args...)...)
		if code != codeUsage || !strings.HasPrefix(errs, c.want) {
			t.Errorf("%s: got exit %d and %q, want %d and %q", name, code, errs, codeUsage, c.want)
		}
	}
}
