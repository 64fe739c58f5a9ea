package history

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

const (
	aToken  = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJrZXlfMSJ9"
	aPhone  = "01012345678"
	devices = "/device/v1/devices/"
)

// TestNoSecretInACall: wherever a client puts a token or a phone, the history has only its mark.
func TestNoSecretInACall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]CallIn{
		"query":              {Method: "GET", Path: devices + "dor_1?access_token=" + aToken, Status: 401},
		"query, by its name": {Method: "GET", Path: devices + "dor_1?phone=010123&x=1", Status: 401},
		"a broken query":     {Method: "GET", Path: "/entry?t=" + aToken + "&x=%zz", Status: 400},
		"a parameter's name": {Method: "GET", Path: devices + "dor_1?" + aPhone, Status: 400},
		"escaped":            {Method: "GET", Path: devices + "dor_1?q=%2B82+10-1234-5678", Status: 400},
		"path":               {Method: "GET", Path: devices + aPhone, Status: 404},
		"reference":          {Method: "POST", Path: "/x", Status: 200, Request: []byte(`{"externalRef":"guest-` + aPhone + `"}`)},
		"another field":      {Method: "POST", Path: "/x", Status: 422, Request: []byte(`{"startsAt":"` + aPhone + `","doorIds":["` + aToken + `"],"graceSec":1012345678}`)},
		"a row": {Method: "POST", Path: "/space/v1/customers/import", Status: 200, Answer: []byte(`{"data":{"results":[{"index":0,"status":"failed"}]}}`),
			Request: []byte(`{"items":[{"phone":1012345678,"name":"` + aPhone + `","startsAt":"` + aPhone + `","doorIds":["` + aPhone + `"]}]}`)},
	} {
		text := CallEvent(c).String()
		for _, secret := range []string{"eyJ", "12345678", "1234-5678", "010123"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: the history has %q: %s", name, secret, text)
			}
		}
	}
}

// TestNothingElseIsMarked: checkers read times, ids and filters as they were sent.
func TestNothingElseIsMarked(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"", "limit=100&offset=200", "from=2026-10-05T09:00:05.123Z&to=2026-10-05T09%3A00%3A05Z", "doorId=dor_0000100w003qqxxpfbqbvv8452&days=7", "ref=night%20shift&x"} {
		e := CallEvent(CallIn{Method: "GET", Path: "/device/v1/entry-logs?" + query, Status: 200})
		if e.Route != "/device/v1/entry-logs" || query != "" && !strings.Contains(e.Text, `"query":"`+strings.ReplaceAll(query, "&", `\u0026`)+`"`) {
			t.Errorf("%s: got %s %s", query, e.Route, e.Text)
		}
	}
	in := `{"doorIds":["dor_0000100w003qqxxpfbqbvv8452"],"externalRef":"order-7","graceSec":60,"startsAt":"2026-10-05T09:00:05.123456789+09:00"}`
	if e := CallEvent(CallIn{Method: "POST", Path: "/x", Status: 200, Request: []byte(in)}); !strings.Contains(e.Text, `"in":`+in) {
		t.Errorf("got %s, want %s", e.Text, in)
	}
}

// TestMarksAreKeyed: equal secrets have equal marks, but nobody who has the history can try all numbers.
func TestMarksAreKeyed(t *testing.T) {
	t.Parallel()
	call := func(body string) Event {
		return CallEvent(CallIn{Method: "POST", Path: "/x", Status: 200, Request: []byte(body)})
	}
	body := `{"phone":"` + aPhone + `"}`
	a, again, other := call(body), call(body), call(`{"phone":"01087654321"}`)
	if a.Text != again.Text || a.BodyHash != again.BodyHash || a.Text == other.Text || a.BodyHash == other.BodyHash {
		t.Errorf("got %v, %v and %v; want the first two equal and the last one different", a, again, other)
	}
	for _, of := range []string{aPhone, "mark\n" + aPhone, body, "mark\n" + body} {
		h := sha256.Sum256([]byte(of))
		if plain := hex.EncodeToString(h[:8]); strings.Contains(a.Text, plain) || a.BodyHash == plain {
			t.Errorf("%v has the plain hash of %q", a, of)
		}
	}
}
