package plain

import "testing"

func TestDeceptive(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "Kim 김 \u200d é": false, "a\x00": true, "a\r\n": true, "\u202egnp": true, "\u2066x": true, "\u0085": true, "\x7f": true} {
		if got := Deceptive(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
		if got := DeceptiveText(text); got != (want && text != "a\r\n") {
			t.Errorf("%q as a text of several lines: %t, want %t", text, got, !got)
		}
	}
}
