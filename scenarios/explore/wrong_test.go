package explore

import (
	"slices"
	"testing"
)

// TestWallClock: what a clock that is wrong and drifts shows, and when it first shows a time.
func TestWallClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ skew, ppm, now, want int64 }{
		{0, 0, 7, 7}, {minute, 0, 7, minute + 7}, {minute, 10000, 0, minute}, {minute, 10000, 100, minute + 101},
		{minute, 1000, 999, minute + 999}, {-minute, -10000, 100, -minute + 99}, {-minute, -10000, 1, -minute}, {-minute, -10000, 99, -minute + 98},
	} {
		b := &board{skew: c.skew, ppm: c.ppm, set: hour}
		now := hour + c.now
		if got := b.wall(now); got != hour+c.want {
			t.Errorf("%+v: shows %d, want %d", c, got-hour, c.want)
		}
		if at := b.shows(b.wall(now)); at > now || b.wall(at) != b.wall(now) || b.wall(at-1) >= b.wall(now) {
			t.Errorf("%+v: first shown at %d, want the first moment up to %d", c, at-hour, c.now)
		}
	}
}

// TestWrongClockLasts: a board decides by its wrong clock until that is put right, at the latest before a record would lie
// further ahead than the server accepts.
func TestWrongClockLasts(t *testing.T) {
	t.Parallel()
	m := begin()
	play["permit"](m, Op{Do: "permit", From: hour, To: 2 * hour})
	play["wrong"](m, Op{Do: "wrong", N: 5, Nth: 2}) // half an hour fast, and a second gained in a hundred
	b := m.boards[0]
	m.clockTo(b.shows(hour) - 1)
	play["present"](m, Op{})
	m.clockTo(m.now + 1)
	play["present"](m, Op{})
	got := []string{m.records[0].reason, m.records[1].reason}
	if want := []string{"not_started", "onsite"}; !slices.Equal(got, want) || m.records[1].at != hour || m.now >= hour/2 {
		t.Errorf("before and at an hour by its clock: %q at %d, real time %d; want %q and less than half an hour", got, m.records[1].at, m.now, want)
	}
	if m.clockTo(4 * day); b.wrong || b.wall(m.now) != m.now {
		t.Errorf("after four days the clock is still wrong by %d ms", b.wall(m.now)-m.now)
	}
}

// TestCrashInPress: a guest's press that the server's death cut short has one record, and uses the permit if the relay moved.
func TestCrashInPress(t *testing.T) {
	t.Parallel()
	for i, p := range points {
		m := begin()
		play["permit"](m, Op{Do: "permit", To: day})
		play["crash"](m, Op{Do: "crash", Nth: i, Flag: true})
		g, r := m.grants[0], m.records[len(m.records)-1]
		uses := 0
		if p.moved == 1 {
			uses = 1
		}
		if r.method != "link" || r.credit != g || g.uses != uses || g.vague != (p.moved == 2) || (r.result == "opened") != (p.status == 200) || (r.settled == "opened") != (p.status != 200 && p.moved > 0) {
			t.Errorf("%s: %+v of a permit used %d times (known: %t)", p.name, r, g.uses, !g.vague)
		}
		m = begin()
		if play["crash"](m, Op{Do: "crash", Nth: i, Flag: true}); m.records[0].method != "api" {
			t.Errorf("%s without a guest: %s, want a command", p.name, m.records[0].method)
		}
	}
}

// TestRefusedLinkOfAnotherHolder: a link that a board refused names whom the board had in mind, although the permit is
// somebody else's by the time the record arrives.
func TestRefusedLinkOfAnotherHolder(t *testing.T) {
	t.Parallel()
	m := begin()
	for _, o := range []Op{{Do: "permit", To: day, Doors: 1}, {Do: "cut"}, {Do: "present", Door: 1, Flag: true},
		{Do: "permit", To: day, Name: "phone"}, {Do: "mend"}} {
		play[o.Do](m, o)
	}
	if r := m.records[0]; r.reason != "door_out_of_scope" || m.grants[0].phone == 0 || !r.up || r.who != 0 {
		t.Errorf("got %+v of person %d, now the permit of %d; want a record of person 0 that has arrived", r, r.who, m.grants[0].phone)
	}
}
