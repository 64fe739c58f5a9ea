// Package judge holds the guarantees, clause by clause, and decides from a history whether each was kept. Checkers are
// pure functions over a View: events in, verdict out. It is out of reach of the server and the boards, and has its own
// reference for the access decision, so nothing that is judged takes part in judging.
package judge

import "github.com/doorlab/doorlab/internal/each"

// clauses are the guarantees in report order, each with a one-line promise. Some are judged by checkers over the
// history, some by the assertions of scenarios, most by both.
var clauses = [...][2]string{
	{"AUTH-1", "an API key can be exchanged for a 900 s token of its place and scopes"},
	{"AUTH-2", "an expired or forged token gets 401, a missing scope 403"},
	{"AUTH-3", "30 token exchanges per minute per address, then 429"},
	{"AUTH-4", "a test key never moves a live door; no key touches another place"},
	{"AUTH-5", "a revoked key stops working everywhere within 15 min"},
	{"PERM-1", "a registered customer can enter by phone or link at once"},
	{"PERM-2", "repeating a create request has no further effect"},
	{"PERM-3", "re-registration replaces the period and clears revocation"},
	{"PERM-4", "a revoked permit's link stops working at once"},
	{"PERM-5", "a permit lasts at most 720 h, or its doors' shortest maximum"},
	{"PERM-6", "doorIds select the doors: default, kept, replaced, rejected"},
	{"PERM-7", "states follow time: pending, active, expired, revoked"},
	{"ENT-1", "any one valid grant opens the door, and nothing else does"},
	{"ENT-2", "free opens without eligibility, closed denies guests"},
	{"ENT-3", "link, phone and API share one decision routine"},
	{"ENT-4", "each command and attempt is recorded once, with phones masked"},
	{"CMD-1", "200 only after execution, exactly one actuation behind it"},
	{"CMD-2", "409 offline: never sent, no actuation"},
	{"CMD-3", "502 refused: no actuation"},
	{"CMD-4", "504: zero or one actuation, never after notAfter"},
	{"CMD-5", "one Idempotency-Key opens at most once and always gets the first result"},
	{"CMD-6", "CMD-1..5 hold when the server, a board or its connection dies"},
	{"CMD-7", "a hold lasts N minutes, or until locked"},
	{"CMD-8", "in the test place open, hold, close, policy and netloss succeed"},
	{"SYNC-1", "registrations reach every connected board within 300 s"},
	{"SYNC-2", "revocations reach every connected board within 300 s"},
	{"SYNC-3", "changes made in an outage act on site only after recovery"},
	{"OFF-1", "synchronized permits keep working on site in an outage"},
	{"OFF-2", "boards decide on their own up to exactly 36 h, never later"},
	{"OFF-3", "from graceSec on, each channel shows its stored behaviour"},
	{"OFF-4", "after recovery the board is in sync and its records arrive once"},
	{"HRS-1", "a change of opening hours applies at once"},
	{"HRS-2", "the public schedule shows the real opening intervals"},
	{"IMP-1", "import rows are independent; a repeated file creates nothing"},
	{"LEG-1", "legacy paths keep working with the same outcomes"},
}

// Clauses returns the ids of all guarantees in report order.
func Clauses() []string {
	return each.Of(clauses[:], func(c [2]string) string { return c[0] })
}

// Promise returns a clause's promise in one line, or "" for an unknown clause.
func Promise(clause string) string {
	for _, c := range clauses {
		if c[0] == clause {
			return c[1]
		}
	}
	return ""
}
