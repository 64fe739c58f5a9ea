// Package place describes a store (its doors, boards, opening hours and window policies) and the rules for it. Pure: no
// HTTP, SQL or MQTT. The API edge calls it; server/store stores what it describes.
package place

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
)

// Kinds of places.
const (
	Test = "test"
	Live = "live"
)

// MaxPermitHours is the longest permit of any place, see PERM-5.
const MaxPermitHours = 720

// Place is one store.
type Place struct {
	ID             string
	Name           string
	Kind           string // test or live
	Timezone       string
	EntryPhone     string // "" = none assigned
	PhoneEnabled   bool
	PermitMaxHours int
	Week           access.Week
	Closures       []access.Closure
	Holidays       []access.Holiday
}

// Hours is everything that the schedule needs, in the form synchronized to boards.
func (p Place) Hours() access.Hours {
	return access.Hours{Timezone: p.Timezone, Week: p.Week, Closures: p.Closures, Holidays: p.Holidays}
}

// Door is wired to a channel of a board.
type Door struct {
	ID             string
	PlaceID        string
	BoardID        string
	Name           string
	Channel        int
	Entry          bool // guests may enter here
	PermitMaxHours int
}

// Board is one controller.
type Board struct {
	ID      string
	PlaceID string
	Name    string
}

// Created is the time the policy was stored.
func (p PolicyView) Created() time.Time { return time.UnixMilli(p.CreatedAt).UTC() }

// Period is that of a custom policy; zero times if it has none.
func (p PolicyView) Period() (from, to time.Time) { return moment(p.StartsAt), moment(p.EndsAt) }

// moment is what millis has stored.
func moment(ms int64) time.Time {
	switch ms {
	case 0:
		return time.Time{}
	case access.UnixZero:
		ms = 0
	}
	return time.UnixMilli(ms).UTC()
}

// DefaultZone is the timezone of a place that names none.
const DefaultZone = "Asia/Seoul"

// EntryDoors are the ids of the doors that guests may enter by, sorted.
func EntryDoors(doors []Door) []string {
	var out []string
	for _, d := range doors {
		if d.Entry {
			out = append(out, d.ID)
		}
	}
	slices.Sort(out)
	return out
}
