package console

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestPress: a button of the console is a door command with the note "console" in its record.
func TestPress(t *testing.T) {
	t.Parallel()
	sent := ""
	c := must.Get(New(Config{Token: token, World: &world.World{}, Clock: clock.NewVirtual(time.Now(), nil),
		Lab: control.Handler(token, func(r chi.Router) {
			r.Get("/places", func(w http.ResponseWriter, _ *http.Request) {
				control.List(w, []map[string]string{{"placeId": "plc_a", "apiKey": "a key"}}, 1)
			})
		}),
		Public: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/core/v1/auth/apikey/token" {
				_, _ = io.WriteString(w, `{"success":true,"data":{"accessToken":"a token","expiresIn":900}}`)
				return
			}
			sent = r.URL.Path + " " + string(must.Get(io.ReadAll(r.Body))(t))
			_, _ = io.WriteString(w, `{"success":true,"data":{"outcome":"reported"}}`)
		}),
		Feed: NewFeed(clock.Real{}), Boards: func() []Board { return nil }}))(t)
	t.Cleanup(c.Stop)
	for _, tt := range []struct {
		command string
		minutes int
		want    string
	}{
		{"open", 0, `/device/v1/devices/dor_1/commands {"args":{"reason":"console"},"capability":"door","command":"open"}`},
		{"hold", 5, `/device/v1/devices/dor_1/commands {"args":{"minutes":5,"reason":"console"},"capability":"door","command":"hold"}`},
	} {
		if err := c.press(t.Context(), "plc_a", "dor_1", tt.command, tt.minutes); err != nil || sent != tt.want {
			t.Errorf("%s: got %v, sent %s, want %s", tt.command, err, sent, tt.want)
		}
	}
}
