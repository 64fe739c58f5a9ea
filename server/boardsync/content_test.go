package boardsync

import (
	"errors"
	"testing"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
)

// memPlace is a place at revision 7 whose hours changed at 3, windows at 5, doors at 1.
type memPlace struct{}

func (memPlace) Revision(string) (int64, error)         { return 7, nil }
func (m memPlace) AtOnce(fn func(m Moment) error) error { return fn(m) }
func (memPlace) Parts(id string) (Parts, error) {
	if id != "plc_a" {
		return Parts{}, fail.ErrNotFound
	}
	return Parts{Revision: 7, Digest: "d7", Timezone: "Asia/Seoul", HoursRev: 3, WindowsRev: 5, DoorsRev: 1}, nil
}
func (memPlace) GrantsSince(_ string, rev int64) (out []grant.Grant, err error) {
	for r := rev + 1; r <= 7; r++ {
		out = append(out, grant.Grant{Rev: r})
	}
	return out, nil
}
func (memPlace) PhoneKey(string) access.PhoneKey               { return "0f" }
func (memPlace) Place(id string) (place.Place, error)          { return place.Place{ID: id}, nil }
func (memPlace) Policies(_, _ string) ([]access.Window, error) { return []access.Window{{}}, nil }
func (memPlace) Doors(placeID string) ([]place.Door, error) {
	return []place.Door{{PlaceID: placeID}}, nil
}

// Whether a snapshot or a delta is sent, and what the delta contains.
func TestSyncContent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		from                            int64
		snapshot, hours, windows, doors bool
		grants                          int
	}{
		{0, true, true, true, true, 7},
		{-1, true, true, true, true, 7},
		{8, true, true, true, true, 7}, // a revision that the place never had
		{1, false, true, true, false, 6},
		{3, false, false, true, false, 4},
		{5, false, false, false, false, 2},
		{7, false, false, false, false, 0},
	} {
		y, err := Reader{memPlace{}}.SyncContent("plc_a", tc.from)
		if err != nil || y.To != 7 || y.Digest != "d7" || y.Timezone != "Asia/Seoul" {
			t.Errorf("from %d: %+v, %v, want revision 7 and its digest", tc.from, y, err)
		}
		if y.Snapshot != tc.snapshot || (y.Hours != nil) != tc.hours || (y.Windows != nil) != tc.windows || (y.Doors != nil) != tc.doors || len(y.Upsert) != tc.grants {
			t.Errorf("from %d: snapshot %t, hours %t, windows %t, doors %t, %d grants, want %+v", tc.from,
				y.Snapshot, y.Hours != nil, y.Windows != nil, y.Doors != nil, len(y.Upsert), tc)
		}
		if (y.PhoneKey != "") != tc.snapshot {
			t.Errorf("from %d: phone key %q, want one in snapshots only", tc.from, y.PhoneKey)
		}
		if want := map[bool]int64{true: 0, false: tc.from}[tc.snapshot]; y.From != want {
			t.Errorf("from %d: content from %d, want %d", tc.from, y.From, want)
		}
	}
	if _, err := (Reader{memPlace{}}).SyncContent("plc_x", 0); !errors.Is(err, fail.ErrNotFound) {
		t.Errorf("unknown place: %v, want %v", err, fail.ErrNotFound)
	}
}
