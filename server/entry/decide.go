package entry

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// visit is one person's attempt at a place, with everything a decision needs, read once.
type visit struct {
	came    time.Duration // monotonic
	now     time.Time
	method  vocab.Method // vocab.Phone or vocab.Link
	place   place.Place
	windows []access.Window // of the door, or of all doors of the place if it isn't known yet
	grants  []access.Grant  // of the person, any state
	phone   string          // "" = unknown; masked before it leaves
	mark    string          // of the link or the phone, the same in every run: a hash
	sent    *atomic.Bool    // whether a command was handed to the board's line
	end     func()          // call when the command is on its way or never will be; idempotent
}

// visit begins an attempt and reads what decisions about a person need at a door, or at all doors of the place if doorID is
// "". If it succeeds, the caller must call end.
func (s *Service) visit(method vocab.Method, placeID, doorID, phone string) (v visit, err error) {
	v = visit{came: clock.Mono(), now: s.cfg.Clock.Now(), method: method, phone: phone, sent: new(atomic.Bool), end: s.cfg.Openings.Begin(placeID)} // before anything is read
	defer func() {
		if err != nil {
			v.end()
		}
	}()
	if v.place, err = s.cfg.Store.Place(placeID); err != nil {
		return v, err
	}
	if v.windows, err = s.cfg.Store.Policies(placeID, doorID); err != nil {
		return v, err
	}
	gs, err := s.cfg.Store.GrantsOf(placeID, phone)
	v.grants = grant.Contents(gs, "") // all of one person, so phones need no comparison
	return v, err
}

func (v visit) mode(doorID string) string {
	return access.Mode(v.windows, v.place.Hours(), doorID, v.now)
}

// decide asks the shared decision routine about a door, see ENT-3.
func (v visit) decide(doorID string) access.Answer {
	return access.Decide(access.Question{Now: v.now, Method: v.method, DoorID: doorID, // [ENT-3]
		Link: v.method == vocab.Link, LinkOK: true, Mode: v.mode(doorID), Grants: v.grants})
}

// open sends the command of an allowed visit. As for a command with an API key, the command service writes the record,
// see ENT-3 and ENT-4.
func (s *Service) open(ctx context.Context, v visit, doorID string, a access.Answer) (command.Result, error) {
	defer v.end()
	actor, label := access.MaskPhone(v.phone)
	ans, err := s.cfg.Device.Execute(context.WithoutCancel(ctx), command.Request{
		Order: command.Order{PlaceID: v.place.ID, DoorID: doorID, Command: wire.CmdOpen, Method: v.method,
			Press: v.mark, ActorID: actor, ActorLabel: label, GrantID: a.Grant, EntryReason: a.Reason},
		Accepted: v.came,
		Sent: func() {
			v.sent.Store(true)
			v.end()
		},
	})
	return ans.Result, err
}

// missed is the person's grant that a refusal is about: the first that alone would be refused for the same reason; "" =
// none.
func (v visit) missed(reason vocab.Reason) string {
	for _, g := range v.grants {
		if access.Miss([]access.Grant{g}, v.now.UnixMilli()) == reason {
			return g.ID
		}
	}
	return ""
}

// Denial is a call or a press of a link's button that was refused and recorded.
type Denial struct {
	PlaceID string
	DoorID  string // "" = no door could be chosen
	GrantID string // which it is about; "" = none
	Method  vocab.Method
	Reason  vocab.Reason
	Who     string // masked
	At      time.Time
}

// deny records a refusal and shows it to whoever watches.
func (s *Service) deny(x Denial, phone string) error {
	actor, label := access.MaskPhone(phone)
	x.Who = label
	err := record.Keeper{Store: s.cfg.Store}.Add(record.Record{ // [ENT-4]
		PlaceID: x.PlaceID, DoorID: x.DoorID, Result: vocab.Denied, Reason: x.Reason,
		Method: x.Method, Actor: actor, ActorLabel: label, RequestedAt: fail.Milli(x.At)})
	if err == nil && s.cfg.Denied != nil {
		s.cfg.Denied(x)
	}
	return err
}

// result is the outcome as a record names it.
func result(d command.Result) vocab.Result { return command.RecordResult(wire.CmdOpen, d.Outcome) }
