package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/each"
)

// boardForms are the buttons of a board's page.
func (c *Console) boardForms() forms {
	out := forms{
		"detach": c.detach,
		"attach": func(r *http.Request) (Said, error) {
			return Said{Key: "board.attached"}, c.lab(r.Context(), http.MethodPost, "/boards/"+url.PathEscape(chi.URLParam(r, "id"))+"/attach", struct{}{}, nil)
		},
		"reconnect": c.reconnect,
		"remove":    c.removeFault,
	}
	for _, command := range []string{"open", "hold", "close"} {
		out[command] = func(r *http.Request) (Said, error) { return c.move(r, command) }
	}
	for do, fault := range map[string]string{"reboot": "reboot", "cut": "offline"} {
		out[do] = func(r *http.Request) (Said, error) {
			body := map[string]any{"fault": fault, "boards": []string{chi.URLParam(r, "id")}}
			return Said{Key: "board." + do + ".said"}, c.lab(r.Context(), http.MethodPost, "/faults", body, nil)
		}
	}
	return out
}

// move presses a door's button.
func (c *Console) move(r *http.Request, command string) (Said, error) {
	door := c.names.doors[r.PostFormValue("door")]
	if door.Place == nil || door.BoardID != chi.URLParam(r, "id") {
		return Said{}, badly("wrong.door")
	}
	minutes := 0
	if text := strings.TrimSpace(r.PostFormValue("minutes")); command == "hold" && text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1440 {
			return Said{}, badly("wrong.minutes")
		}
		minutes = n
	}
	return Said{Key: "door." + command + ".said", Args: []any{c.names.door(door.ID)}},
		c.press(context.WithoutCancel(r.Context()), door.Place.ID, door.ID, command, minutes)
}

// detach shows, only this once, what a real board signs in with.
func (c *Console) detach(r *http.Request) (Said, error) {
	var out struct{ MQTT, ClientID, Username, Password string }
	err := c.lab(r.Context(), http.MethodPost, "/boards/"+url.PathEscape(chi.URLParam(r, "id"))+"/detach", struct{}{}, &out)
	return Said{Key: "board.detached", Args: []any{out.MQTT, out.ClientID, out.Username, out.Password}, Keep: true}, err
}

// reconnect removes the faults that cut this board and no other.
func (c *Console) reconnect(r *http.Request) (Said, error) {
	list, err := c.armed(r)
	if err != nil {
		return Said{}, err
	}
	cuts := each.If(list, func(f armedFault) bool { return f.cutsOne() && slices.Contains(f.Boards, chi.URLParam(r, "id")) })
	if len(cuts) == 0 {
		return Said{}, badly("wrong.reconnect")
	}
	for _, f := range cuts {
		if err := c.lab(r.Context(), http.MethodDelete, "/faults/"+url.PathEscape(f.FaultID), nil, nil); err != nil {
			return Said{}, err
		}
	}
	return Said{Key: "board.reconnected"}, nil
}
