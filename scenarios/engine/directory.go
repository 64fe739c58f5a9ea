package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
)

// directory knows which places, boards and doors belong together.
type directory struct {
	run    *run
	places map[string]*Place
	mu     sync.Mutex
	boards map[string]*boardInfo
	doors  map[string]*boardInfo
	asked  map[string]bool // places read over the API
	set    map[string]*setting
}

type boardInfo struct {
	id, placeID, kind string
	owner             string // control listener, "" = none has it
	real              bool   // the simulated board was taken away; the real one in its place has no journal and takes no faults
	told              bool   // somebody speaks to it in its server's place: it does what it is told, and no file chooses it
	away              bool   // it was taken away, and nothing has its place
	doors             []string
	channels          []int
}

// load reads the boards of the control listeners.
func (d *directory) load(ctx context.Context) error {
	d.places = map[string]*Place{}
	d.boards, d.doors, d.asked = map[string]*boardInfo{}, map[string]*boardInfo{}, map[string]bool{}
	for i := range d.run.target.Places {
		p := &d.run.target.Places[i]
		d.places[p.PlaceID] = p
	}
	if d.run.lab == nil {
		return nil
	}
	list, owner, err := d.run.lab.boards(ctx)
	if err != nil {
		return err
	}
	for _, b := range list {
		info := &boardInfo{id: b.BoardID, placeID: b.PlaceID, owner: owner[b.BoardID], real: b.Detached, told: b.Told, away: b.Detached && !b.Online}
		for _, door := range b.Doors {
			info.doors = append(info.doors, door.DoorID)
			info.channels = append(info.channels, door.Channel)
		}
		d.add(info)
	}
	return nil
}

func (d *directory) add(b *boardInfo) {
	b.kind = "live"
	if p := d.places[b.placeID]; p != nil {
		b.kind = p.Kind
	}
	d.boards[b.id] = b
	for _, door := range b.doors {
		d.doors[door] = b
	}
}

// ask reads a place's boards over the public API, for places that no control listener knows.
func (d *directory) ask(ctx context.Context, p *Place) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asked[p.PlaceID] || p.APIKey == "" {
		return nil
	}
	for _, b := range d.boards {
		if b.placeID == p.PlaceID {
			return nil
		}
	}
	list, _, err := d.public(ctx, p)
	for _, b := range list {
		d.add(b.info(p))
	}
	d.asked[p.PlaceID] = err == nil
	return err
}

// publicBoard is a board as the public API shows it.
type publicBoard struct {
	BoardID    string          `json:"boardId"`
	Online     bool            `json:"online"`
	LastSeenAt *string         `json:"lastSeenAt"`
	DoorIDs    []string        `json:"doorIds"`
	Channels   json.RawMessage `json:"channels"`
}

func (b publicBoard) info(p *Place) *boardInfo {
	info := &boardInfo{id: b.BoardID, placeID: p.PlaceID, kind: p.Kind, doors: b.DoorIDs}
	if json.Unmarshal(b.Channels, &info.channels) != nil {
		for i := range b.DoorIDs {
			info.channels = append(info.channels, i+1)
		}
	}
	return info
}

// public reads a place's boards over the public API.
func (d *directory) public(ctx context.Context, p *Place) (_ []publicBoard, status int, err error) {
	a, err := d.run.do(ctx, request{method: http.MethodGet, path: "/device/v1/boards", apiKey: p.APIKey, placeID: p.PlaceID})
	if err != nil {
		return nil, 0, err
	}
	var list struct{ Data []publicBoard }
	if a.Status != http.StatusOK || json.Unmarshal(a.Raw, &list) != nil {
		return nil, a.Status, fmt.Errorf("boards of %s: %s", p.PlaceID, a.short())
	}
	return list.Data, a.Status, nil
}

// look reads again which boards are real or told what to do: the operator may attach and detach them.
func (d *directory) look(ctx context.Context) error {
	if d.run.lab == nil {
		return nil
	}
	list, _, err := d.run.lab.boards(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range list {
		if known := d.boards[b.BoardID]; known != nil {
			known.real, known.told, known.away = b.Detached, b.Told, b.Detached && !b.Online
		}
	}
	return err
}

// spared are the doors of boards that are real or told what to do.
func (d *directory) spared() (doors []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.boards {
		if b.real || b.told {
			doors = append(doors, b.doors...)
		}
	}
	return doors
}

// only narrows a load to some boards: these are their places, and the doors to leave out as well.
func (d *directory) only(places []Place, boards []*boardInfo, spare []string) ([]Place, []string) {
	in, at := map[string]bool{}, map[string]bool{}
	for _, b := range boards {
		in[b.id], at[b.placeID] = true, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.boards {
		if !in[b.id] {
			spare = append(spare, b.doors...)
		}
	}
	return each.If(places, func(p Place) bool { return at[p.PlaceID] }), spare
}

// pick lists a kind of places' boards in a fixed order: the simulated ones, or the real ones that replace them.
func (d *directory) pick(ctx context.Context, kind string, real bool) ([]*boardInfo, error) {
	for i := range d.run.target.Places {
		p := &d.run.target.Places[i]
		if (kind == "any" || p.Kind == kind || d.run.keysOnly()) && (p.Kind == "test" || d.run.lab == nil) {
			if err := d.ask(ctx, p); err != nil {
				return nil, err
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if kind == "live" && d.run.keysOnly() && !slices.ContainsFunc(d.run.target.Places, func(p Place) bool { return p.Kind != "test" }) {
		kind = "test" // whoever has nothing but a test key tests with that
	}
	out := each.If(slices.Collect(maps.Values(d.boards)), func(b *boardInfo) bool {
		return b.real == real && !b.told && (kind == "any" || b.kind == kind)
	})
	sortByID(out)
	return out, nil
}

// boardsAt are the boards of a place that pick would find; none for an id that isn't a place's.
func (d *directory) boardsAt(ctx context.Context, placeID string) ([]*boardInfo, error) {
	if d.places[placeID] == nil {
		return nil, nil
	}
	all, err := d.pick(ctx, "any", false)
	return each.If(all, func(b *boardInfo) bool { return b.placeID == placeID }), err
}

func (d *directory) board(id string) *boardInfo {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.boards[id]
}

func (d *directory) door(id string) *boardInfo {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.doors[id]
}

// placeOf is the place of a door, "" if unknown.
func (d *directory) placeOf(door string) string {
	if b := d.door(door); b != nil {
		return b.placeID
	}
	return ""
}

// key is the key of a place.
func (d *directory) key(placeID string) (string, error) {
	p := d.places[placeID]
	switch {
	case p == nil:
		return "", fmt.Errorf("no place %q in the target%s", placeID, near.Hint(placeID, slices.Collect(maps.Keys(d.places))))
	case p.APIKey == "":
		return "", fmt.Errorf("no API key for place %s; give it one in the world file, with 'doorlab keys create' or with --key", placeID)
	}
	return p.APIKey, nil
}

// noDoor is the error for an id that isn't a door's.
func (d *directory) noDoor(id string) error {
	what := ""
	if d.places[id] != nil {
		what = ": that is a place"
	} else if d.board(id) != nil {
		what = ": that is a board"
	}
	return fmt.Errorf("no door %q in the target%s", id, cmp.Or(what, d.near(id)))
}

// near suggests the board or door whose id is like one that doesn't exist.
func (d *directory) near(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return near.Hint(id, slices.Concat(slices.Collect(maps.Keys(d.boards)), slices.Collect(maps.Keys(d.doors))))
}
