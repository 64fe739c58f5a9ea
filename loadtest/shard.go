package loadtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/shard"
)

// ErrShard means that a plan or a target can't be divided as requested.
var ErrShard = errors.New("this can't be sharded")

// Part is the share of one of several generators: it sends commands to the places of its shard, its part of the plan's
// requests, so that all of them together send what one would, to each door as often. The zero value is the whole.
type Part struct {
	shard.Shard
	// World has all places that the shards divide, in order; nil: the target's. The target of one shard needs no
	// others.
	World []Place
}

// Shard says in a result which part of the whole it is.
type Shard struct {
	Index   int             `json:"index"` // from 1; 0 = of a merged result: it could not be read
	Of      int             `json:"of"`
	World   string          `json:"world,omitempty"`  // digest of the places that the shards divide
	Places  []string        `json:"places,omitempty"` // this shard's
	Started time.Time       `json:"started,omitzero"`
	Sent    int64           `json:"sent"`
	Verdict string          `json:"verdict,omitempty"`
	Dir     string          `json:"dir,omitempty"` // of a merged result: where the shard's own results are
	others  map[string]bool // places of the other shards
	weights []int64         // how many doors each shard has; places, if doors are unknown
}

func (s Shard) String() string { return shard.Shard{Index: s.Index, Of: s.Of}.String() }

// Label, Begin and Said are the shard's line in a merged report.
func (s Shard) Label() string {
	if s.Index == 0 {
		return "-"
	}
	return s.String()
}

func (s Shard) Begin() string {
	if s.Started.IsZero() {
		return "-"
	}
	return s.Started.UTC().Format("15:04:05.000Z")
}

func (s Shard) Said() string { return cmp.Or(s.Verdict, "NOT READ") }

// after is the shard together with its result.
func (s *Shard) after(c *collector) *Shard {
	if s == nil {
		return nil
	}
	out := *s
	out.Started, out.Sent = c.pacer.began.UTC(), c.sent
	return &out
}

// Check reports what keeps a plan from being divided. Error: ErrShard.
func (p Part) Check(plan Plan) error {
	if p.Whole() {
		return nil
	}
	plan = plan.withDefaults()
	if plan.Pacer == "search" {
		return fmt.Errorf("%w: in a search each step depends on the one before, which separate generators can't know; run it without --shard, or use another pacer", ErrShard)
	}
	if total := newSchedule(plan).total; total < int64(p.Of) {
		return fmt.Errorf("%w: the plan has %d requests for %d shards", ErrShard, total, p.Of)
	}
	return nil
}

// take selects the shard's places of the kind that the plan wants.
func (p Part) take(places []Place, kind string) (mine []Place, of *Shard, err error) {
	if p.Of == 0 {
		return choose(places, kind), nil, nil
	}
	all := p.World
	if all == nil {
		all = places
	}
	known := slices.ContainsFunc(all, func(pl Place) bool { return pl.Doors > 0 })
	weights := make([]int64, p.Of)
	if kind == "live" && !slices.ContainsFunc(all, func(p Place) bool { return p.Kind == kind }) {
		kind = "test"
	}
	at, sum := map[string]Place{}, sha256.New()
	for _, pl := range places {
		at[pl.PlaceID] = pl
	}
	of = &Shard{Index: p.Index, Of: p.Of, others: map[string]bool{}}
	for k, pl := range all {
		if fmt.Fprintln(sum, pl.PlaceID, pl.Doors); kind != "all" && pl.Kind != kind {
			continue
		}
		if known {
			weights[k%p.Of] += int64(pl.Doors)
		} else {
			weights[k%p.Of]++
		}
		if !p.Takes(k) {
			of.others[pl.PlaceID] = true
			continue
		}
		have, ok := at[pl.PlaceID]
		if !ok || have.APIKey == "" {
			return nil, nil, fmt.Errorf("%w: the target has no key for %s (%s) of shard %s; was it started with the same world, seed and shard?", ErrShard, pl.Name, pl.PlaceID, p.Shard)
		}
		mine, of.Places = append(mine, have), append(of.Places, pl.PlaceID)
	}
	of.World, of.weights = hex.EncodeToString(sum.Sum(nil)[:8]), weights
	if len(mine) == 0 || weights[p.Index-1] == 0 {
		return nil, nil, fmt.Errorf("%w: none of %d places of the kind %q is in shard %s", ErrShard, len(all), kind, p.Shard)
	}
	return mine, of, nil
}

// sieve drops what a shared server told about other shards' places.
type sieve struct {
	mine, foreign map[string]bool // places; boards
}

// newSieve is nil, which drops nothing, for a run that isn't sharded.
func newSieve(of *Shard) *sieve {
	if of == nil {
		return nil
	}
	return &sieve{mine: each.Set(of.Places, func(id string) string { return id }), foreign: map[string]bool{}}
}

// keeps must be called for the events in order: for some, only earlier ones tell which place they belong to.
func (s *sieve) keeps(e *history.Event) bool {
	switch {
	case s == nil:
	case e.PlaceID != "" && !s.mine[e.PlaceID]:
		s.foreign[e.BoardID] = true
		return false
	case e.PlaceID == "" && e.BoardID != "" && s.foreign[e.BoardID]:
		return false
	}
	return true
}

// waiting is the value of a threshold that can only be judged for all shards together.
const waiting = "decided by all shards together"

// Waits reports whether the threshold is left to the merge of all shards.
func (t Threshold) Waits() bool { return t.Value == waiting }

// waits reports whether the limit can only be judged for all shards together.
func (l limit) waits() bool {
	return l.measure == "rate" || l.measure == "count" && l.atLeast && !l.share
}

// laterThan is how much later than --start-at a generator may begin.
const laterThan = time.Second

// late says that the run began too late; "" if it didn't.
func late(began, want time.Time) string {
	by := began.Sub(want)
	if want.IsZero() || by <= laterThan {
		return ""
	}
	return fmt.Sprintf("the generator began %s after its start time", amount.Duration(round(by.Seconds(), 1)))
}
