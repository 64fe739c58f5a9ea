package judge

import (
	"cmp"
	"math"

	"github.com/doorlab/doorlab/internal/history"
)

// FreshMs is the limit of SYNC-1 and SYNC-2.
const FreshMs = 300 * 1000

// span is a period during which a board was connected and its line intact, in domain time. One that is still open ends
// at never.
type span struct {
	from, to int64
	online   *history.Event
}

const never = math.MaxInt64

// spans are the periods during which a board was connected.
func (b *board) spans() []span {
	if b.connected == nil {
		b.connected = b.connections()
	}
	return b.connected
}

// connections looks for them in the whole history. A late end of a connection that another has taken over ends
// nothing; a restart of the server ends all.
func (b *board) connections() []span {
	var out []span
	var online *history.Event
	down := false
	shut := func(at int64) {
		if n := len(out); n > 0 && out[n-1].to == never {
			out[n-1].to = at
		}
	}
	open := func(at int64) {
		if online != nil && !down {
			out = append(out, span{from: at, to: never, online: online})
		}
	}
	for _, e := range b.conn {
		switch e.Kind {
		case history.Online:
			shut(e.At)
			online = e
			open(e.At)
		case history.Offline:
			if online != nil && (e.Epoch == 0 || e.Epoch == online.Epoch) {
				shut(e.At)
				online = nil
			}
		case history.Started:
			shut(e.At)
			online = nil
		case history.Line:
			was := down
			down = e.Op == "down" || e.Op == "lossy" && e.Text == history.AllPackets
			if down {
				shut(e.At)
			} else if was {
				open(e.At)
			}
		}
	}
	return out
}

// good reports whether what a board acknowledged equals the server's content at that revision, as far as the server
// reported it. An empty digest equals nothing, but a board that isn't ours may leave it out.
func (p *place) good(b *board, e *history.Event) bool {
	want := p.digests[e.Revision]
	return want == "" || e.Digest == want || e.Digest == "" && !b.truth
}

// step is a time at which a board is known to have a revision.
type step struct {
	rev, at int64
	told    *history.Event
}

// steps are the times at which a board's revision rose, correctly applied; wrong is its last report if that differs
// from the server's content.
func (b *board) steps(p *place) (out []step, wrong *history.Event) {
	top, badRev := int64(-1), int64(-1)
	for _, e := range b.applied {
		switch e.Kind {
		case history.Applied:
			if !p.good(b, e) {
				wrong, badRev = e, e.Revision
				continue
			}
			wrong, badRev = nil, -1
		case history.Online:
			if e.Revision == badRev { // a hello has no digest
				continue
			}
		case history.Wiped, history.Attached: // see loses
			top = -1
			continue
		default:
			continue
		}
		if e.Revision > top {
			top = e.Revision
			out = append(out, step{top, e.At, e})
		}
	}
	return out, wrong
}

// has is the revision that a board has by its last word. Whatever it had before it lost its flash, or before another board
// took its place, it has only if it says so again.
func (b *board) has(p *place) (rev int64) {
	for _, e := range b.applied {
		switch {
		case e.Kind == history.Wiped || e.Kind == history.Attached:
			rev = 0
		case e.Kind == history.Online:
			rev = e.Revision
		case p.good(b, e): // a late acknowledgement on its previous connection takes nothing away; see monotone
			rev = max(rev, e.Revision)
		}
	}
	return rev
}

// differed is the first report of content that isn't the server's, and the last revision before it that was. That it
// was mended later excuses only a board that isn't ours: we don't know what happened to its flash.
func (b *board) differed(p *place) (wrong *history.Event, right int64) {
	for _, e := range b.applied {
		switch {
		case e.Kind != history.Applied:
		case !p.good(b, e):
			wrong = cmp.Or(wrong, e)
		case wrong == nil:
			right = e.Revision
		case !b.truth:
			wrong, right = nil, e.Revision
		}
	}
	return wrong, right
}
