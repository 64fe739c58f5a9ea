package console

import (
	"math"
	"net/http"
	"strings"
)

// diskView is how the server's disk behaves.
type diskView struct {
	State   string
	DelayMs int
	Hits    int
}

// Bad reports whether it doesn't work as it should.
func (v diskView) Bad() bool { return v.State != "ok" }

// States are those with a button of their own.
func (v diskView) States() []string { return []string{"ok", "full", "stalled"} }

// Word is the key of the state's text.
func (v diskView) Word() string { return "disk." + v.State }

func (c *Console) disk(r *http.Request) (v diskView, err error) {
	err = c.lab(r.Context(), http.MethodGet, "/disk", nil, &v)
	return v, err
}

// setDisk breaks or repairs the disk: the control API judges how.
func (c *Console) setDisk(r *http.Request) (Said, error) {
	body := map[string]any{"state": r.PostFormValue("state")}
	if body["state"] == "slow" {
		ms, err := finite(strings.TrimSpace(r.PostFormValue("delayMs")))
		if err != nil || ms != math.Trunc(ms) {
			return Said{}, badly("wrong.delay")
		}
		body["delayMs"] = ms
	}
	var v diskView
	err := c.lab(r.Context(), http.MethodPost, "/disk", body, &v)
	return Said{Key: v.Word(), Args: v.Args()}, err
}

// Args are what the state's text mentions.
func (v diskView) Args() []any {
	if v.State == "slow" {
		return []any{v.DelayMs}
	}
	return nil
}
