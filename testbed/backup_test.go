package testbed

import (
	"database/sql"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestRestore: a backup made as docs/operations.md describes, from a running server, works: its keys are valid, what
// was acknowledged before it exists, what came later doesn't, and boards that are ahead return to the restored
// content.
func TestRestore(t *testing.T) {
	t.Parallel()
	dir, backup := t.TempDir(), t.TempDir()
	tb := begin(t, Config{DataDir: dir})
	was := keyOf(t, tb, 1)
	permit(t, tb, "before")

	db := must.Get(sql.Open("sqlite3", filepath.Join(dir, datadir.DatabaseFile)))(t)
	defer db.Close()
	must.Get(db.Exec("VACUUM INTO ?", filepath.Join(backup, datadir.DatabaseFile)))(t)
	for _, name := range []string{datadir.SecretFile, datadir.LabFile} {
		b := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		must.OK(t, os.WriteFile(filepath.Join(backup, name), b, 0o600))
	}
	permit(t, tb, "after")
	synced(t, tb)
	must.OK(t, tb.Stop())
	must.OK(t, os.Rename(filepath.Join(dir, "boards"), filepath.Join(backup, "boards"))) // real boards keep what they know

	again := begin(t, Config{DataDir: backup, World: world.Default(3, 10)})
	if got := keyOf(t, again, 1); got != was {
		t.Errorf("restored key %q, want the old one", got)
	}
	if got := permits(t, again); len(got) != 1 || got[0] != "before" {
		t.Errorf("restored permits %q, want the one from before the backup", got)
	}
	synced(t, again)
	permit(t, again, "new")
	synced(t, again)
	if got := open(t, again, 1, "restored"); got != http.StatusOK {
		t.Errorf("command on the restored server: %d, want 200", got)
	}
}

// TestFilesAreTheOwners: nothing in a data directory is ever readable by others, from the moment it is created.
func TestFilesAreTheOwners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := begin(t, Config{DataDir: dir})
	permit(t, tb, "mode")
	open(t, tb, 1, "mode")
	seen := map[string]bool{}
	must.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %04o, want nothing for others", path, info.Mode().Perm())
		}
		seen[d.Name()] = true
		return err
	}))
	for _, name := range []string{datadir.DatabaseFile, datadir.DatabaseFile + "-wal", datadir.SecretFile, datadir.LabFile, "boards"} {
		if !seen[name] {
			t.Errorf("%s wasn't looked at", name)
		}
	}
}

// partner is a client with a token for the place's key.
func partner(t *testing.T, tb *Testbed, place int) client.Client {
	t.Helper()
	c := must.Get(client.Client{Base: tb.Ready.HTTP}.SignIn(t.Context(), keyOf(t, tb, place)))(t)
	return c
}

func permit(t *testing.T, tb *Testbed, ref string) {
	t.Helper()
	now := tb.clk.Now()
	if err := partner(t, tb, 1).Do(t.Context(), http.MethodPost, "/space/v1/partner/entry-permits", map[string]string{"externalRef": ref, "phone": "01012345678",
		"startsAt": now.Format(time.RFC3339), "endsAt": now.Add(time.Hour).Format(time.RFC3339)}, nil); err != nil {
		t.Fatal(err)
	}
}

func permits(t *testing.T, tb *Testbed) (refs []string) {
	t.Helper()
	var rows []struct{ ExternalRef string }
	must.OK(t, partner(t, tb, 1).Do(t.Context(), http.MethodGet, "/space/v1/partner/entry-permits", nil, &rows))
	for _, r := range rows {
		refs = append(refs, r.ExternalRef)
	}
	return refs
}

// synced returns once every board has its place's revision; go test's timeout is the limit.
func synced(t *testing.T, tb *Testbed) {
	t.Helper()
	for ; ; breathe(t) {
		var rows []struct {
			BoardID                          string
			DesiredRevision, AppliedRevision int64
		}
		clienttest.Do(t, tb.lab(), http.MethodGet, "/lab/v1/boards?limit=500", nil, &rows)
		behind := 0
		for _, r := range rows {
			if r.AppliedRevision != r.DesiredRevision {
				behind++
			}
		}
		if behind == 0 {
			return
		}
	}
}
