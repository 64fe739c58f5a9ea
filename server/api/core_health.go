package api

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/doorlab/doorlab/server/rule"
)

type health struct {
	Status string `json:"status"`
}

// livez: the process runs.
func livez(*call) (any, error) { return health{"ok"}, nil }

// readyz: requests can be served.
func readyz(c *call) (any, error) {
	if ready := c.api.cfg.Ready; ready != nil {
		if err := ready(); err != nil {
			return nil, rule.New(rule.StorageUnavailable, "not ready")
		}
	}
	return health{"ok"}, nil
}

type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
}

// version says which build this is.
func version(c *call) (any, error) {
	b := build{Version: c.api.cfg.Version, Go: runtime.Version()}
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
