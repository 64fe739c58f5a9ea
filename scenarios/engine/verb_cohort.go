package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
)

func (c *Cohort) run(x *frame) (fields, error) {
	name := need(c.Name.str(x.scope))
	from := c.candidates(x)
	chosen := c.choose(x, name, from)
	if least := c.least(x); len(chosen) < least {
		return nil, c.few(x, name, from, len(chosen), least)
	}
	v := cohortValue(name, chosen)
	x.scope.root().set(name, v)
	x.res.Detail = amount.Many(len(chosen), "board") + " of " + amount.Many(len(v["places"].([]any)), "place")
	return v, nil
}

// choose takes from boards the ones of the cohort, the same for the same seed.
func (c *Cohort) choose(x *frame, name string, from []*boardInfo) []*boardInfo {
	r := rand.New(rand.NewPCG(uint64(x.run.seed), x.file.draw("cohort/"+name)))
	if c.Places != nil {
		from = somePlaces(from, x.count(c.Places, 0), x.count(c.PerPlace, 1), r)
	}
	if c.PerPlace != nil {
		from = perPlace(from, x.count(c.PerPlace, 0), r)
	}
	return c.some(x, from, r)
}

// candidates are the boards to choose from.
func (c *Cohort) candidates(x *frame) []*boardInfo {
	sure(x.run.dir.look(x.ctx))
	if c.From.set() {
		return c.fit(x, x.boards(c.From))
	}
	return c.fit(x, need(x.run.dir.pick(x.ctx, cmp.Or(c.Kind, "live"), c.Real)))
}

// fit are those of the boards that the file can choose and the cohort doesn't leave out.
func (c *Cohort) fit(x *frame, list []*boardInfo) (left []*boardInfo) {
	var except []*boardInfo
	for _, e := range c.Except {
		except = append(except, x.boards(e)...)
	}
	out := idsOf(except)
	for _, b := range list {
		if !out[b.id] && len(b.doors) > 0 && x.run.dir.suits(x.file.file, b) {
			left = append(left, b)
		}
	}
	return left
}

// some picks a number or share of boards, or one of several parts.
func (c *Cohort) some(x *frame, from []*boardInfo, r *rand.Rand) []*boardInfo {
	n := len(from)
	switch {
	case c.Boards != nil:
		n = x.count(c.Boards, n)
	case c.Share != nil:
		f := need(c.Share.num(x.scope))
		switch {
		case f <= 0:
			panic(stop{fmt.Errorf("a share of %s contains no boards", c.Share.raw)})
		case f > 1:
			panic(stop{fmt.Errorf("a share of %s is more than all boards", c.Share.raw)})
		}
		n = max(1, int(math.Round(f*float64(n))))
	case c.Part.set():
		return c.part(x, from)
	}
	from = shuffled(from, r)
	from = from[:max(0, min(n, len(from)))]
	sortByID(from)
	return from
}

// part takes the n-th of m parts; the parts of one cohort are disjoint whatever their names.
func (c *Cohort) part(x *frame, from []*boardInfo) (out []*boardInfo) {
	n, m, err := fraction(need(c.Part.str(x.scope)))
	sure(err)
	all := shuffled(from, rand.New(rand.NewPCG(uint64(x.run.seed), x.file.draw("parts"))))
	for i := n - 1; i < len(all); i += m {
		out = append(out, all[i])
	}
	sortByID(out)
	return out
}

// fraction is n of m parts.
func fraction(text string) (n, m int, err error) {
	a, b, _ := strings.Cut(text, "/")
	n, err1 := strconv.Atoi(a)
	m, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || n < 1 || m < n {
		return 0, 0, fmt.Errorf("%q is not a valid fraction, write it like 1/4", text)
	}
	return n, m, nil
}

func shuffled(in []*boardInfo, r *rand.Rand) []*boardInfo {
	out := append([]*boardInfo(nil), in...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func byPlace(in []*boardInfo) (ids []string, of map[string][]*boardInfo) {
	of = each.By(in, func(b *boardInfo) string { return b.placeID })
	return keysOf(of), of
}

// somePlaces are the boards of n places; those with as many as wanted come first.
func somePlaces(in []*boardInfo, n, boards int, r *rand.Rand) (out []*boardInfo) {
	ids, of := byPlace(in)
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(min(len(of[b]), boards), min(len(of[a]), boards)) })
	for _, id := range ids[:min(n, len(ids))] {
		out = append(out, of[id]...)
	}
	return out
}

func perPlace(in []*boardInfo, n int, r *rand.Rand) (out []*boardInfo) {
	ids, of := byPlace(in)
	for _, id := range ids {
		out = append(out, shuffled(of[id], r)[:min(n, len(of[id]))]...)
	}
	return out
}

// cohortValue is what expressions see of a cohort.
func cohortValue(name string, bs []*boardInfo) map[string]any {
	boards, doors, places := []any{}, []any{}, []any{}
	seen := map[string]bool{}
	for _, b := range bs {
		boards = append(boards, b.id)
		for _, d := range b.doors {
			doors = append(doors, d)
		}
		if !seen[b.placeID] {
			seen[b.placeID] = true
			places = append(places, b.placeID)
		}
	}
	v := map[string]any{"name": name, "boards": boards, "doors": doors, "places": places, "count": len(bs)}
	for one, all := range map[string][]any{"board": boards, "door": doors, "place": places} {
		v[one] = ""
		if len(all) > 0 {
			v[one] = all[0]
		}
	}
	return v
}
