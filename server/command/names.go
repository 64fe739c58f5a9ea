package command

import "github.com/doorlab/doorlab/internal/wire"

// Commands of a door.
const (
	Open  = wire.CmdOpen
	Hold  = wire.CmdHold
	Close = wire.CmdClose
)
