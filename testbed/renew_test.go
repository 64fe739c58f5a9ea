package testbed

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
)

// TestRenewKeysAndBoards: while a server is running, every key and board password is replaced. The old keys stop
// working, and boards with an old password are disconnected.
func TestRenewKeysAndBoards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := begin(t, Config{DataDir: dir})
	live := tb.cfg.World.Places[1]
	board := live.Boards[0].ID
	api := partner(t, tb, 1)
	before := tb.life.Load().server.Board(board)

	keys, passwords := map[string]string{}, map[string]string{}
	n, err := Renew(dir, Renewal{Keys: true, Boards: true,
		Key: func(placeID, _, oldID, newID, apiKey string) error {
			if oldID == newID {
				t.Errorf("key %s replaces itself, want another id", oldID)
			}
			keys[placeID] = apiKey
			return nil
		},
		Board: func(boardID, password string) error { passwords[boardID] = password; return nil },
	})
	boards := 0
	for _, p := range tb.cfg.World.Places {
		boards += len(p.Boards)
	}
	if want := (Renewed{Keys: 2, Boards: boards}); err != nil || n != want || len(keys) != 2 || len(passwords) != boards {
		t.Fatalf("renewed %+v, %v, showed %d keys and %d passwords, want %+v, all shown", n, err, len(keys), len(passwords), want)
	}

	public := client.Client{Base: tb.Ready.HTTP}
	if _, _, err := public.Exchange(t.Context(), *tb.Ready.Places[1].APIKey); err == nil {
		t.Error("the old key is exchanged, want it refused")
	}
	if _, _, err = public.Exchange(t.Context(), keys[live.ID]); err != nil {
		t.Errorf("the new key: %v, want a token", err)
	}
	soon(t, "the old key's token is refused", func() bool {
		return api.Do(t.Context(), http.MethodGet, "/space/v1/partner/entry-logs", nil, nil) != nil
	})
	soon(t, "the board is back on a new connection", func() bool {
		return tb.life.Load().server.Board(board).Epoch > before.Epoch
	})
}

// TestRenewLinks: while a server is running, every link is replaced. Old links no longer open anything, including on
// site, although no board has reconnected.
func TestRenewLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := begin(t, Config{DataDir: dir})
	door := tb.cfg.World.Places[1].Boards[0].Doors[0].ID
	api := partner(t, tb, 1)
	period := map[string]any{"externalRef": "a", "phone": "01012341234", "doorIds": []string{door},
		"startsAt": time.Now().Add(-time.Hour).Format(time.RFC3339), "endsAt": time.Now().Add(time.Hour).Format(time.RFC3339)}
	var permit struct{ PermitID, EntryToken string }
	clienttest.Do(t, api, "POST", "/space/v1/partner/entry-permits", period, &permit)
	opens := func(token string) bool {
		var got struct{ Result string }
		clienttest.Do(t, tb.lab(), "POST", "/lab/v1/people/present", map[string]string{"doorId": door, "token": token}, &got)
		return got.Result == "opened"
	}
	soon(t, "the link opens on site", func() bool { return opens(permit.EntryToken) })
	if n, err := Renew(dir, Renewal{Links: true}); err != nil || n != (Renewed{Links: 1}) {
		t.Fatalf("renewed %+v, %v, want one link", n, err)
	}
	var now struct{ URL string }
	clienttest.Do(t, api, "GET", "/space/v1/partner/entry-permits/"+permit.PermitID, nil, &now)
	_, token, _ := strings.Cut(now.URL, "?t=")
	if token == permit.EntryToken || token == "" {
		t.Fatalf("the permit has the old link: %t, want another", token != "")
	}
	soon(t, "the old link is refused on site", func() bool { return !opens(permit.EntryToken) })
	soon(t, "the new link opens on site", func() bool { return opens(token) })
	err := api.Do(t.Context(), "POST", "/entry/open", map[string]string{"t": permit.EntryToken, "doorId": door}, nil)
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != http.StatusNotFound {
		t.Errorf("the old link: %v, want 404", err)
	}
	if clienttest.Do(t, api, "POST", "/space/v1/partner/entry-permits", period, &permit); permit.EntryToken != token {
		t.Error("repeating the create gives another link than reading the permit, want the same")
	}
}

// TestRenewEndsWithItsOutput: if a new key can't be shown, it isn't created, and the old one keeps working.
func TestRenewEndsWithItsOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := begin(t, Config{DataDir: dir})
	full := errors.New("disk full")
	var lost string
	n, err := Renew(dir, Renewal{Keys: true, Key: func(_, _, _, _, apiKey string) error { lost = apiKey; return full }})
	if !errors.Is(err, full) || n.Keys != 0 {
		t.Errorf("renewed %+v, %v, want none and %v", n, err, full)
	}
	public := client.Client{Base: tb.Ready.HTTP}
	if _, _, err := public.Exchange(t.Context(), lost); err == nil {
		t.Error("a key that nobody saw is exchanged, want it refused")
	}
	for _, p := range tb.Ready.Places {
		if _, _, err := public.Exchange(t.Context(), *p.APIKey); err != nil {
			t.Errorf("the old key of %s: %v, want it to work on", p.PlaceID, err)
		}
	}
}
