package client

import "testing"

// TestPerson: a phone and a link are told apart as people write them.
func TestPerson(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"":                                     {"", ""},
		"01011112222":                          {"01011112222", ""},
		" 010-1111-2222 ":                      {"01011112222", ""},
		"(010) 1111.2222":                      {"01011112222", ""},
		"+82 10 1111 2222":                     {"01011112222", ""},
		"+82 (0)10-1111-2222":                  {"01011112222", ""},
		"+82 1588-1234":                        {"15881234", ""},
		"abc123":                               {"", "abc123"},
		"http://127.0.0.1:8080/entry?t=abc123": {"", "abc123"},
	} {
		if phone, token := Person(text); phone != want[0] || token != want[1] {
			t.Errorf("%q: got %q %q, want %q", text, phone, token, want)
		}
	}
}
