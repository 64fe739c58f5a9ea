package world

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/near"
)

// Scopes of a key that may do everything.
var bothScopes = []string{"space:partner", "device:door"}

// boardsPerPlace and doorsPerBoard are the dimensions of generated places.
const (
	boardsPerPlace = 10
	doorsPerBoard  = 2
)

// maxDoorsPerBoard bounds generated boards, maxChannel the relays of any.
const (
	maxDoorsPerBoard = 16
	maxChannel       = 64
)

var names = []string{"Gangnam", "Hongdae", "Itaewon", "Jamsil", "Mapo", "Seocho", "Yeouido", "Seongsu", "Sinchon", "Jongno"}

// Default is the world without a file: one test place (one board, two entry doors) and live places of ten boards with
// two entry doors each, liveBoards in total; every place has an entry phone and a key. It is resolved, but has no
// secrets.
func Default(seed int64, liveBoards int) *World {
	week := access.Week{}
	for _, d := range weekdays {
		week[d] = [][2]string{{"09:00", "22:00"}}
	}
	w := &World{Seed: seed, Places: []Place{{
		Name: "Test place", Kind: Test, Hours: week, Fleet: &Fleet{Boards: 1},
		Keys: []Key{{Name: "default", Scopes: bothScopes, Sim: true}},
	}}}
	for n := 0; liveBoards > 0; n++ {
		boards := min(liveBoards, boardsPerPlace)
		liveBoards -= boards
		name := names[n%len(names)]
		if n >= len(names) {
			name = fmt.Sprintf("%s %d", name, n/len(names)+1)
		}
		w.Places = append(w.Places, Place{Name: name, Kind: Live, Hours: week, Fleet: &Fleet{Boards: boards},
			Keys: []Key{{Name: "default", Scopes: bothScopes}}})
	}
	if err := w.Resolve(); err != nil {
		panic("world: the default world: " + err.Error()) // ours
	}
	return w
}

// Resolve fills in every id and generated board, deterministically by Seed, and checks everything; DeriveSecrets adds
// the secrets. The error lists every problem, one per line.
func (w *World) Resolve() error { return w.resolve(func(string) bool { return false }) }

// resolve is Resolve for a file. given reports whether it has a field: what it leaves out is derived, what it has must
// be right.
func (w *World) resolve(given func(field string) bool) error {
	c := &checker{seen: map[string]string{}, given: given}
	if w.Seed < 0 || w.Seed == 0 && given("seed") { // as --seed is: processes that must agree give the same one
		c.add("seed", "must be 1 or more")
	}
	if len(w.Places) == 0 {
		c.add("places", "at least one place is needed")
	}
	for i := range w.Places {
		w.resolvePlace(c, i)
	}
	return c.err()
}

func (w *World) resolvePlace(c *checker, i int) {
	p := &w.Places[i]
	at := fmt.Sprintf("places[%d]", i)
	if p.ID == "" && !c.given(at+".id") {
		p.ID = w.id("plc_", "place", i)
	}
	c.id(at+".id", "plc_", p.ID)
	if p.Name == "" && !c.given(at+".name") {
		p.Name = fmt.Sprintf("Place %d", i+1)
	}
	if p.Name == "" {
		c.add(at+".name", "must not be empty")
	}
	c.name(at+".name", p.Name)
	if p.Kind == "" && !c.given(at+".kind") {
		p.Kind = Live
	}
	if p.Kind != Test && p.Kind != Live {
		c.add(at+".kind", fmt.Sprintf("%q is neither test nor live%s", p.Kind, near.Hint(p.Kind, []string{Test, Live})))
	}
	if p.Timezone == "" && !c.given(at+".timezone") {
		p.Timezone = "Asia/Seoul"
	}
	if !access.IsTimezone(p.Timezone) {
		c.add(at+".timezone", fmt.Sprintf("%q is not a known time zone; write a name like Asia/Seoul", p.Timezone))
	}
	w.resolvePhone(c, at, i)
	resolveHours(c, at, p)
	checkDays(c, at, p)
	w.resolveBoards(c, at, i)
	w.resolveKeys(c, at, i)
	checkMemberships(c, at, p)
}

func (w *World) resolvePhone(c *checker, at string, i int) {
	p := &w.Places[i]
	if p.EntryPhone == "" && !c.given(at+".entryPhone") {
		n := binary.BigEndian.Uint32(w.sum("phone", i))
		for taken := true; taken; n++ { // among thousands of places, numbers collide
			p.EntryPhone = fmt.Sprintf("0507%02d%05d", i%100, (uint32(i/100)*7919+n)%100000)
			_, taken = c.seen["entry phone "+p.EntryPhone]
		}
	}
	if !phoneForm.MatchString(p.EntryPhone) {
		c.add(at+".entryPhone", fmt.Sprintf("%q is not 8 to 15 digits", p.EntryPhone))
	}
	c.once(at+".entryPhone", "entry phone "+p.EntryPhone)
}

func (w *World) resolveBoards(c *checker, at string, i int) {
	p := &w.Places[i]
	resolveFleet(c, at, p)
	for j := range p.Boards {
		b := &p.Boards[j]
		bat := fmt.Sprintf("%s.boards[%d]", at, j)
		if b.ID == "" && !c.given(bat+".id") {
			b.ID = w.id("brd_", "board", i, j)
		}
		c.id(bat+".id", "brd_", b.ID)
		b.Name = cmp.Or(b.Name, fmt.Sprintf("Board %d", j+1))
		c.name(bat+".name", b.Name)
		b.Given = b.Password != "" || c.given(bat+".password")
		if b.Password == "optional" { // as the specification's example has it, word for word
			b.Password, b.Given = "", false
		}
		if b.Given && len(b.Password) < MinPassword {
			c.add(bat+".password", fmt.Sprintf("must have at least %d characters", MinPassword))
		}
		if len(b.Doors) == 0 {
			c.add(bat+".doors", "at least one door is needed")
		}
		w.resolveDoors(c, bat, i, j)
	}
}

// MaxBoards is how many boards the fleets of a world can have together: twice the largest deployment that docs/scale.md
// plans. A mistyped number would otherwise take all memory before anything is said.
const MaxBoards = 2_000_000

// resolveFleet adds the generated boards to the named ones.
func resolveFleet(c *checker, at string, p *Place) {
	f := p.Fleet
	if f == nil {
		return
	}
	switch {
	case f.Boards < 0 || f.Boards > MaxBoards:
		c.add(at+".fleet.boards", fmt.Sprintf("must be 0 to %d", MaxBoards))
		f.Boards = 0
	case c.boards+f.Boards > MaxBoards:
		c.add(at+".fleet.boards", fmt.Sprintf("the fleets have more than %d boards together", MaxBoards))
		f.Boards = 0
	}
	c.boards += f.Boards
	doors := f.DoorsPerBoard
	if doors == 0 && !c.given(at+".fleet.doorsPerBoard") {
		doors = doorsPerBoard
	}
	if doors < 1 || doors > maxDoorsPerBoard {
		c.add(at+".fleet.doorsPerBoard", fmt.Sprintf("must be 1 to %d", maxDoorsPerBoard))
		doors = 1
	}
	if r := f.Report; r != nil {
		if r.P50 <= 0 {
			c.add(at+".fleet.report.p50", "must be longer than 0")
		}
		if r.P99 < r.P50 {
			c.add(at+".fleet.report.p99", fmt.Sprintf("must not be below p50 (%s)", r.P50))
		}
	}
	for n := range f.Boards {
		b := Board{Name: fmt.Sprintf("Board %d", n+1)}
		for d := range doors {
			b.Doors = append(b.Doors, Door{Name: fmt.Sprintf("Door %d-%d", n+1, d+1), Channel: d + 1})
		}
		p.Boards = append(p.Boards, b)
	}
	p.Report, p.Fleet = f.Report, nil
}

func (w *World) resolveDoors(c *checker, bat string, i, j int) {
	b := &w.Places[i].Boards[j]
	channels := map[int]int{} // door by channel
	for k := range b.Doors {
		d := &b.Doors[k]
		dat := fmt.Sprintf("%s.doors[%d]", bat, k)
		if d.ID == "" && !c.given(dat+".id") {
			d.ID = w.id("dor_", "door", i, j, k)
		}
		c.id(dat+".id", "dor_", d.ID)
		d.Name = cmp.Or(d.Name, fmt.Sprintf("Door %d-%d", j+1, k+1))
		c.name(dat+".name", d.Name)
		if d.Channel == 0 && !c.given(dat+".channel") {
			d.Channel = k + 1
		}
		if d.Channel < 1 || d.Channel > maxChannel {
			c.add(dat+".channel", fmt.Sprintf("must be 1 to %d", maxChannel))
		} else if first, taken := channels[d.Channel]; taken {
			c.add(dat+".channel", fmt.Sprintf("channel %d is taken by doors[%d] of this board", d.Channel, first))
		} else {
			channels[d.Channel] = k
		}
		if d.EntryPermitMaxHours == 0 && !c.given(dat+".entryPermitMaxHours") {
			d.EntryPermitMaxHours = 720
		}
		if d.EntryPermitMaxHours < 1 || d.EntryPermitMaxHours > 720 {
			c.add(dat+".entryPermitMaxHours", "must be 1 to 720")
		}
	}
}

func (w *World) resolveKeys(c *checker, at string, i int) {
	p := &w.Places[i]
	if p.Kind == Test && !slices.ContainsFunc(p.Keys, func(k Key) bool { return len(k.Scopes) == 0 || hasBoth(k.Scopes) }) {
		p.Keys = append(p.Keys, Key{Name: "default", Scopes: bothScopes})
	}
	for j := range p.Keys {
		k := &p.Keys[j]
		kat := fmt.Sprintf("%s.keys[%d]", at, j)
		if len(k.Scopes) == 0 {
			if c.given(kat + ".scopes") {
				c.add(kat+".scopes", "at least one is needed; without the field the key has both")
			}
			k.Scopes = bothScopes
		}
		for _, s := range k.Scopes {
			if !slices.Contains(bothScopes, s) {
				c.add(kat+".scopes", fmt.Sprintf("%q is neither space:partner nor device:door%s", s, near.Hint(s, bothScopes)))
			}
		}
		if k.Sim && p.Kind == Live {
			c.add(kat+".sim", "must be left out in a live place: only test places simulate outcomes")
		}
		if k.ID == "" && !c.given(kat+".id") {
			k.ID = w.id("key_", "key", i, j)
		}
		c.id(kat+".id", "key_", k.ID)
		c.name(kat+".name", k.Name)
	}
}

func hasBoth(scopes []string) bool {
	return !slices.ContainsFunc(bothScopes, func(want string) bool { return !slices.Contains(scopes, want) })
}

// MainKey is the place's first key with both scopes, which the ready line prints; the zero Key if there is none.
func (p Place) MainKey() Key {
	for _, k := range p.Keys {
		if hasBoth(k.Scopes) {
			return k
		}
	}
	return Key{}
}

func checkMemberships(c *checker, at string, p *Place) {
	doors, entry := map[string]bool{}, false
	for _, b := range p.Boards {
		for _, d := range b.Doors {
			doors[d.ID] = true
			entry = entry || d.IsEntry()
		}
	}
	for j, m := range p.Memberships {
		mat := fmt.Sprintf("%s.memberships[%d]", at, j)
		if !phoneForm.MatchString(m.Phone) {
			c.add(mat+".phone", "must be 8 to 15 digits")
		}
		c.name(mat+".name", m.Name)
		if m.StartsAt.IsZero() {
			c.add(mat+".startsAt", "is missing")
		}
		if m.EndsAt != nil && !m.EndsAt.After(m.StartsAt) {
			c.add(mat+".endsAt", "must be after startsAt")
		}
		if len(m.DoorIDs) == 0 && c.given(mat+".doorIds") {
			c.add(mat+".doorIds", "at least one is needed; without the field the membership is for all entry doors")
		}
		if len(m.DoorIDs) == 0 && !c.given(mat+".doorIds") && !entry {
			c.add(mat, "the place has no entry door; name doors in doorIds")
		}
		for _, d := range m.DoorIDs {
			if !doors[d] {
				c.add(mat+".doorIds", fmt.Sprintf("%q is not a door of this place", d))
			}
		}
	}
}

// sum is a digest of the seed and a label.
func (w *World) sum(label string, n ...int) []byte {
	m := hmac.New(sha256.New, fmt.Append(nil, "doorlab world ", w.Seed))
	fmt.Fprint(m, label, n)
	return m.Sum(nil)
}

const digits = "0123456789abcdefghjkmnpqrstvwxyz"

// id derives an id in the format of internal/id, sortable by position.
func (w *World) id(prefix, label string, n ...int) string {
	var out [26]byte
	for i, b := range w.sum(label, n...)[:26] {
		out[i] = digits[b&31]
	}
	pos := 0
	for _, v := range n {
		pos = pos<<12 | v&0xfff
	}
	for i := 9; i >= 0; i-- {
		out[i] = digits[pos&31]
		pos >>= 5
	}
	return prefix + string(out[:])
}

var (
	phoneForm = regexp.MustCompile(`^[0-9]{8,15}$`)
	idForm    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)
