package loadtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/shard"
)

// distinct are the parts in the order of their indexes, without those that are there already, whatever their directories
// are called: counted twice, a load would prove what it didn't send. twice says which they are.
func distinct(all []Result) (parts []Result, twice []string) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Result) int { return cmp.Compare(a.index(), b.index()) })
	seen := map[string]string{}
	for i, p := range all {
		id, me := p.identity(), p.told(i)
		other, again := seen[id]
		switch {
		case id == "" || !again:
			seen[id], parts = me, append(parts, p)
		case p.Shard != nil:
			twice = append(twice, fmt.Sprintf("%s and %s are both shard %s, and the same run of it", other, me, p.Shard))
		default:
			twice = append(twice, fmt.Sprintf("%s and %s are the same run, which counts once", other, me))
		}
	}
	return parts, twice
}

// identity tells a run from all others; "" if it never began.
func (r Result) identity() string {
	switch {
	case r.Run != "":
		return r.Run
	case r.Guarantees != nil && r.Guarantees.History != nil:
		return r.Guarantees.History.SHA256
	case !r.Started.IsZero():
		return r.Started.String()
	}
	return ""
}

// world is a digest of the doors that a whole run may command; "" for a shard, which has the digest of the places that
// are divided.
func (r *runner) world() string {
	if r.shard != nil {
		return ""
	}
	ids := each.Of(r.doors, func(d door) string { return d.place.PlaceID + " " + d.id + "\n" })
	slices.Sort(ids)
	sum := sha256.Sum256([]byte(strings.Join(ids, "")))
	return hex.EncodeToString(sum[:8])
}

// unlike says what keeps parts from being one load: all of its shards, once each. They are
// in the order of their indexes.
func unlike(parts []Result) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	first, sharded := parts[0], 0
	for i, p := range parts {
		if p.Shard != nil {
			sharded++
		}
		a, b := first.told(0), p.told(i)
		switch {
		case p.Highest > 0 || len(p.Search) > 0:
			say("%s is a search: it can't be merged", b)
		case !same(p.Plan, first.Plan):
			say("%s and %s ran different plans", a, b)
		case p.World != "" && first.World != "" && p.World != first.World:
			say("%s and %s had different worlds", a, b)
		case p.Schema != first.Schema || p.Version != first.Version:
			say("%s and %s are of different versions: %s, %s", a, b, version(first), version(p))
		case p.Shard != nil && first.Shard != nil && p.Seed != first.Seed: // generators that aren't shards may use any seed
			say("%s has the seed %d, %s the seed %d", a, first.Seed, b, p.Seed)
		}
	}
	switch sharded {
	case 0:
		return wrong
	case len(parts):
		return append(wrong, incomplete(parts, len(wrong) == 0)...)
	}
	say("%d of %d parts are shards, the others are whole runs", sharded, len(parts))
	return wrong
}

// incomplete says what keeps shards from being all of a load. alike: they have the same plan.
func incomplete(parts []Result, alike bool) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	first, seen, places, planned := parts[0], map[int]string{}, map[string]string{}, int64(0)
	for i, p := range parts {
		s, me := p.Shard, p.told(i)
		if other, twice := seen[s.Index]; twice {
			say("%s and %s are both shard %s", other, me, s)
		}
		seen[s.Index] = me
		switch {
		case s.Of != first.Shard.Of:
			say("%s is one of %d shards, %s one of %d", first.told(0), first.Shard.Of, me, s.Of)
		case s.World != first.Shard.World:
			say("%s and %s are shards of different worlds", first.told(0), me)
		}
		for _, id := range s.Places {
			if other, twice := places[id]; twice && other != me {
				say("the place %s is in %s and in %s", id, other, me)
				break
			}
			places[id] = me
		}
		planned += p.Planned
	}
	missing := shard.Missing(first.Shard.Of, seen)
	switch {
	case missing != "":
		say("shard %s is missing", missing)
	case alike && len(wrong) == 0 && planned != newSchedule(first.Plan).total:
		say("the shards planned %d requests, the plan has %d", planned, newSchedule(first.Plan).total)
	}
	return wrong
}

// told names a part by its directory, if it has one.
func (r Result) told(i int) string { return cmp.Or(r.dir, r.name(i)) }

func same(a, b Plan) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

func version(r Result) string {
	return fmt.Sprintf("%s with schema %d", cmp.Or(r.Version, "unknown"), r.Schema)
}
