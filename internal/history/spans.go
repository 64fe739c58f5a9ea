package history

import "math"

// FreshMs is the bound of SYNC-1 and SYNC-2.
const FreshMs = 300 * 1000

// span is a time during which a board was connected and its line whole, in
// domain time. An open one ends at never.
type span struct {
	from, to int64
	online   *Event
}

const never = math.MaxInt64

// spans are the times a board was connected. A late end of a connection that
// another has taken over ends nothing; a new life of the server ends all.
func (b *board) spans() []span {
	var out []span
	var online *Event
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
		case Online:
			shut(e.At)
			online = e
			open(e.At)
		case Offline:
			if online != nil && (e.Epoch == 0 || e.Epoch == online.Epoch) {
				shut(e.At)
				online = nil
			}
		case Started:
			shut(e.At)
			online = nil
		case Line:
			switch {
			case e.Op == "down":
				shut(e.At)
				down = true
			case down:
				down = false
				open(e.At)
			}
		}
	}
	return out
}

// good reports whether what a board has equals the server's content at that
// revision, as far as both said.
func (p *place) good(e *Event) bool {
	want := p.digests[e.Revision]
	return e.Digest == "" || want == "" || e.Digest == want
}

// step is a moment at which a board is known to have a revision.
type step struct {
	rev, at int64
}

// steps are the moments at which a board's revision rose, rightly applied; wrong
// is its last word if that differs from the server's content, and right the last
// revision that did not.
func (b *board) steps(p *place) (out []step, wrong *Event, right int64) {
	top, badRev := int64(-1), int64(-1)
	for _, e := range b.applied {
		switch e.Kind {
		case Applied:
			if !p.good(e) {
				wrong, badRev = e, e.Revision
				continue
			}
			wrong, badRev, right = nil, -1, e.Revision
		case Online:
			if e.Revision == badRev || !p.good(e) {
				continue
			}
		default:
			continue
		}
		if e.Revision > top {
			top = e.Revision
			out = append(out, step{top, e.At})
		}
	}
	return out, wrong, right
}
