package gateway

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// maxOrders bounds the commands of a board whose report hasn't come: as many as a board remembers.
const maxOrders = 256

// order is a command as it was sent; zero = not known.
type order struct {
	id   string
	turn int64
	at   time.Time // domain
}

// ordered notes a command that is about to be sent. Called with mu held.
func (b *peer) ordered(id string) {
	if len(b.orders) == maxOrders {
		b.orders = slices.Delete(b.orders, 0, maxOrders/4)
	}
	b.turn++
	b.orders = append(b.orders, order{id, b.turn, b.g.now()})
}

// order returns what was noted of a command.
func (b *peer) order(id string) order {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(b.orders, func(o order) bool { return o.id == id }); i >= 0 {
		return b.orders[i]
	}
	return order{}
}

// answered forgets a command whose report is dealt with.
func (b *peer) answered(id string) {
	b.mu.Lock()
	b.orders = slices.DeleteFunc(b.orders, func(o order) bool { return o.id == id })
	b.mu.Unlock()
}

// loose reports whether a message may have been made at the other end of a jump: with a virtual clock, boards in other
// processes jump at the same time as the server, not at the same moment. A board of this process has the server's clock,
// and a jump waits for its messages, so a time that differs shows that its own clock is wrong.
func (b *peer) loose(at int64, now time.Time) bool {
	g := b.g
	from, to := g.jumpedFrom.Load(), g.jumped.Load()
	return g.virtual && !g.cfg.Counted(b.id) && (at > now.UnixMilli() || from != 0 && at >= from-jumpSlackMs && at <= to)
}

// jumpSlackMs is how long before a jump a message may have been made that arrives after it.
const jumpSlackMs = 10 * 1000

// heard keeps the standings of a hello or a state message. Called with mu held.
func (b *peer) heard(by board.By, at int64, list []wire.Standing, now time.Time) {
	b.turn++
	h := board.Heard{At: at, Arrived: now, Loose: b.loose(at, now)}
	for i, s := range list {
		list[i] = h.OnTime(s)
	}
	b.st.Stand(list, board.Origin{By: by, Turn: b.turn}, now)
}

// stood keeps the standing of a report, nil = none, unless a newer one of the door is known: reports come in any order.
func (b *peer) stood(s *wire.Standing, by board.By, o order) {
	if s == nil {
		return
	}
	b.mu.Lock()
	newer := b.st.Stand([]wire.Standing{*s}, board.Origin{By: by, Turn: o.turn}, b.g.now())
	b.mu.Unlock()
	if newer {
		b.g.save(b)
	}
}
