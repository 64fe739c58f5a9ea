package api

import (
	"cmp"
	"runtime"
	"runtime/debug"

	gen "github.com/doorlab/doorlab/server/api/gen/core"
	"github.com/doorlab/doorlab/server/fail"
)

// livez: the process runs.
func livez(*call) (any, error) { return gen.Health{Status: "ok"}, nil }

// readyz: requests can be served.
func readyz(c *call) (any, error) {
	if ready := c.api.cfg.Ready; ready != nil {
		if err := ready(); err != nil {
			return nil, fail.New(fail.StorageUnavailable, "not ready")
		}
	}
	return gen.Health{Status: "ok"}, nil
}

// version says which build this is.
func version(c *call) (any, error) {
	b := gen.Build{Version: c.api.cfg.Version, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = cmp.Or(b.Version, info.Main.Version)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Revision = s.Value
			}
		}
	}
	b.Version = cmp.Or(b.Version, "(devel)")
	return b, nil
}
