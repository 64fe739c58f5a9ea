package testbed

import (
	"net/http"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
)

// soon waits for something that a server notices on its own. How soon it does is tested in server/auth, in fake time;
// here it only has to happen.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := clock.Mono() + time.Minute; !is(); breathe(t) {
		if clock.Mono() > end {
			t.Fatalf("not within a minute: want that %s", what)
		}
	}
}

// breathe leaves the machine to what a test waits for.
func breathe(t *testing.T) {
	t.Helper()
	must.OK(t, client.Pause(t.Context(), 2*time.Millisecond))
}

// TestBesideARunningServer: keys are created and revoked directly in the data, and the running server notices.
func TestBesideARunningServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := begin(t, Config{DataDir: dir})
	beside, stop, err := Beside(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stop() }()
	var made struct{ KeyID, APIKey string }
	body := map[string]any{"placeId": tb.Ready.Places[1].PlaceID, "scopes": []string{"space:partner"}}
	clienttest.Do(t, beside, http.MethodPost, "/lab/v1/keys", body, &made)
	c, err := client.Client{Base: tb.Ready.HTTP}.SignIn(t.Context(), made.APIKey)
	if err != nil {
		t.Fatalf("the new key: got %v, want it to work", err)
	}
	clienttest.Do(t, beside, http.MethodDelete, "/lab/v1/keys/"+made.KeyID, nil, nil)
	soon(t, "the revoked key's token is refused", func() bool {
		return c.Do(t.Context(), http.MethodGet, "/space/v1/partner/entry-logs", nil, nil) != nil
	})
	var places []struct{ PlaceID, Name string }
	if err := beside.Do(t.Context(), http.MethodGet, "/lab/v1/places", nil, &places); err != nil || len(places) != 2 || places[1].PlaceID != tb.Ready.Places[1].PlaceID || places[1].Name != tb.Ready.Places[1].Name {
		t.Errorf("places %+v, %v; want those of the ready line", places, err)
	}
	b := tb.cfg.World.Places[1].Boards[0].ID
	var out struct{ Password string }
	if err := beside.Do(t.Context(), http.MethodPost, "/lab/v1/boards/"+b+"/rotate", nil, &out); err != nil || len(out.Password) < 16 {
		t.Fatalf("rotated: got %v, want a password of 16 characters or more", err)
	}
	if _, _, err := Beside(t.TempDir()); err == nil {
		t.Error("an empty directory was taken for data")
	}
}
