package main

import (
	"strings"
	"testing"
)

// TestKeysByPlaceName: a place can be given by its name where a person types it, over the
// control API and on the data directory alike; an unknown or shared name is refused.
func TestKeysByPlaceName(t *testing.T) {
	t.Parallel()
	dir, any0 := t.TempDir(), "127.0.0.1:0"
	server := start(t, "up", "--boards", "10", "--json", "--data", dir, "--http", any0, "--mqtt", any0, "--control", any0, "--control-token", "t").server()
	for _, at := range [][]string{{"--control", server.Control, "--control-token", "t"}, {"--data", dir}} {
		for _, c := range []struct {
			place string
			code  int
			want  string
		}{
			{"Gangnam", codeOK, server.Places[1].PlaceID},
			{server.Places[1].PlaceID, codeOK, server.Places[1].PlaceID},
			{"Gangnm", codeUsage, `did you mean "Gangnam"?`},
		} {
			code, out, errs := runQuietly(t.Context(), append([]string{"keys", "list", "--place", c.place}, at...)...)
			out += errs
			if code != c.code || !strings.Contains(out, c.want) || c.code == codeOK && strings.Contains(out, server.Places[0].PlaceID) {
				t.Errorf("keys list --place %s %s: exit code %d, want %d and %q\n%s", c.place, at[0], code, c.code, c.want, out)
			}
		}
	}
}
