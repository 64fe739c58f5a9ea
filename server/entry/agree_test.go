package entry_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
)

// TestServerBoardReferenceAgree draws places (grants of any kind and state, windows, hours) and, for each, people who
// try the doors at and around every edge. To 100,000 questions, server/entry, the firmware and the reference in
// reference_test.go must give the same answers [ENT-1] [ENT-2] [ENT-3].
func TestServerBoardReferenceAgree(t *testing.T) {
	t.Parallel()
	const questions, parts = 100, 4
	places := 1000
	if underRace {
		places = 200
	}
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			seen := map[string]int{}
			for i := range places / parts {
				seed := uint64(part*places + i)
				c := newCase(rand.New(rand.NewPCG(seed, 6)))
				for range questions {
					what, wrong := c.ask()
					if seen[what]++; wrong != "" {
						t.Fatalf("seed %d: %s", seed, wrong)
					}
				}
			}
			for _, what := range []string{"link link", "link free_window", "link link_invalid", "link closed_window", "link not_started",
				"link expired", "link door_out_of_scope", "phone phone", "phone free_window", "phone closed_window", "phone revoked", "onsite onsite",
				"onsite outage_limit", "onsite link_invalid"} {
				if seen[what] == 0 {
					t.Errorf("no question led to %q: %v", what, seen)
				}
			}
		})
	}
}

var refZones = []string{"UTC", "Asia/Seoul", "Asia/Kolkata"} // clock changes are tested in internal/access

// agreeCase is a drawn place as the server, the board and the reference see it.
type agreeCase struct {
	r     *rand.Rand
	mem   *memStore
	board firmware.State
	edges []int64 // times worth trying
	links []string
}

const agreeMono = int64(100 * time.Hour / time.Millisecond)

func newCase(r *rand.Rand) *agreeCase {
	c := &agreeCase{r: r, mem: &memStore{now: epoch.UnixMilli()}}
	for i := range 3 {
		c.mem.doors = append(c.mem.doors, place.Door{ID: fmt.Sprint("dor_", i), PlaceID: "plc", Name: "n", BoardID: "brd", Channel: i, Entry: i < 2 || r.IntN(2) == 0})
	}
	c.mem.place = place.Place{ID: "plc", EntryPhone: number, PhoneEnabled: true, Timezone: refZones[r.IntN(len(refZones))], Week: c.week()}
	for range r.IntN(3) {
		day := epoch.AddDate(0, 0, r.IntN(5)-2)
		c.mem.place.Closures = append(c.mem.place.Closures, access.Closure{From: day.Format(time.DateOnly), To: day.AddDate(0, 0, r.IntN(2)).Format(time.DateOnly)})
	}
	for range r.IntN(2) {
		h := access.Holiday{Date: epoch.AddDate(0, 0, r.IntN(5)-2).Format(time.DateOnly)}
		if r.IntN(2) == 0 {
			h.Intervals = c.intervals()
		}
		c.mem.place.Holidays = append(c.mem.place.Holidays, h)
	}
	c.grants()
	c.windows()
	c.board = c.synchronized()
	return c
}

// near is a random time within three days of the epoch, on the half hour.
func (c *agreeCase) near() int64 { return epoch.UnixMilli() + int64(c.r.IntN(288)-144)*1_800_000 }

func (c *agreeCase) intervals() (out [][2]string) {
	at := c.r.IntN(40)
	for range c.r.IntN(3) {
		to := at + 1 + c.r.IntN(40)
		if at >= 48 || to >= at+48 {
			break
		}
		out = append(out, [2]string{clockText(at), clockText(to % 48)})
		if to == 48 && c.r.IntN(2) == 0 {
			out[len(out)-1][1] = "24:00"
		}
		at = to + c.r.IntN(4)
	}
	if access.CheckDay(out) != nil {
		return nil
	}
	return out
}

func clockText(halfHours int) string { return fmt.Sprintf("%02d:%02d", halfHours/2, halfHours%2*30) }

func (c *agreeCase) week() access.Week {
	w := access.Week{}
	for _, d := range []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
		w[d] = c.intervals()
	}
	return w
}

func (c *agreeCase) grants() {
	for i := range c.r.IntN(7) {
		g := grant.Grant{ID: fmt.Sprintf("g_%d%d", c.r.IntN(90)+10, i), PlaceID: "plc", Phone: []string{"01011110000", "01022220000"}[c.r.IntN(2)],
			Kind: []string{access.KindPermit, access.KindPermit, access.KindReservation, access.KindMembership}[c.r.IntN(4)], StartsAt: ms(c.near())}
		g.EndsAt = g.StartsAt.Add(time.Duration(1+c.r.IntN(96)) * 30 * time.Minute)
		if g.Kind == access.KindMembership && c.r.IntN(2) == 0 {
			g.EndsAt = time.Time{}
		}
		for _, d := range c.mem.doors {
			if c.r.IntN(2) == 0 {
				g.Doors = append(g.Doors, d.ID)
			}
		}
		if g.Kind == access.KindPermit {
			token := fmt.Sprint("token", i)
			c.links = append(c.links, token)
			g.LinkHash, g.TokenHash = grant.HashLink(token), access.HashToken("plc", token)
		}
		if c.r.IntN(4) == 0 {
			g.RevokedAt, g.TokenHash = epoch, ""
		}
		c.edges = append(c.edges, g.StartsAt.UnixMilli())
		if !g.EndsAt.IsZero() {
			c.edges = append(c.edges, g.EndsAt.UnixMilli())
		}
		c.mem.grants = append(c.mem.grants, g)
	}
}

func (c *agreeCase) windows() {
	for i := range c.r.IntN(5) {
		w := access.Window{ID: fmt.Sprint("pol_", i), DoorID: c.mem.doors[c.r.IntN(3)].ID, CreatedAt: int64(c.r.IntN(3)),
			Ref:  []string{access.RefAlways, access.RefBusiness, access.RefAfter, access.RefCustom}[c.r.IntN(4)],
			Mode: []string{access.ModeFree, access.ModeAuth, access.ModeClosed}[c.r.IntN(3)]}
		if w.Ref == access.RefCustom && c.r.IntN(2) == 0 {
			w.Week = c.week()
		} else if w.Ref == access.RefCustom {
			w.StartsAt = c.near()
			w.EndsAt = w.StartsAt + int64(1+c.r.IntN(96))*1_800_000
			c.edges = append(c.edges, w.StartsAt, w.EndsAt)
		}
		c.mem.windows = append(c.mem.windows, w)
	}
}

const agreeKey access.PhoneKey = "0123456789abcdef"

// synchronized is a board that is online and has the place's content.
func (c *agreeCase) synchronized() firmware.State {
	var doors []firmware.Door
	var configs []wire.DoorConfig
	for _, d := range c.mem.doors {
		doors = append(doors, firmware.Door{ID: d.ID, Channel: d.Channel})
		configs = append(configs, wire.DoorConfig{BoardID: "brd", DoorID: d.ID, Channel: d.Channel})
	}
	windows, hours := append([]access.Window{}, c.mem.windows...), c.mem.place.Hours()
	y := wire.Sync{To: 1, Snapshot: true, Timezone: hours.Timezone, Hours: &hours, Windows: &windows, Doors: &configs}
	for _, g := range c.mem.grants {
		y.Upsert = append(y.Upsert, g.Content(agreeKey))
	}
	s := firmware.New("brd", "plc", doors, 0, agreeMono)
	for _, ev := range []firmware.Event{{Kind: firmware.Connected}, {Kind: firmware.Ack, Ack: wire.Ack{Type: wire.AckHello, Epoch: 1, SessionMs: 1}},
		{Kind: firmware.Sync, Change: firmware.Prepare(y)}} {
		ev.Mono = agreeMono
		s, _ = firmware.Step(s, ev)
	}
	return s
}

// fixed is a memStore's clock.
type fixed struct{ m *memStore }

func (f fixed) Now() time.Time                            { return ms(f.m.now) }
func (fixed) AfterFunc(time.Duration, func()) clock.Timer { panic("no timers here") }
func (fixed) Every(time.Duration, func()) clock.Timer     { panic("no timers here") }

// decision is the answer of one of the three.
type decision struct {
	allow  bool
	reason vocab.Reason
	grant  string
}

// ask draws a question and asks all three. It returns the kind of decision and what is wrong.
func (c *agreeCase) ask() (what, wrong string) {
	now := c.near() + int64(c.r.IntN(3)-1)
	if len(c.edges) > 0 && c.r.IntN(2) == 0 {
		now = c.edges[c.r.IntN(len(c.edges))] + int64(c.r.IntN(3)-1)
	}
	c.mem.now = now
	door := c.mem.doors[c.r.IntN(3)].ID
	phone := []string{"01011110000", "01022220000", "01033330000"}[c.r.IntN(3)]
	token := "unknown"
	if len(c.links) > 0 && c.r.IntN(8) > 0 {
		token = c.links[c.r.IntN(len(c.links))]
	}
	method := []vocab.Method{vocab.Link, vocab.Phone, vocab.Onsite}[c.r.IntN(3)]
	outage := int64(0)
	var server decision
	switch method {
	case vocab.Link:
		server = c.mem.open(token, door)
	case vocab.Phone:
		token = ""
		server, door = c.mem.call(phone)
		if why := c.wrongDoor(phone, door, now); why != "" {
			return string(method), why
		}
	default:
		outage = []int64{0, 0, 3_600_000, access.OutageLimitMs, access.OutageLimitMs + 1, -1}[c.r.IntN(6)]
		if c.r.IntN(2) == 0 {
			token = ""
		}
		server = c.present(phone, token, door, now, outage)
	}
	board := server
	if door != "" {
		board = c.present(phone, token, door, now, outage)
	}
	if board.reason == vocab.Reason(vocab.Onsite) {
		board.reason = vocab.Reason(method)
	}
	ask := fmt.Sprintf("%s of %s%s at %s, %s, outage %d", method, phone, token, door, ms(now).Format(time.RFC3339Nano), outage)
	if server != board {
		return string(method), fmt.Sprintf("%s: server %+v, board %+v", ask, server, board)
	}
	if why := c.reference(string(method), phone, token, door, now, outage).differs(server); why != "" {
		return string(method), ask + ": " + why
	}
	return string(method) + " " + string(server.reason), ""
}

// present asks the board.
func (c *agreeCase) present(phone, token, door string, now, outage int64) decision {
	s := c.board
	switch {
	case outage < 0:
		s.Outage = firmware.Outage{Lost: true, Rested: true}
	case outage > 0:
		s.Outage = firmware.Outage{Contact: agreeMono - outage, Rested: true}
	}
	ev := firmware.Event{Kind: firmware.Present, DoorID: door, Wall: now, Mono: agreeMono, PhoneHash: agreeKey.Hash(phone)}
	if token != "" {
		ev.PhoneHash, ev.TokenHash = "", access.HashToken("plc", token)
	}
	_, effects := firmware.Step(s, ev)
	for _, e := range effects {
		if e.Kind == firmware.Decided {
			return decision{e.Record.Result == vocab.Opened, e.Record.Reason, e.Record.GrantID}
		}
	}
	return decision{reason: "the board said nothing"}
}
