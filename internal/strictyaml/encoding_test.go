package strictyaml

import (
	"testing"
)

// TestEncoding: the mark at the beginning of a UTF-8 file is skipped; a file that isn't UTF-8 text is refused in a
// sentence that any terminal can show.
func TestEncoding(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"\xef\xbb\xbfname: one\r\nkind: live\r\n": "",
		"name: café\nkind: live":                  "",
		"\xef\xbb\xbfname: one\nkin: live\n":      "s.yaml:2:1: unknown key \"kin\", did you mean \"kind\"?\n    kin: live\n    ^",
		"\xff\xfen\x00a\x00m\x00e\x00":            "s.yaml:1:1: the file is UTF-16; save it as UTF-8",
		"n\x00a\x00m\x00e\x00":                    "s.yaml:1:2: there is a NUL byte here; save the file as UTF-8 text",
		"kind: live\nname: caf\xe9\n":             "s.yaml:2:10: the file isn't UTF-8 from here on; save it as UTF-8",
		"name: é\xe9":                             "s.yaml:1:8: the file isn't UTF-8 from here on; save it as UTF-8",
	} {
		var v sample
		got := ""
		if err := Decode("s.yaml", []byte(source), &v, nil, nil); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}
