package evidence

import (
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/vocab"
)

// What a step does decides which guarantees it can be evidence for: that an outage policy was accepted says nothing
// about commands, however real the check is. The lists name guarantees, or whole families of them, and are generous;
// what is left out has nothing to do with the verb.

const (
	moves    = "AUTH CMD ENT-2 ENT-3 ENT-4 LEG-1 OFF-3 OFF-4" // a command over the API
	opens    = "AUTH-4 CMD-1 CMD-2 CMD-3 CMD-4 CMD-6 CMD-8 ENT HRS IMP-1 PERM SYNC-3"
	onDay    = "CMD-7 ENT HRS IMP-1 OFF PERM SYNC" // what a board decides by itself
	accounts = "AUTH CMD ENT HRS-1 LEG-1 OFF-1 OFF-2 OFF-4 PERM SYNC"
)

// verbShows lists what verbs can be evidence for. A verb that isn't listed can be evidence for anything.
var verbShows = map[string]string{
	"permit":       "AUTH ENT-1 PERM",
	"revoke":       "AUTH ENT-1 PERM SYNC-2 SYNC-3",
	"bulk":         "AUTH PERM SYNC",
	"membership":   "AUTH ENT-1 PERM-5 SYNC-1 SYNC-3",
	"reservation":  "AUTH ENT-1 PERM-5 SYNC-1 SYNC-3",
	"command":      moves,
	"link":         opens,
	"phone":        opens,
	"present":      onDay,
	"present_each": onDay,
	"records":      accounts,
	"events":       accounts,
	"netloss":      "AUTH CMD-8 LEG-1 OFF-3",
	"policy":       "AUTH CMD-8 ENT-2 HRS-1 LEG-1 SYNC-3",
	"hours":        "AUTH ENT-2 HRS SYNC-3",
	"load":         "AUTH CMD ENT-4 LEG-1",
	"crash":        "CMD ENT-4",
	"boards":       "AUTH-4 CMD ENT-2 HRS-1 OFF PERM-2 PERM-3 SYNC",
	"synced":       "CMD-6 HRS-1 OFF-4 SYNC",
	"journal":      "AUTH-2 AUTH-4 AUTH-5 CMD ENT HRS-1 LEG-1 OFF PERM-1 PERM-2 PERM-3 PERM-4 PERM-6 PERM-7 SYNC",
	"key":          "AUTH",
	"tell":         "", // likewise
	"mqtt":         "", // the lab decides what is said; claim what follows from it
}

// pathShows lists the same for requests by the beginning of their path; the first that fits counts.
var pathShows = []struct{ prefix, shows string }{
	{"/core/v1/auth/", "AUTH"},
	{"/core/v1/public/", "AUTH HRS"},
	{"/core/v1/places/*/events", accounts},
	{"/core/v1/places/", "AUTH ENT-2 HRS SYNC-3"},
	{"/device/v1/doors/*/policies", "AUTH CMD-8 ENT-2 HRS-1 LEG-1 SYNC-3"},
	{"/device/v1/boards", "AUTH CMD-8 LEG-1 OFF SYNC"},
	{"/device/v1/", moves + " HRS-1 OFF SYNC"},
	{"/space/v1/partner/entry-logs", accounts},
	{"/space/v1/partner/entry-permits", "AUTH CMD-4 CMD-5 CMD-6 ENT OFF-1 OFF-4 PERM SYNC"},
	{"/space/v1/", "AUTH ENT IMP-1 PERM SYNC"},
	{"/entry", opens},
}

// OfVerb reports whether a step with this verb can be evidence for a clause.
func OfVerb(verb, clause string) bool {
	list, listed := verbShows[verb]
	return !listed || Among(list, clause)
}

// Family is the entry for the requests of a path, as the beginning of such paths: "" if there is none. Segments that
// are known only during a run are *.
func Family(path string) string {
	for _, p := range pathShows {
		if hasPrefix(path, p.prefix) {
			return p.prefix
		}
	}
	return ""
}

// OfRequest reports whether a request of such a family can be evidence for a clause.
func OfRequest(family, clause string) bool {
	for _, p := range pathShows {
		if p.prefix == family {
			return Among(p.shows, clause)
		}
	}
	return false
}

// Among reports whether a list, separated by spaces, names the clause or its whole family: "AUTH CMD-1" has AUTH-3
// and CMD-1.
func Among(list, clause string) bool {
	family, _, _ := strings.Cut(clause, "-")
	return slices.ContainsFunc(strings.Fields(list), func(one string) bool { return one == clause || one == family })
}

// hasPrefix compares segments; * in the prefix is any one segment.
func hasPrefix(path, prefix string) bool {
	have, want := strings.Split(path, "/"), strings.Split(prefix, "/")
	if len(have) < len(want) {
		return false
	}
	for i, w := range want {
		if w != "*" && w != have[i] && (w != "" || i != len(want)-1) {
			return false
		}
	}
	return true
}

// Why a door opened or didn't decides, too, what the step can be evidence for: whoever is denied because a permit has
// ended says nothing about how fast its revocation arrived, and whoever comes in by a free window nothing about
// permits.

// reasonShows lists the guarantees, or families of them, for each reason. A reason that isn't listed can be evidence
// for anything.
var reasonShows = map[vocab.Reason]string{
	vocab.FreeWindow:     "AUTH CMD ENT-2 ENT-3 ENT-4 HRS LEG OFF-2 OFF-3 OFF-4 SYNC-3",
	vocab.ClosedWindow:   "AUTH CMD ENT-2 ENT-3 ENT-4 HRS LEG OFF-2 OFF-3 OFF-4 SYNC-3",
	vocab.OutageLimit:    "CMD ENT-3 ENT-4 OFF-2 OFF-3 OFF-4",
	vocab.Expired:        "CMD ENT IMP OFF-1 OFF-4 PERM-3 PERM-5 PERM-7 SYNC-1 SYNC-3",
	vocab.NotStarted:     "CMD ENT IMP OFF-1 OFF-4 PERM-3 PERM-5 PERM-7 SYNC-1 SYNC-3",
	vocab.DoorOutOfScope: "AUTH CMD ENT IMP OFF-1 OFF-4 PERM-3 PERM-6 SYNC-1 SYNC-3",
	vocab.Revoked:        "AUTH CMD ENT IMP LEG OFF-1 OFF-4 PERM-3 PERM-4 PERM-7 SYNC-2 SYNC-3",
	vocab.NoValidGrant:   "AUTH CMD ENT HRS IMP LEG OFF-4 PERM-2 PERM-3 PERM-4 PERM-5 PERM-6 PERM-7 SYNC-2 SYNC-3",
	vocab.LinkInvalid:    "AUTH CMD ENT LEG OFF-4 PERM-3 PERM-4 PERM-7 SYNC-2 SYNC-3",
	LetIn:                "AUTH CMD ENT HRS IMP LEG OFF PERM-1 PERM-2 PERM-3 PERM-5 PERM-6 PERM-7 SYNC-1 SYNC-3",
}

// LetIn stands for the ways in which somebody with a grant came in.
const LetIn vocab.Reason = "let in"

// OfReason reports whether a decision for this reason can be evidence for a clause.
func OfReason(reason vocab.Reason, clause string) bool {
	list, listed := reasonShows[reason]
	return !listed || Among(list, clause)
}

// Journals and records can be read by what the relay did, why, and how somebody came in. Each such choice leaves out all that
// a guarantee about something else is about: people never hold a door, and a refused command isn't somebody who is denied.

// otherActions lists the guarantees, or families of them, that a line of the relay's journal with this action has nothing
// to do with.
var otherActions = map[string]string{
	"deny":   "AUTH-1 AUTH-2 AUTH-3 AUTH-5 CMD LEG-1 OFF-3",
	"refuse": "CMD-2 CMD-7 ENT-1 ENT-2 HRS OFF PERM SYNC",
	"hold":   "ENT HRS OFF-1 OFF-2 PERM SYNC",
	"lock":   "ENT HRS OFF-1 OFF-2 PERM SYNC",
	"off":    "AUTH-1 AUTH-2 AUTH-3 AUTH-5 CMD-1 CMD-2 CMD-3 CMD-4 CMD-5 CMD-8 ENT HRS OFF-1 OFF-2 PERM SYNC",
}

// otherCauses lists the same for what the relay moved for.
var otherCauses = map[string]string{
	"command":  "OFF-1 SYNC",
	"onsite":   "AUTH-1 AUTH-2 AUTH-3 AUTH-5 CMD LEG-1",
	"free":     "AUTH-1 AUTH-2 AUTH-3 AUTH-5 CMD PERM SYNC-1 SYNC-2",
	"hold_end": "AUTH-1 AUTH-2 AUTH-3 AUTH-5 ENT HRS OFF-1 OFF-2 PERM SYNC",
	"outage":   "AUTH-1 AUTH-2 AUTH-3 AUTH-5 CMD-1 CMD-2 CMD-3 CMD-4 CMD-5 CMD-8 ENT HRS OFF-1 PERM SYNC",
}

// otherMethods lists the same for how somebody tried to enter.
var otherMethods = map[string]string{
	string(vocab.Onsite): "AUTH-1 AUTH-2 AUTH-3 AUTH-5 CMD LEG-1",
	string(vocab.API):    "HRS OFF-1 OFF-2 PERM SYNC",
	string(vocab.Link):   "AUTH-1 AUTH-2 AUTH-3 AUTH-5 CMD-5 CMD-7 CMD-8 LEG-1 OFF-1 OFF-2 SYNC-1 SYNC-2",
	string(vocab.Phone):  "AUTH-1 AUTH-2 AUTH-3 AUTH-5 CMD-5 CMD-7 CMD-8 LEG-1 OFF-1 OFF-2 SYNC-1 SYNC-2",
}

// OtherAction, OtherCause and OtherMethod report whether a look at nothing but this can't be evidence for a clause.
func OtherAction(action, clause string) bool { return Among(otherActions[action], clause) }

// OtherCause is like OtherAction.
func OtherCause(cause, clause string) bool { return Among(otherCauses[cause], clause) }

// OtherMethod is like OtherAction.
func OtherMethod(method, clause string) bool { return Among(otherMethods[method], clause) }
