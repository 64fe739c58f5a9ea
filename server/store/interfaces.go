package store

import (
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
)

// The rules' interfaces that a Store is.
var (
	_ auth.Store  = (*Store)(nil)
	_ grant.Store = (*Store)(nil)
	_ place.Store = (*Store)(nil)
)
