// Package scenarios holds the built-in suite: what `doorlab check` runs when no
// file is named. The files are plain scenario files, one family a prefix
// (sync_, outage_, idempotency_); nothing but the embedding is Go. internal/cli
// and tests import it.
package scenarios

import "embed"

// Files are the scenario files of the built-in suite.
//
//go:embed *.yaml
var Files embed.FS
