package testbed

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestPlacesAreTheDatabases: the list of places and the ready line have the entry phone that calls go to, whatever the
// world file says by now.
func TestPlacesAreTheDatabases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := begin(t, Config{DataDir: dir})
	const number = "05033334444"
	last := tb.life.Load()
	moved, without := tb.cfg.World.Places[0], tb.cfg.World.Places[1]
	listed := func(tb *Testbed) (out []client.Place) {
		t.Helper()
		clienttest.Do(t, tb.lab(), http.MethodGet, "/lab/v1/places", nil, &out)
		return out
	}
	clienttest.Do(t, tb.lab(), http.MethodPatch, "/lab/v1/places/"+moved.ID, map[string]any{"entryPhone": number}, nil)
	clienttest.Do(t, tb.lab(), http.MethodPatch, "/lab/v1/places/"+without.ID, map[string]any{"entryPhone": nil}, nil)
	if got := listed(tb); got[0].EntryPhone != number || got[1].EntryPhone != "" {
		t.Errorf("after the changes: entry phones %q and %q, want %q and none", got[0].EntryPhone, got[1].EntryPhone, number)
	}
	must.OK(t, tb.Stop())
	for name, h := range map[string]http.Handler{"stopped": tb.laboratory(), "of the life that is over": last.control} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/lab/v1/places", nil)
		r.Header.Set("Authorization", "Bearer "+tb.Ready.ControlToken)
		h.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "storage_unavailable") {
			t.Errorf("%s: got %d %s, want 503 storage_unavailable", name, w.Code, w.Body)
		}
	}

	w := world.Default(3, 10)
	w.Places[0].EntryPhone, w.Places[1].EntryPhone, w.Places[1].Name = "05055556666", "05077778888", "Renamed"
	again := begin(t, Config{DataDir: dir, World: w})
	if got := again.Ready.Places; got[0].EntryPhone != number || got[1].EntryPhone != "" || got[1].Name != "Renamed" {
		t.Errorf("ready line of a changed world file: %+v, want the entry phone %s, none at the second place, and its new name", got, number)
	}
}
