package planted

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/console"
	"github.com/doorlab/doorlab/server/entry"
)

// calls has bugs of how many refused calls are answered.
type calls struct {
	console.Entry
	name     string
	clk      clock.Clock
	numbers  *limit.Window
	refusals *sync.Map // number called and caller -> the last refusal
}

func callsOf(name string, c console.Config) console.Entry {
	return calls{c.Entry, name, c.Clock, limit.New(60, time.Minute), new(sync.Map)}
}

func (c calls) Call(ctx context.Context, to, from string) (entry.CallResult, error) {
	if c.name == "called-number-in-one-form" && strings.ContainsAny(to, "+-") {
		return entry.CallResult{}, nil
	}
	res, err := c.Entry.Call(ctx, to, from)
	switch c.name {
	case "refused-calls-count-anywhere":
		if res.Result == vocab.Denied {
			if ok, _ := c.numbers.Allow(from, c.clk.Now()); !ok {
				return entry.CallResult{}, nil
			}
		}
	case "refused-calls-name-no-door":
		if res.Result == vocab.Denied {
			res.DoorID = ""
		}
	case "refused-calls-always-answered":
		if res.Result == vocab.Denied {
			c.refusals.Store(to+" "+from, res)
		} else if was, refused := c.refusals.Load(to + " " + from); refused && !res.Answered {
			return was.(entry.CallResult), err
		}
	}
	return res, err
}

// freed reports whether a bug lets go of a key too early; since is when this ledger was first asked.
func (l ledger) freed(p command.Prior, now, since time.Time) bool {
	age := p.Answer.Result.RequestedAt
	switch l.name {
	case "keys-of-failures-kept-a-week":
		return p.Settled && p.Answer.Result.Outcome != vocab.Reported && now.Sub(age) > 7*24*time.Hour
	case "old-keys-gone-at-a-restart":
		return p.Settled && since.Sub(age) > 7*24*time.Hour
	}
	return false
}
