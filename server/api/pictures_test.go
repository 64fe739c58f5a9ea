package api

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
)

// pictures is where pictures of the pages go: DOORLAB_PICTURES; "" = nowhere.
func pictures() string { return os.Getenv("DOORLAB_PICTURES") }

func keep(t *testing.T, dir, name string, p *browser.Page) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), p.Picture(), 0o644); err != nil {
		t.Fatal(err)
	}
}
