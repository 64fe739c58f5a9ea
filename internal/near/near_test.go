package near

import "testing"

func TestName(t *testing.T) {
	t.Parallel()
	known := []string{"offline", "halfopen", "refuse", "silent", "silent-after"}
	for in, want := range map[string]string{"ofline": "offline", "silentafter": "silent-after", "refused": "refuse", "xylophone": "", "": ""} {
		if got := Name(in, known); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
