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
	answers := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	server, boards := listener("a"), listener("b")
	api := answers(http.StatusNotFound, `{"error":"not_found","message":"no such path","statusCode":404}`)
	page, moved := answers(http.StatusOK, "<html>"), answers(http.StatusMovedPermanently, "")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"the second's token":  {[]string{"--target", "http://127.0.0.1:1", "--control", server, "--control", boards, "--control-token", "a,x"}, "doorlab: --control " + boards + ": the control token is wrong or missing"},
		"the first's token":   {[]string{"--target", "http://127.0.0.1:1", "--control", server, "--control", boards, "--control-token", "x,b"}, "doorlab: --control " + server + ": the control token is wrong or missing"},
		"a target of control": {[]string{"--target", server + "/", "--control", server, "--control-token", "a"}, "doorlab: --target " + server + ": this is the address of a control API"},
		"a control of target": {[]string{"--target", api, "--control", api, "--control-token", "a"}, "doorlab: --control " + api + ": this isn't the address of a control API"},
		"a page for control":  {[]string{"--target", api, "--control", page, "--control-token", "a"}, "doorlab: --control: " + page + ": none is a server's control API"},
		"a key, no such path": {[]string{"--target", api + "/core/v1", "--key", "sact_x"}, "doorlab: --target " + api + "/core/v1: this isn't the base address of the API"},
		"a key, a page":       {[]string{"--target", page, "--key", "sact_x"}, "doorlab: --target " + page + ": this isn't the base address of the API"},
		"a key, moved":        {[]string{"--target", moved, "--key", "sact_x"}, "doorlab: --target " + moved + ": this isn't the base address of the API"},
	} {
		code, _, errs := runQuietly(t.Context(), append([]string{"check", "terms_values", "--out", t.TempDir()}, c.args...)...)
		if code != codeUsage || !strings.HasPrefix(errs, c.want) {
			t.Errorf("%s: got exit %d and %q, want %d and %q", name, code, errs, codeUsage, c.want)
		}
	}
}

// TestAnswersOfSomethingElse: what answers like an API, but isn't the control API, is told as that, not as Go's trouble with its
// answer.
func TestAnswersOfSomethingElse(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"success":true,"data":{"a":1}}`))
	}))
	t.Cleanup(s.Close)
	for _, args := range [][]string{{"board", "list"}, {"keys", "list"}, {"place", "list"}, {"inbox", "list", "--place", "x"}} {
		code, _, errs := runQuietly(t.Context(), append(args, "--control", s.URL, "--control-token", "a")...)
		if want := "this isn't the address of a control API"; code != codeUsage || !strings.Contains(errs, want) || strings.Contains(errs, "Go value") {
			t.Errorf("%s: exit %d and %q, want %d and %q", strings.Join(args, " "), code, errs, codeUsage, want)
		}
	}
}

// TestControlAddress: --control takes what a person has at hand: host:port, a URL, or the one that curl needs.
func TestControlAddress(t *testing.T) {
	t.Parallel()
	const want = "http://127.0.0.1:8081"
	for _, given := range []string{"127.0.0.1:8081", want, want + "/", want + "/lab/v1", want + "/lab/v1/", "127.0.0.1:8081/lab/v1"} {
		if got := baseURL(given); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}

// TestScheme: the case of a URL's scheme means nothing.
func TestScheme(t *testing.T) {
	t.Parallel()
	for given, ok := range map[string]bool{"http://h:1": true, "HTTP://h:1": true, "HttpS://h": true, "httpx://h": false, "http:h": false, "HTTP:///x": false} {
		if err := serverURL("target", given); (err == nil) != ok {
			t.Errorf("%s: got %v, want it accepted: %v", given, err, ok)
		}
	}
	for given, ok := range map[string]bool{"TCP://h:1": true, "MQTTS://h:1": true, "MQTTX://h:1": false} {
		if _, _, err := (&brokerFlags{url: given}).address(); (err == nil) != ok {
			t.Errorf("%s: got %v, want it accepted: %v", given, err, ok)
		}
	}
}
