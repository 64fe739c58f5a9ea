package judge

import (
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// toldMs is how long after a commit its events may be told, on a busy machine, in wall time.
const toldMs = 5000

// uses holds the uses that a permit is shown with against the records of its openings: each is one, at once, and nothing
// else is. Only a run that has seen all of a permit's life can tell.
func (v *View) uses(t *tally) {
	if !v.hasRecords || v.begun != nil || len(v.starts) > 1 {
		return
	}
	opened := each.By(each.If(v.records, mayBeUse), func(e *history.Event) string { return e.GrantID })
	came := v.cameAt()
	for _, c := range v.calls() {
		if c.Method != "GET" || !c.ok() || c.SentNs == 0 {
			continue
		}
		for _, p := range c.permits() {
			if n, shown := p["useCount"].(float64); shown {
				v.usesShown(t, c, p, int(n), opened[text(p, "permitId")], came)
			}
		}
	}
}

// mayBeUse reports whether a record counts as a use of its permit, now or once it is settled.
func mayBeUse(e *history.Event) bool {
	return strings.HasPrefix(e.GrantID, "pmt_") && (e.Result == vocab.Opened || e.Result == vocab.Result(vocab.NoResponse))
}

// usesShown holds one permit as it was read.
func (v *View) usesShown(t *tally, c *call, p map[string]any, n int, records []*history.Event, came map[boardRecord]int64) {
	began, least, most := c.started(), 0, 0
	shown, dated := instant(p["firstUsedAt"])
	for _, e := range records {
		if v.longer(c.Event, e, toldMs) {
			continue
		}
		most++
		if !v.before(e, began) {
			continue
		}
		if e.Result != vocab.Opened {
			if k := v.commands[e.CommandID]; k != nil && v.mustSettle(k, began) {
				if as, _ := v.settles(k); as == vocab.Opened {
					least++
				}
			}
			continue
		}
		least++
		at, known := came[boardRecord{e.BoardID, e.RecordSeq}]
		if e.BoardID == "" {
			at, known = e.At, true
		}
		if dated && known && v.oneClock() && shown > at+1 {
			t.bad(c.Event, "%v was used at %s, but its first use is shown at %s", p["permitId"], moment(at), moment(shown)) // [ENT-4]
		}
	}
	if len(records) > 0 {
		t.checked++
	}
	switch {
	case n < least, n > most:
		t.bad(c.Event, "%v is shown with %d uses, but has %d openings", p["permitId"], n, least) // [ENT-4]
	case dated != (n > 0):
		t.bad(c.Event, "%v is shown with %d uses and firstUsedAt %v", p["permitId"], n, p["firstUsedAt"]) // [ENT-4]
	}
}

// boardRecord names what a board recorded.
type boardRecord struct {
	board string
	seq   int64
}

// cameAt is when people stood at readers, by the clocks of the boards, which date their records. A number that was given
// twice is left out.
func (v *View) cameAt() map[boardRecord]int64 {
	out, twice := map[boardRecord]int64{}, []boardRecord{}
	for _, b := range v.boards {
		for _, e := range b.presented {
			k := boardRecord{b.id, e.RecordSeq}
			if _, known := out[k]; known {
				twice = append(twice, k)
			}
			if out[k] = e.At; e.BoardAt != 0 {
				out[k] = e.BoardAt
			}
		}
	}
	for _, k := range twice {
		delete(out, k)
	}
	return out
}
