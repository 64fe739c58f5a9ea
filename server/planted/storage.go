package planted

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/command"
)

// storage has bugs that only a bad disk brings to light.
type storage struct {
	*both
	name string
}

func (l storage) Claim(in command.Intent, keptSince time.Time) (*command.Prior, error) {
	if l.name == "claim-not-awaited" {
		go func() { _, _ = l.Ledger.Claim(in, keptSince) }()
		return nil, nil
	}
	began := clock.Mono()
	p, err := l.Ledger.Claim(in, keptSince)
	if l.name == "late-claim-sent" && p == nil && err == nil && clock.Mono()-began > command.DefaultNotAfter {
		_ = l.send(in)
	}
	return p, err
}

func (l storage) Withdraw(commandID string) error {
	if l.name == "late-claim-kept" {
		return nil
	}
	return l.Ledger.Withdraw(commandID)
}

func (l storage) Settle(list ...command.Settlement) error {
	if l.name == "outcome-not-awaited" {
		go func() { _ = l.both.Settle(list...) }()
		return nil
	}
	return l.both.Settle(list...)
}

// unnamed records holds without the name of the key.
type unnamed struct{ *both }

func (l unnamed) Settle(list ...command.Settlement) error {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Intent.Command == command.Hold {
			list[i].Intent.ActorLabel = ""
		}
	}
	return l.both.Settle(list...)
}
