package contract

import "testing"

const asked = `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{
	"/a/{id}":{"get":{"x-required-scope":"any","parameters":[{"name":"limit","in":"query","schema":{"type":"integer","minimum":1}},{"name":"kind","in":"query","schema":{"type":"array","items":{"type":"string"}}}],"responses":{}},
		"post":{"x-required-scope":"device:door","parameters":[{"name":"Idempotency-Key","in":"header","required":true,"schema":{"type":"string"}}],
			"requestBody":{"content":{"application/json":{"schema":{"type":"object","required":["n"],"additionalProperties":false,"properties":{"n":{"type":"integer"}}}}}},"responses":{}}}}}`

// TestAsks: what the document doesn't allow to be asked is told from what it allows.
func TestAsks(t *testing.T) {
	t.Parallel()
	c, err := Of("", []byte(asked))
	if err != nil {
		t.Fatal(err)
	}
	key := map[string]string{"idempotency-key": "k"}
	for name, x := range map[string]struct {
		method, path string
		header       map[string]string
		body         string
		allowed      bool
	}{
		"a read":                        {"GET", "/a/1", nil, "", true},
		"a number in the query":         {"GET", "/a/1?limit=5&kind=x", nil, "", true},
		"a number that is too low":      {"GET", "/a/1?limit=0", nil, "", false},
		"no number":                     {"GET", "/a/1?limit=x", nil, "", false},
		"a malformed query":             {"GET", "/a/1?limit=%zz", nil, "", false},
		"with its header":               {"POST", "/a/1", key, `{"n":1}`, true},
		"without a body that may lack":  {"POST", "/a/1", key, "", true},
		"without its header":            {"POST", "/a/1", nil, `{"n":1}`, false},
		"without a field":               {"POST", "/a/1", key, `{}`, false},
		"with a field of another kind":  {"POST", "/a/1", key, `{"n":"1"}`, false},
		"with a field that nobody has":  {"POST", "/a/1", key, `{"n":1,"m":1}`, false},
		"no JSON":                       {"POST", "/a/1", key, `{`, false},
		"of which the document is mute": {"POST", "/b", nil, `{`, true},
	} {
		if err := c.Asks(x.method, x.path, x.header, []byte(x.body)); (err == nil) != x.allowed {
			t.Errorf("%s: got %v, want it allowed: %t", name, err, x.allowed)
		}
	}
	for path, want := range map[string]string{"GET": "", "POST": "device:door", "PUT": ""} {
		if got := c.Scope(path, "/a/1"); got != want {
			t.Errorf("scope of %s: got %q, want %q", path, got, want)
		}
	}
	var none *Contract
	if none.Asks("GET", "/a/1", nil, nil) != nil || none.Scope("GET", "/a/1") != "" {
		t.Error("no document allows everything and needs no scope")
	}
}
