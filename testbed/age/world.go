package age

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/doorlab/doorlab/internal/world"
)

// zones of the places, in turn: two of them change their clocks, on different weekends.
var zones = []string{"Asia/Seoul", "Europe/Berlin", "America/New_York"}

// perDoor is how many people a place knows for each of its doors.
const perDoor = 3

// place is a store and the people who come to it.
type place struct {
	id, key, phone, addr string // addr is where its token exchanges come from
	zone                 *time.Location
	live                 bool
	boards               []string
	doors                []door
	people               []*person

	token   string // bearer, "" = none
	got     time.Time
	pressed []*keyed // commands whose keys may be used again
}

type door struct {
	id, board string
}

// person is someone who comes to a place, or a stranger: their grants change.
type person struct {
	phone, ref, name string
	link             string
	permit           held // until the server forgets it: until then, registering under ref again changes it
	membership       held
	reservation      held
}

// held is a grant of a person.
type held struct {
	id    string
	until time.Time // from then on it's as if there were none
}

func (h held) at(now time.Time) bool { return h.id != "" && now.Before(h.until) }

// makeWorld is the built-in world with the run's doors, and boards that report immediately.
func makeWorld(c Config) *world.World {
	w := world.Default(c.Seed, c.Boards)
	out := &world.World{Seed: c.Seed, SeedGiven: true}
	for i, p := range w.Places {
		boards := len(p.Boards)
		p.Boards, p.ID, p.Keys, p.EntryPhone = nil, "", []world.Key{{Name: "default", Scopes: p.Keys[0].Scopes, Sim: p.Keys[0].Sim}}, ""
		p.Fleet = &world.Fleet{Boards: boards, DoorsPerBoard: c.Doors, Report: &world.Report{P50: 100 * time.Microsecond, P99: 200 * time.Microsecond}}
		p.Timezone = zones[i%len(zones)]
		out.Places = append(out.Places, p)
	}
	if err := out.Resolve(); err != nil {
		panic("age: " + err.Error()) // ours
	}
	return out
}

// people populates the places with doors and people.
func (r *run) people(w *world.World) {
	rng := rand.New(rand.NewPCG(uint64(r.c.Seed), 1)) //nolint:gosec // a draw, no secret
	for i, ready := range r.tb.Ready.Places {
		of := w.Places[i]
		zone, err := time.LoadLocation(of.Timezone)
		if err != nil {
			zone = time.UTC
		}
		p := &place{id: of.ID, key: *ready.APIKey, phone: ready.EntryPhone, live: of.Kind == world.Live, zone: zone,
			addr: fmt.Sprintf("127.%d.%d.%d:1", 100+i/62500, i/250%250, 1+i%250)}
		for _, b := range of.Boards {
			p.boards = append(p.boards, b.ID)
			for _, d := range b.Doors {
				p.doors = append(p.doors, door{d.ID, b.ID})
			}
		}
		for n := range max(12, perDoor*len(p.doors)) {
			p.people = append(p.people, &person{phone: fmt.Sprintf("010%04d%04d", 1000+i, 1000+n), ref: fmt.Sprintf("ref-%d", n), name: fmt.Sprintf("Person %d", rng.IntN(1000))})
		}
		r.places = append(r.places, p)
	}
}
