package fault

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/near"
)

// cohort checks which boards a spec selects; pick, called with mu held, names them.
func (s *Set) cohort(spec *Spec) (pick func() []string, err error) {
	var all []Info
	if s.c.Boards != nil {
		all = s.c.Boards()
	}
	var chosen []Info
	switch n := b2i(len(spec.Boards) > 0) + b2i(spec.PlaceID != "") + b2i(spec.Share != nil); {
	case n != 1:
		return nil, faults.Sentence("boards", "exactly one of boards, placeId and share is needed")
	case spec.Share != nil:
		chosen = attached(slices.DeleteFunc(slices.Clone(all), func(b Info) bool { return b.Test }))
		if len(chosen) == 0 {
			return nil, faults.Sentence("share", "no board belongs to a live place")
		}
	case spec.PlaceID != "":
		chosen = attached(slices.DeleteFunc(slices.Clone(all), func(b Info) bool { return b.PlaceID != spec.PlaceID }))
		if len(chosen) == 0 {
			return nil, faults.Sentence("placeId", "place %q has no boards%s", spec.PlaceID, near.Hint(spec.PlaceID, each.Of(all, func(b Info) string { return b.PlaceID })))
		}
	default:
		if chosen, err = named(all, spec.Boards); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(chosen, func(b Info) bool { return b.Test }) {
		return nil, ErrTestPlace
	}
	if slices.ContainsFunc(chosen, func(b Info) bool { return b.Detached }) {
		return nil, ErrDetached
	}
	if err := doorsOf(chosen, spec.DoorIDs); err != nil {
		return nil, err
	}
	spec.DoorIDs = slices.Clone(spec.DoorIDs)
	spec.Commands = slices.Clone(spec.Commands)
	for i, c := range spec.Commands {
		spec.Commands[i] = strings.TrimPrefix(c, "door.")
	}
	ids := each.Of(chosen, func(b Info) string { return b.ID })
	if spec.Share == nil {
		return func() []string { return ids }, nil
	}
	share := *spec.Share
	return func() []string { return s.share(ids, share) }, nil
}

// attached are the boards that aren't detached, or all if there are none: then the fault is refused because of that.
func attached(boards []Info) []Info {
	here := slices.DeleteFunc(slices.Clone(boards), func(b Info) bool { return b.Detached })
	if len(here) == 0 {
		return boards
	}
	return here
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func named(all []Info, ids []string) ([]Info, error) {
	by := make(map[string]Info, len(all))
	for _, b := range all {
		by[b.ID] = b
	}
	var out []Info
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		b, ok := by[id]
		if !ok {
			return nil, faults.Sentence("boards", "no simulated board %q here%s ('doorlab board list' shows them)", id, near.Hint(id, slices.Sorted(maps.Keys(by))))
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, b)
		}
	}
	return out, nil
}

// doorsOf checks that each door belongs to one of the boards.
func doorsOf(boards []Info, doors []string) error {
	for _, d := range doors {
		if !slices.ContainsFunc(boards, func(b Info) bool { return slices.Contains(b.DoorIDs, d) }) {
			return faults.Sentence("doorIds", "none of these boards has the door %q%s", d, near.Hint(d, slices.Concat(each.Of(boards, func(b Info) []string { return b.DoorIDs })...)))
		}
	}
	return nil
}

// share picks the boards held by the fewest armed shares, in the seed's order. Called with mu held.
func (s *Set) share(ids []string, share float64) []string {
	type candidate struct {
		id   string
		held int
		hash uint64
	}
	list := make([]candidate, len(ids))
	for i, id := range ids {
		list[i] = candidate{id: id, hash: s.hash(id)}
		for _, a := range s.byBoard[id] {
			list[i].held += b2i(a.spec.Share != nil)
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(a.held-b.held, cmp.Compare(a.hash, b.hash), cmp.Compare(a.id, b.id))
	})
	n := max(1, int(math.Round(share*float64(len(ids)))))
	out := make([]string, n)
	for i := range out {
		out[i] = list[i].id
	}
	slices.Sort(out)
	return out
}

// hash is a number drawn from the seed and a name.
func (s *Set) hash(parts ...string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatInt(s.c.Seed, 10)))
	for _, p := range parts {
		_, _ = h.Write([]byte{0})
		_, _ = h.Write([]byte(p))
	}
	x := h.Sum64() // FNV's high bits are weak: splitmix64's finish
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit is a hash in (0, 1).
func (s *Set) unit(parts ...string) float64 {
	return (float64(s.hash(parts...)>>11) + 0.5) / (1 << 53)
}

// draw is a board's next random number of a fault.
func (s *Set) draw(a *armed, boardID string) float64 {
	each.Put(&a.draws, boardID, a.draws[boardID]+1)
	return s.unit(a.id, boardID, strconv.FormatUint(a.draws[boardID], 10))
}
