package engine

import (
	"net/http"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/mask"
)

// TestPlaceOfACall: without a place, a command belongs to the place that its key names, or for which its token was
// issued: Idempotency-Keys are told apart by place, and what the command did is undone there.
func TestPlaceOfACall(t *testing.T) {
	t.Parallel()
	const command = `path: /device/v1/devices/dor_1/commands, headers: {Idempotency-Key: k}, body: {capability: door, command: hold}`
	for name, step := range map[string]string{
		"a key that names it":  `call: {key: other, ` + command + `}`,
		"a key":                `call: {key: '"` + fakeKey + `"', ` + command + `}`,
		"a token":              `call: {token: "${mine}", ` + command + `}`,
		"a header with it":     `call: {headers: {Authorization: "bearer ${mine}", Idempotency-Key: k}, ` + command[:len("path: /device/v1/devices/dor_1/commands")] + `, body: {capability: door, command: hold}}`,
		"a place and a header": `call: {place: '"plc_1"', ` + command + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			target := f.target()
			target.Marks = []history.Position{{}}
			s := &sink{}
			_, err := Run(t.Context(), target, []*File{parse(t, `
steps:
  - set: {other: {apiKey: `+fakeKey+`, place: plc_1}}
  - {call: {path: /core/v1/auth/apikey/token, token: "", body: {key: `+fakeKey+`}}, capture: {mine: data.accessToken}}
  - log: "${mine}"
  - `+step)}, Options{Sink: s.of(history.Attempt)})
			if err != nil || len(s.kept) == 0 || s.kept[0].PlaceID != "plc_1" || s.kept[0].Key != history.KeyHash("plc_1", "k") || s.kept[0].KeyMark != mask.Mark("k") {
				t.Fatalf("got %v and attempts %+v, want one with a key of plc_1, and the key's mark", err, s.kept)
			}
			if n := f.asked(http.MethodPost + " /device/v1/devices/dor_1/commands"); n != 2 {
				t.Errorf("%d commands were sent, want the hold and its end", n)
			}
		})
	}
	s := &sink{}
	_, _ = play(t, newFake(t), `steps: [{call: {token: forged, `+command+`}}]`, Options{Sink: s.of(history.Attempt)})
	if len(s.kept) != 1 || s.kept[0].PlaceID != "" {
		t.Errorf("got %+v, want no place for a token that nobody gave", s.kept)
	}
}
