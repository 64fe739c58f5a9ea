package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestDamagedLabFile: a lab file that is cut or has no seed is refused with what to do, and isn't changed.
func TestDamagedLabFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, begin(t, Config{World: world.Default(3, 10), DataDir: dir}).Stop())
	file := filepath.Join(dir, labFile)
	whole := must.Get(os.ReadFile(file))(t)
	for text, want := range map[string]string{"{}": "it has no seed", string(whole[:20]): "it isn't what doorlab wrote", "null": "it has no seed", "[]": "it isn't what doorlab wrote"} {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		for _, init := range []bool{false, true} {
			tb, err := Start(t.Context(), Config{World: world.Default(3, 10), DataDir: dir, Init: init})
			if err == nil {
				_ = tb.Stop()
				t.Fatalf("started with a lab file of %q", text)
			}
			for _, want := range []string{dir, "lab.json is damaged: " + want, "restore it from a backup, or remove it and start over with --init"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q: %v, want %q", text, err, want)
				}
			}
		}
		if now := must.Get(os.ReadFile(file))(t); string(now) != text {
			t.Errorf("the refused start changed the file from %q to %q", text, now)
		}
	}
	must.OK(t, os.Remove(file))
	must.OK(t, begin(t, Config{World: world.Default(3, 10), DataDir: dir, Init: true}).Stop()) // the advice works
}
