package store

import (
	"strconv"
	"sync"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/store/db"
)

// totals remembers how many grants of a kind each place has: counting thousands takes longer than reading a page of
// them. A number holds as long as the place's revision, which every change of a grant raises, and the count of the
// times that grants were forgotten. Both are read at the page's moment.
type totals struct {
	mu sync.Mutex
	of map[totalOf]total
}

type totalOf struct{ placeID, kind string }

type total struct {
	at db.GrantsStateRow
	n  int64
}

// grants is the number of a place's grants of a kind at the transaction's moment.
func (t *totals) grants(tx *Tx, placeID, kind string) (int64, error) {
	at, err := none(tx.q.GrantsState(ctx, placeID))
	if err != nil {
		return 0, err
	}
	of := totalOf{placeID, kind}
	t.mu.Lock()
	have, ok := t.of[of]
	t.mu.Unlock()
	if ok && have.at == at {
		return have.n, nil
	}
	n, err := tx.q.CountGrants(ctx, placeID, kind)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	each.Put(&t.of, of, total{at, n})
	return n, nil
}

// forgot tells totals that grants are gone without their place's revision.
func (t *Tx) forgot(grants int64) error {
	if grants == 0 {
		return nil
	}
	text, err := none(t.q.Meta(ctx, forgottenGrants))
	if err != nil {
		return err
	}
	n, _ := strconv.ParseInt(text, 10, 64) // of whatever stands there the next is another
	return t.setMeta(forgottenGrants, strconv.FormatInt(n+1, 10))
}

// forgottenGrants is how often some were forgotten; the query GrantsState names it, too.
const forgottenGrants = "grants forgotten"
