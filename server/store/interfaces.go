package store

import (
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// The interfaces of the rule packages that are implemented here.
var (
	_ auth.Store       = (*Store)(nil)
	_ boardsync.Source = (*Store)(nil)
	_ boardsync.Moment = (*Tx)(nil)
	_ command.Ledger   = Commands{}
	_ grant.Store      = (*Store)(nil)
	_ grant.Tx         = grantTx{}
	_ place.Store      = (*Store)(nil)
	_ place.Tx         = placeTx{}
	_ record.Store     = (*Store)(nil)
	_ record.Tx        = (*Tx)(nil)
)
