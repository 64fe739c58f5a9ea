package testbed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

func keyOf(t *testing.T, tb *Testbed, place int) string {
	t.Helper()
	if k := tb.Ready.Places[place].APIKey; k != nil {
		return *k
	}
	t.Fatalf("place %d has no key", place)
	return ""
}

// TestLiveSecretsCantBeComputed: a live key and a board's password follow from the seed only if that was requested;
// the test place's key always does.
func TestLiveSecretsCantBeComputed(t *testing.T) {
	t.Parallel()
	guess := world.Default(3, 10)
	guess.DeriveSecrets(nil)
	a, b, seeded := begin(t, Config{}), begin(t, Config{}), begin(t, Config{Seeded: true})
	if keyOf(t, a, 1) == guess.Places[1].MainKey().Secret || keyOf(t, a, 1) == keyOf(t, b, 1) {
		t.Error("a live key follows from the seed")
	}
	if pw := a.cfg.World.Places[1].Boards[0].Password; pw == guess.Places[1].Boards[0].Password || pw == b.cfg.World.Places[1].Boards[0].Password {
		t.Error("a board's password follows from the seed")
	}
	if keyOf(t, a, 0) != keyOf(t, b, 0) {
		t.Error("the test key isn't the same on every machine")
	}
	if keyOf(t, seeded, 1) != guess.Places[1].MainKey().Secret || !seeded.Ready.RepeatableSecrets || a.Ready.RepeatableSecrets {
		t.Errorf("repeatable secrets: %v with a given seed, %v without; want true and false, and keys that follow from the seed", seeded.Ready.RepeatableSecrets, a.Ready.RepeatableSecrets)
	}
}

// TestRepeatableSecretsStayOnLoopback: a start with repeatable secrets on another address is refused before anything
// is written.
func TestRepeatableSecretsStayOnLoopback(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lab")
	for _, c := range []Config{{HTTP: "0.0.0.0:0"}, {MQTT: ":0"}, {Control: "0.0.0.0:0"}, {SIP: "0.0.0.0:0"}} {
		c.World, c.DataDir, c.Seeded = world.Default(3, 10), dir, true
		if _, err := Start(t.Context(), c); !errors.Is(err, ErrRepeatable) {
			t.Errorf("%+v: %v, want ErrRepeatable", c, err)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a refused start left a directory behind")
	}
	for name, c := range map[string]Config{
		"test places only": {World: world.Default(3, 0), Seeded: true},
		"no seed":          {World: world.Default(3, 1)},
		"a secret file":    {World: world.Default(3, 1), Seeded: true, SecretFile: filepath.Join(t.TempDir(), "secret")},
	} {
		c.HTTP, c.DataDir = "0.0.0.0:0", t.TempDir()
		tb, err := Start(t.Context(), c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if tb.Ready.RepeatableSecrets && name != "test places only" {
			t.Errorf("%s: the secrets are said to be repeatable, want not", name)
		}
		if err := tb.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestSecretFile: a secret file lets a fleet in another process derive the same secrets, and the next start needs it
// again.
func TestSecretFile(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	tb := must.Get(Start(t.Context(), Config{World: world.Default(5, 10), DataDir: dir, SecretFile: file}))(t)
	f := must.Get(StartFleet(t.Context(), FleetConfig{World: world.Default(5, 10), SecretFile: file, Broker: strings.TrimPrefix(tb.Ready.MQTT, "tcp://"), DataDir: t.TempDir()}))(t)
	if f.Ready.Boards != 10 {
		t.Errorf("%d boards, want 10", f.Ready.Boards)
	}
	must.OK(t, errors.Join(f.Stop(), tb.Stop()))
	another := filepath.Join(t.TempDir(), "another")
	must.Get(datadir.OpenShared(another, true))(t)
	missing := filepath.Join(t.TempDir(), "other")
	for name, c := range map[string]struct {
		file string
		want error
	}{"none": {"", ErrOtherWorld}, "a missing one": {missing, ErrSecretFile}, "another": {another, ErrOtherWorld}} {
		if _, err := Start(t.Context(), Config{World: world.Default(5, 10), DataDir: dir, SecretFile: c.file}); !errors.Is(err, c.want) {
			t.Errorf("with %s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a start that was refused has created a secret file (%v)", err)
	}
}

// TestNoKeyUnasked: a live place from a world file has only the keys that the file lists.
func TestNoKeyUnasked(t *testing.T) {
	t.Parallel()
	w := must.Get(world.Parse("w.yaml", []byte("places:\n  - {name: Silent, fleet: {boards: 1}}\n  - {name: Partner, fleet: {boards: 1}, keys: [{name: partner}]}\n"), 0))(t)
	tb := begin(t, Config{World: w})
	var keys []struct{ PlaceID string }
	clienttest.Do(t, tb.lab(), http.MethodGet, "/lab/v1/keys", nil, &keys)
	line, err := json.Marshal(tb.Ready)
	if len(keys) != 1 || keys[0].PlaceID != w.Places[1].ID || tb.Ready.Places[0].APIKey != nil || err != nil || !strings.Contains(string(line), `"apiKey":null`) {
		t.Errorf("keys %+v, ready line %s, %v; want one key, and null for the live place", keys, line, err)
	}
}

// TestEveryKeyIsShown: each key that the world file asks for can be learned, the first with both scopes as the place's
// own; a revoked one no more.
func TestEveryKeyIsShown(t *testing.T) {
	t.Parallel()
	w := must.Get(world.Parse("w.yaml", []byte(`places:
  - {name: Doors, fleet: {boards: 1}, keys: [{name: doors, scopes: ["device:door"]}]}
  - {name: Both, fleet: {boards: 1}, keys: [{name: permits, scopes: ["space:partner"]}, {name: both}, {name: third}]}
`), 0))(t)
	tb := begin(t, Config{World: w})
	if got := tb.Ready.Places[0]; got.APIKey != nil || len(got.OtherKeys) != 1 {
		t.Errorf("one scope: got %+v, want no key with both and one other", got)
	}
	others := tb.Ready.Places[1].OtherKeys
	if len(others) != 2 || others[0].Name != "permits" || others[1].Name != "third" || *tb.Ready.Places[1].APIKey != w.Places[1].Keys[1].Secret {
		t.Fatalf("three keys: got %+v", tb.Ready.Places[1])
	}
	if _, _, err := (client.Client{Base: tb.Ready.HTTP}).Exchange(t.Context(), others[0].APIKey); err != nil {
		t.Errorf("%s: %v", others[0].Name, err)
	}
	clienttest.Do(t, tb.lab(), http.MethodDelete, "/lab/v1/keys/"+others[0].KeyID, nil, nil)
	if now, err := tb.lab().Places(t.Context()); err != nil || len(now[1].OtherKeys) != 1 {
		t.Errorf("after revoking one: got %+v, %v, want one other key", now[1], err)
	}
}

// TestMissingFilesAreMissed: if any one file is missing, empty or from another directory, the start fails. --init
// starts over and keeps what was there.
func TestMissingFilesAreMissed(t *testing.T) {
	t.Parallel()
	another := t.TempDir()
	must.OK(t, begin(t, Config{DataDir: another}).Stop())
	for _, name := range []string{datadir.SecretFile, datadir.DatabaseFile, datadir.LabFile} {
		dir := t.TempDir()
		first := begin(t, Config{DataDir: dir})
		was := keyOf(t, first, 1)
		must.OK(t, first.Stop())
		path := filepath.Join(dir, name)
		must.OK(t, os.Rename(path, path+"-kept"))
		if _, err := Start(t.Context(), Config{World: world.Default(3, 10), DataDir: dir}); !errors.Is(err, datadir.ErrIncomplete) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s gone: got %v, want ErrIncomplete that names it", name, err)
		}
		must.OK(t, os.Link(filepath.Join(another, name), path))
		if _, err := Start(t.Context(), Config{World: world.Default(3, 10), DataDir: dir}); !errors.Is(err, datadir.ErrForeign) {
			t.Errorf("%s of another directory: %v, want ErrForeign", name, err)
		}
		must.OK(t, os.Remove(path))
		nowhere := Config{World: world.Default(3, 10), DataDir: dir, Init: true, SecretFile: filepath.Join(dir, "none", "secret")}
		if _, err := Start(t.Context(), nowhere); !errors.Is(err, ErrSecretFile) {
			t.Errorf("%s gone, a --secret-file that can't be created: got %v, want ErrSecretFile", name, err)
		}
		if kept, err := filepath.Glob(filepath.Join(dir, "before-*")); err != nil || len(kept) != 0 {
			t.Errorf("a start that was refused has set aside %v, %v, want nothing", kept, err)
		}
		again := begin(t, Config{DataDir: dir, Init: true})
		if keyOf(t, again, 1) == was {
			t.Errorf("%s gone, started over: got the old keys, want new ones", name)
		}
		must.OK(t, again.Stop())
		if kept, err := filepath.Glob(filepath.Join(dir, "before-*", name+"-kept")); err != nil || len(kept) != 1 {
			t.Errorf("the previous contents are kept as %v, %v, want one copy", kept, err)
		}
		same := begin(t, Config{DataDir: dir, Init: true})
		if keyOf(t, same, 1) != keyOf(t, again, 1) {
			t.Error("--init touched a whole directory")
		}
	}
}

// TestRotate: the old password stops working, its connection is cut, and the simulated board reconnects with the new
// one, even after restarts.
func TestRotate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := begin(t, Config{DataDir: dir})
	b := tb.cfg.World.Places[1].Boards[0]
	var out struct{ BoardID, Password string }
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/boards/"+b.ID+"/rotate", nil, &out)
	if out.BoardID != b.ID || len(out.Password) < world.MinPassword || out.Password == b.Password {
		t.Errorf("rotated: got %+v, want a new password for that board", out)
	}
	online := func(tb *Testbed) {
		t.Helper()
		c, n := partner(t, tb, 1), 0
		soon(t, "the board is back", func() bool {
			n++
			return openWith(t, c, b.Doors[0].ID, fmt.Sprint(tb.Ready.HTTP, n)) == http.StatusOK
		})
	}
	online(tb)
	var fail *client.Error
	if err := tb.lab().Do(t.Context(), http.MethodPost, "/lab/v1/boards/brd_none/rotate", nil, nil); !errors.As(err, &fail) || fail.Code != "board_not_found" {
		t.Errorf("an unknown board: got %v, want board_not_found", err)
	}
	must.OK(t, tb.Stop())
	again := begin(t, Config{DataDir: dir})
	if got := again.cfg.World.Places[1].Boards[0].Password; got != out.Password {
		t.Errorf("after a restart the simulated board logs in with %q, want %q", got, out.Password)
	}
	online(again)
}

// TestOldKeysStay: with data from before keys had labels, the server still accepts the keys of that time.
func TestOldKeysStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := world.Default(1, 10)
	old.DeriveUnlabelled(nil)
	tb := must.Get(Start(t.Context(), Config{World: world.Default(1, 10), DataDir: dir, HTTP: "127.0.0.1:0", MQTT: "127.0.0.1:0"}))(t)
	if got := keyOf(t, tb, 0); got == old.Places[0].MainKey().Secret {
		t.Errorf("new data has the key %s, want one with a label", got)
	}
	must.OK(t, tb.Stop())
	file := filepath.Join(dir, labFile)
	raw := must.Get(os.ReadFile(file))(t)
	must.OK(t, os.WriteFile(file, bytes.Replace(raw, []byte(`"labels"`), []byte(`"old"`), 1), 0o600))
	tb = must.Get(Start(t.Context(), Config{World: world.Default(1, 10), DataDir: dir, HTTP: "127.0.0.1:0", MQTT: "127.0.0.1:0"}))(t)
	defer func() { _ = tb.Stop() }()
	if got, want := keyOf(t, tb, 0), old.Places[0].MainKey().Secret; got != want {
		t.Errorf("older data has the key %s, want %s", got, want)
	}
}

// TestPasswordChangedInTheFile: simulated boards whose password the file changed, and nothing else, could never connect,
// so the start is refused until they are rotated. Boards elsewhere may have the old one.
func TestPasswordChangedInTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(password string) *world.World {
		return must.Get(world.Parse("w.yaml", []byte("places: [{name: A, boards: [{id: brd_a, "+password+"doors: [{id: dor_a}]}]}]"), 0))(t)
	}
	must.OK(t, begin(t, Config{World: file("password: first-password-of-a, "), DataDir: dir}).Stop())
	for _, password := range []string{"password: other-password-of-a, ", ""} {
		_, err := Start(t.Context(), Config{World: file(password), DataDir: dir, Fleet: true})
		if !errors.Is(err, ErrOtherWorld) || !strings.Contains(err.Error(), "'doorlab board rotate brd_a --data "+dir+"'") {
			t.Fatalf("%q: got %v, want ErrOtherWorld that says how to rotate the board", password, err)
		}
		var log strings.Builder
		tb := must.Get(Start(t.Context(), Config{World: file(password), DataDir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		must.OK(t, tb.Stop())
		if !strings.Contains(log.String(), "the password of the board brd_a can't be changed") {
			t.Errorf("%q, without a fleet: got the log %q, want a warning", password, log.String())
		}
	}
	list := filepath.Join(dir, "boards", "detached.json") // with a real board in its place, only that one's password counts
	must.OK(t, os.WriteFile(list, []byte(`["brd_a"]`), 0o600))
	tb := begin(t, Config{World: file("password: other-password-of-a, "), DataDir: dir})
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/boards/brd_a/attach", nil, nil)
	must.OK(t, tb.Restart()) // what the start let pass doesn't end the process
	must.OK(t, tb.Stop())
	beside, stop, err := Beside(dir)
	must.OK(t, err)
	clienttest.Do(t, beside, http.MethodPost, "/lab/v1/boards/brd_a/rotate", nil, nil)
	must.OK(t, stop())
	begin(t, Config{World: file("password: other-password-of-a, "), DataDir: dir})
}
