package entry

import (
	"context"
	"errors"
	"slices"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// Call is a phone call from a caller id to a number. The number identifies the place, the caller id the person. It
// opens the first entry door in the scope of the credited grant or, without a grant, the first whose window is free,
// see ENT-1 and ENT-2. Calls from one number for one door within 3 s are one opening, and a number opens at most six
// times per minute. Errors: only the Executor's and the store's; a refusal is a result.
func (s *Service) Call(ctx context.Context, to, from string) (CallResult, error) {
	number := access.National(to)
	p, err := s.cfg.Store.PlaceByPhone(number)
	if errors.Is(err, fail.ErrNotFound) {
		return CallResult{}, nil
	}
	if err != nil {
		return CallResult{}, err
	}
	v, err := s.visit(vocab.Phone, p.ID, "", access.National(from))
	if err != nil {
		return CallResult{}, err
	}
	defer v.end()
	if !v.place.PhoneEnabled || v.place.EntryPhone != number { // as read by the visit, because only visits are waited for
		return CallResult{}, nil
	}
	doors, err := s.cfg.Store.Doors(p.ID)
	if err != nil {
		return CallResult{}, err
	}
	door := v.choose(doors)
	a := v.decide(door) // [PERM-1]
	who := "call " + p.ID + " " + v.phone
	v.mark = s.cfg.Store.PhoneKey(p.ID).Hash(v.phone)
	if !a.Allow {
		return s.refuseCall(who, door, v, a)
	}
	res, err := s.press(ctx, button{who, door}, v, func() (OpenResult, error) {
		d, err := s.open(ctx, v, door, a)
		return OpenResult{Result: result(d), DoorID: door, Device: d}, err
	})
	var f *fail.Error
	if errors.As(err, &f) && f.Code == fail.RateLimited { // silence
		return CallResult{}, nil
	}
	return CallResult{Answered: true, Result: res.Result, Reason: a.Reason, DoorID: door}, err
}

// refuseCall answers 60 refused calls per minute, number and place, and records six of them; after that the call isn't
// answered.
func (s *Service) refuseCall(who, door string, v visit, a access.Answer) (CallResult, error) {
	if ok, _ := s.denials.Allow(who, v.now); !ok {
		return CallResult{}, nil
	}
	res := CallResult{Answered: true, Result: vocab.Denied, Reason: a.Reason, DoorID: door}
	if ok, _ := s.refused.Allow(who, v.now); !ok {
		return res, nil
	}
	return res, s.deny(Denial{PlaceID: v.place.ID, DoorID: door, GrantID: v.missed(a.Reason), Method: v.method, Reason: a.Reason, At: v.now}, v.phone) // [ENT-4]
}

// choose picks the door for a caller: among the grants that are valid now, in order of credit, the first entry door in
// scope; without one, the first entry door whose window is free; else the first entry door of the grants that give the
// reason of the refusal, so that door and reason belong together; else none, "".
func (v visit) choose(doors []place.Door) string {
	first := func(fits func(doorID string) bool) string {
		for _, d := range doors {
			if d.Entry && fits(d.ID) {
				return d.ID
			}
		}
		return ""
	}
	for _, g := range v.valid() {
		if door := first(g.Opens); door != "" {
			return door
		}
	}
	if door := first(func(door string) bool { return v.mode(door) == access.ModeFree }); door != "" {
		return door
	}
	now := v.now.UnixMilli()
	why := access.Miss(v.grants, now)
	return first(func(door string) bool {
		return slices.ContainsFunc(v.grants, func(g access.Grant) bool { return access.Miss([]access.Grant{g}, now) == why && g.Opens(door) })
	})
}

// valid are the visitor's currently valid grants, the credited one first.
func (v visit) valid() []access.Grant {
	out := each.If(v.grants, func(g access.Grant) bool { return g.ValidAt(v.now.UnixMilli()) })
	slices.SortFunc(out, func(a, b access.Grant) int {
		if access.CreditBefore(a, b) {
			return -1
		}
		return 1
	})
	return out
}
