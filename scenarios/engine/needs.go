package engine

import (
	"context"
	"fmt"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/judge"
)

// unfit says why a file can't be played: SKIPPED if the target can't do what it needs, BLOCKED if it has lost boards with which
// it could, or if its clock is too far off; "" for a file that can be played.
func (r *run) unfit(ctx context.Context, f *File) (status judge.Status, why string) {
	if why = r.lacks(f, 0); why == "" {
		return judge.Blocked, r.elsewhere()
	}
	if r.lacks(f, f.Doc.Needs.Boards) == why { // more boards wouldn't help
		return judge.Skipped, why
	}
	lost, err := r.dir.lost(ctx, f)
	switch {
	case err != nil:
		return judge.Blocked, fmt.Sprintf("%s; which boards the target has lost can't be read: %s", why, err)
	case r.lacks(f, len(lost)) != why:
		return judge.Blocked, why + toldLost(lost)
	}
	return judge.Skipped, why
}

// lacks says what a file needs that the target wouldn't have with so many more boards, "" if it would have everything.
func (r *run) lacks(f *File, more int) string {
	n := f.Doc.Needs
	u := usesOf(f.Doc.Setup, f.Doc.Steps)
	if r.keysOnly() && f.KeysDo() {
		u = needed{}
	}
	live, test := 0, 0
	for _, p := range r.target.Places {
		if p.Kind == "test" {
			test++
		} else {
			live++
		}
	}
	odd := ""
	if f.BuiltIn {
		live, odd = r.dir.suiting(f)
	}
	boards, real, apart := 0, 0, false
	for _, b := range r.dir.boards {
		apart = apart || b.owner != "" && r.lab != nil && b.owner != r.lab.main
		switch {
		case b.real:
			real++
		case b.told, !r.dir.suits(f, b):
		case b.kind != "test" && b.owner != "" || r.keysOnly() && (b.kind != "test" || live == 0):
			boards++
		}
	}
	switch {
	case (n.Control || u.control) && r.lab == nil:
		return needsControl
	case (n.Virtual || u.virtual) && (r.lab == nil || r.lab.mode != "virtual"):
		return "needs a virtual clock"
	case r.lab != nil && r.lab.sip.lacking(u.trunks) != "":
		return r.lab.sip.lacking(u.trunks)
	case (n.Live || n.Places > 0) && live == 0:
		return "needs a live place" + odd
	case live < n.Places:
		return fmt.Sprintf("needs %d live places, but the target has %d", n.Places, live) + odd
	case n.Test && test == 0:
		return "needs a test place"
	case n.Together && (r.lab == nil || apart):
		return "needs server and boards in one process"
	case r.keysOnly() && n.Fleet:
		return "needs a fleet of simulated boards"
	case boards+more < n.Boards:
		return fmt.Sprintf("needs %s, but the target has %d", amount.Many(n.Boards, "live board"), boards) + odd
	case u.real && real == 0:
		return "needs a real board: POST /lab/v1/boards/{id}/detach makes room for one"
	}
	return ""
}

// needed is what a verb needs from a target.
type needed struct {
	control, virtual, load, real bool
	trunks                       []string // that call over SIP
}

// usesOf says what the verbs need.
func usesOf(lists ...[]Step) (u needed) {
	eachStep(func(s *Step) {
		n := s.needs()
		u = needed{u.control || n.control, u.virtual || n.virtual, u.load || n.load, u.real || n.real, append(u.trunks, n.trunks...)}
	}, lists...)
	return u
}

// needs is what the step's own verb needs besides the public API.
func (v *Verbs) needs() needed {
	switch v := v.verb().(type) {
	case *Clock:
		return needed{control: true, virtual: true}
	case *Cohort:
		return needed{control: v.Real, real: v.Real}
	case *LoadPlan:
		return needed{load: true}
	case *Phone:
		if v.Over.set() {
			return needed{control: true, trunks: []string{v.trunk()}}
		}
		return needed{control: true}
	case *Present, *PresentEach, *Leaf, *Boards, *Synced, *Journal, *Fault, *Clear, *Crash, *Disk, *Key, *Membership, *Reservation,
		*PlaceSet, *DoorSet, *Control, *MQTT, *Tell:
		return needed{control: true}
	}
	return needed{}
}
