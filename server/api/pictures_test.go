package api

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/must"
)

// snap saves a picture of a page in the directory DOORLAB_PICTURES, if set.
func snap(t *testing.T, name string, p *browser.Page) {
	t.Helper()
	dir := os.Getenv("DOORLAB_PICTURES")
	if dir == "" {
		return
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, name), p.Picture(), 0o644))
}
