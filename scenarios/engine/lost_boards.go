package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
)

// A file that finds too few boards is SKIPPED if the world is too small for it, and BLOCKED if the target has lost boards that
// would do: then it could have been played, and nobody should read that all is well.

// askedForLost bounds the places that are asked for lost boards: each takes a token, of which an address gets 30 per minute.
const askedForLost = 10

// lost lists the live boards that a file could choose if they weren't away: detached with nothing in their place, or offline
// at the server and shown by no control listener, as after the death of the process that ran them. A board that never connected,
// or that somebody else's board has replaced, isn't lost: the target can't show what needs it.
func (d *directory) lost(ctx context.Context, f *File) (out []*boardInfo, err error) {
	if d.run.lab == nil {
		return nil, nil
	}
	if err := d.readSettings(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	var ask []*Place
	for _, id := range slices.Sorted(maps.Keys(d.places)) {
		if p := d.places[id]; p.Kind != "test" && p.APIKey != "" && d.hides(id) {
			ask = append(ask, p)
		}
	}
	var found []boardInfo
	for _, b := range d.boards {
		found = append(found, *b)
	}
	d.mu.Unlock()
	for _, p := range ask[:min(len(ask), askedForLost)] {
		more, err := d.unshown(ctx, p)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	for _, b := range found {
		if b.away && b.kind != "test" && d.suits(f, &b) {
			out = append(out, &b)
		}
	}
	sortByID(out)
	return out, nil
}

// hides reports whether a place has doors that no listener shows.
func (d *directory) hides(placeID string) bool {
	s := d.set[placeID]
	return s != nil && slices.ContainsFunc(s.Doors, func(door doorSetting) bool { return d.doors[door.DoorID] == nil })
}

// idsOf is the set of some boards' ids.
func idsOf(list []*boardInfo) map[string]bool {
	return each.Set(list, func(b *boardInfo) string { return b.id })
}

func sortByID(list []*boardInfo) {
	slices.SortFunc(list, func(a, b *boardInfo) int { return cmp.Compare(a.id, b.id) })
}

// unshown asks the server for a place's boards that no listener shows and that have gone offline; none if the place's key may
// not read them, because it lacks the scope device:door or was revoked.
func (d *directory) unshown(ctx context.Context, p *Place) (out []boardInfo, err error) {
	list, status, err := d.public(ctx, p)
	if is[*deniedKey](err) || denied(status) {
		return nil, nil
	}
	for _, b := range list {
		if d.board(b.BoardID) == nil && !b.Online && b.LastSeenAt != nil {
			info := b.info(p)
			info.away = true
			out = append(out, *info)
		}
	}
	return out, err
}

// shownLost is how many lost boards an error names.
const shownLost = 3

// toldLost says which boards are missing, and how to bring them back.
func toldLost(lost []*boardInfo) string {
	ids := each.Of(lost[:min(len(lost), shownLost)], func(b *boardInfo) string { return b.id })
	are, names := "are", strings.Join(ids, ", ")
	if len(lost) == 1 {
		are = "is"
	}
	if len(lost) > shownLost {
		names += ", ..."
	}
	return fmt.Sprintf("; %s would do but %s offline (%s): start the process that runs them and pass its --control, or bring detached ones back with 'doorlab board attach'",
		amount.Many(len(lost), "more board"), are, names)
}
