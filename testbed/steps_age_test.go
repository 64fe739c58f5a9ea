package testbed

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/world"
)

const years = 2 * 365 * 24 * time.Hour

// aging plays a server whose clock was wrong by first at its first start, with housekeeping that runs once per hour.
func aging(t *testing.T, first time.Duration, play func(s *stepped)) {
	t.Parallel()
	w := world.Default(7, 0)
	w.DeriveSecrets(nil)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &stepped{t: t, world: w, dir: dir}
		s.machine.Set(first)
		s.start()
		defer s.end()
		play(s)
	})
}

// TestNothingAgesByTheMachinesClock: however the server machine's clock is set, no grant leaves the boards before its
// time, and no record is considered old.
func TestNothingAgesByTheMachinesClock(t *testing.T) {
	aging(t, 0, func(s *stepped) {
		const hours, decades = 3 * time.Hour, 30 * 365 * 24 * time.Hour // the bubble begins in 2000
		right := time.Now()
		s.member("01011110001", right)
		s.machine.Set(years)
		time.Sleep(hours)
		s.member("01011110002", right)
		time.Sleep(hours)
		s.reads("years ahead for hours", "01011110001", "opened")
		s.reads("registered meanwhile", "01011110002", "opened")
		s.machine.Set(-years)
		time.Sleep(hours)
		s.reads("and right again", "01011110002", "opened")

		s.reboot(-decades)
		s.awake()
		then := s.machine.Now()
		if status, _, _ := s.open("long-ago"); status != http.StatusOK {
			s.t.Errorf("a command in 1970 is answered %d, want 200", status)
		}
		s.events("in 1970", then, 1)
		s.machine.Set(decades)
		time.Sleep(hours)
		s.events("three hours after the server learned the time", then, 1)
		s.reads("after 1970", "01011110001", "opened")
	})
}

// TestGrantsComeBackWithTheRightTime: grants that a server considered long over, because its clock was years ahead
// from the first start, reach the boards once the clock is right.
func TestGrantsComeBackWithTheRightTime(t *testing.T) {
	aging(t, years, func(s *stepped) {
		s.member("01011110001", time.Now())
		s.reads("taken for ended", "01011110001", "denied")
		s.machine.Set(-years)
		time.Sleep(2 * time.Hour)
		s.reads("once the clock is right", "01011110001", "opened")
	})
}

// member registers a 30-day membership and waits until it has reached the board.
func (s *stepped) member(phone string, from time.Time) {
	s.t.Helper()
	item := map[string]any{"phone": phone, "startsAt": from.Add(-time.Hour).UTC().Format(time.RFC3339), "endsAt": from.Add(30 * 24 * time.Hour).UTC().Format(time.RFC3339)}
	s.must(s.public().Do(s.t.Context(), http.MethodPost, "/space/v1/memberships/import", map[string]any{"source": "ages", "items": []any{item}}, nil))
	time.Sleep(300 * time.Second)
}

// reads presents a phone at the reader.
func (s *stepped) reads(when, phone, want string) {
	s.t.Helper()
	var got struct{ Result string }
	s.must(s.lab.Do(s.t.Context(), http.MethodPost, "/lab/v1/people/present", map[string]any{"doorId": s.door(), "phone": phone}, &got))
	if got.Result != want {
		s.t.Errorf("%s: the reader says %s, want %s", when, got.Result, want)
	}
}

// events counts what the server recorded in the hour that starts at a moment.
func (s *stepped) events(when string, from time.Time, want int) {
	s.t.Helper()
	var got []struct{}
	path := "/core/v1/places/" + s.world.Places[0].ID + "/events?kind=entry.opened&from=" + from.UTC().Format(time.RFC3339) + "&to=" + from.Add(time.Hour).UTC().Format(time.RFC3339)
	s.must(s.public().Do(s.t.Context(), http.MethodGet, path, nil, &got))
	if len(got) != want {
		s.t.Errorf("%s: %d openings are recorded for that hour, want %d", when, len(got), want)
	}
}
