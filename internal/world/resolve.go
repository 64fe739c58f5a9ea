package world

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
)

// Scopes of a key that may do everything.
var bothScopes = []string{"space:partner", "device:door"}

// boardsPerPlace and doorsPerBoard are the dimensions of generated places.
const (
	boardsPerPlace = 10
	doorsPerBoard  = 2
)

var names = []string{"Gangnam", "Hongdae", "Itaewon", "Jamsil", "Mapo", "Seocho", "Yeouido", "Seongsu", "Sinchon", "Jongno"}

// Default is the world without a file: one test place (one board, two entry doors) and live places of ten boards with
// two entry doors each, liveBoards in total; every place has an entry phone and a key. It is resolved, but has no
// secrets.
func Default(seed int64, liveBoards int) *World {
	week := access.Week{}
	for _, d := range []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
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
func (w *World) Resolve() error {
	c := &checker{seen: map[string]string{}}
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
	if p.ID == "" {
		p.ID = w.id("plc_", "place", i)
	}
	c.id(at+".id", "plc_", p.ID)
	if p.Name == "" {
		p.Name = fmt.Sprintf("Place %d", i+1)
	}
	c.name(at+".name", p.Name)
	if p.Kind == "" {
		p.Kind = Live
	}
	if p.Kind != Test && p.Kind != Live {
		c.add(at+".kind", fmt.Sprintf("%q is neither test nor live", p.Kind))
	}
	if p.Timezone == "" {
		p.Timezone = "Asia/Seoul"
	}
	if _, err := time.LoadLocation(p.Timezone); err != nil {
		c.add(at+".timezone", fmt.Sprintf("%q is not a timezone, e.g. Asia/Seoul", p.Timezone))
	}
	if p.EntryPhone == "" {
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
	if p.Hours == nil {
		p.Hours = access.Week{}
	}
	for _, d := range []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
		if p.Hours[d] == nil {
			p.Hours[d] = [][2]string{}
		}
	}
	if err := access.CheckWeek(p.Hours); err != nil {
		c.add(at+".hours", err.Error())
	}
	checkDays(c, at, p)
	w.resolveBoards(c, at, i)
	w.resolveKeys(c, at, i)
	checkMemberships(c, at, p)
}

func checkDays(c *checker, at string, p *Place) {
	for j, cl := range p.Closures {
		if !access.IsDate(cl.From) || !access.IsDate(cl.To) || cl.To < cl.From {
			c.add(fmt.Sprintf("%s.closures[%d]", at, j), "from and to must be dates YYYY-MM-DD, from not after to")
		}
		c.name(fmt.Sprintf("%s.closures[%d].name", at, j), cl.Name)
	}
	for j, h := range p.Holidays {
		if !access.IsDate(h.Date) || slices.ContainsFunc(p.Holidays[:j], func(x access.Holiday) bool { return x.Date == h.Date }) {
			c.add(fmt.Sprintf("%s.holidays[%d].date", at, j), fmt.Sprintf("%q is not a date YYYY-MM-DD, or appears twice", h.Date))
		}
		if err := access.CheckDay(h.Intervals); err != nil {
			c.add(fmt.Sprintf("%s.holidays[%d].intervals", at, j), err.Error())
		}
		c.name(fmt.Sprintf("%s.holidays[%d].name", at, j), h.Name)
	}
}

func (w *World) resolveBoards(c *checker, at string, i int) {
	p := &w.Places[i]
	if f := p.Fleet; f != nil {
		if f.Boards < 0 {
			c.add(at+".fleet.boards", "must be 0 or more")
			f.Boards = 0
		}
		doors := f.DoorsPerBoard
		if doors == 0 {
			doors = doorsPerBoard
		}
		if doors < 1 || doors > 16 {
			c.add(at+".fleet.doorsPerBoard", "must be 1 to 16")
			doors = 1
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
	for j := range p.Boards {
		b := &p.Boards[j]
		bat := fmt.Sprintf("%s.boards[%d]", at, j)
		if b.ID == "" {
			b.ID = w.id("brd_", "board", i, j)
		}
		c.id(bat+".id", "brd_", b.ID)
		if b.Name == "" {
			b.Name = fmt.Sprintf("Board %d", j+1)
		}
		c.name(bat+".name", b.Name)
		if b.Given = b.Password != ""; b.Given && len(b.Password) < MinPassword {
			c.add(bat+".password", fmt.Sprintf("must have at least %d characters", MinPassword))
		}
		channels := map[int]bool{}
		for k := range b.Doors {
			d := &b.Doors[k]
			dat := fmt.Sprintf("%s.doors[%d]", bat, k)
			if d.ID == "" {
				d.ID = w.id("dor_", "door", i, j, k)
			}
			c.id(dat+".id", "dor_", d.ID)
			if d.Name == "" {
				d.Name = fmt.Sprintf("Door %d-%d", j+1, k+1)
			}
			c.name(dat+".name", d.Name)
			if d.Channel == 0 {
				d.Channel = k + 1
			}
			if d.Channel < 1 || d.Channel > 64 || channels[d.Channel] {
				c.add(dat+".channel", fmt.Sprintf("channel %d must be 1 to 64 and free on its board", d.Channel))
			}
			channels[d.Channel] = true
			if d.EntryPermitMaxHours == 0 {
				d.EntryPermitMaxHours = 720
			}
			if d.EntryPermitMaxHours < 1 || d.EntryPermitMaxHours > 720 {
				c.add(dat+".entryPermitMaxHours", "must be 1 to 720")
			}
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
		if len(k.Scopes) == 0 {
			k.Scopes = bothScopes
		}
		for _, s := range k.Scopes {
			if s != bothScopes[0] && s != bothScopes[1] {
				c.add(fmt.Sprintf("%s.keys[%d].scopes", at, j), fmt.Sprintf("%q is neither space:partner nor device:door", s))
			}
		}
		if k.ID == "" {
			k.ID = w.id("key_", "key", i, j)
		}
		c.id(fmt.Sprintf("%s.keys[%d].id", at, j), "key_", k.ID)
		c.name(fmt.Sprintf("%s.keys[%d].name", at, j), k.Name)
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
	doors := map[string]bool{}
	for _, b := range p.Boards {
		for _, d := range b.Doors {
			doors[d.ID] = true
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
