// Package scenarios holds the built-in suite: what `doorlab check` runs when no file
// is named. The files are ordinary scenario files, with one prefix per family
// (sync_, outage_, idempotency_).
package scenarios

import "embed"

// Files are the scenario files of the built-in suite.
//
//go:embed *.yaml
var Files embed.FS
