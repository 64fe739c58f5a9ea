package history

// clauses are the guarantees in the order in which they are reported, each with
// its promise in a line. Some are judged by checkers over the history, some by
// the assertions of scenarios, most by both.
var clauses = [...][2]string{
	{"AUTH-1", "a key exchanges for a 900 s token bound to place and scopes"},
	{"AUTH-2", "expired or forged token 401, missing scope 403"},
	{"AUTH-3", "at most 30 exchanges a minute and address, then 429"},
	{"AUTH-4", "a test key never moves a live door, no key another place"},
	{"AUTH-5", "a revoked key is dead everywhere within 15 min"},
	{"PERM-1", "from registration on the customer enters by phone or link"},
	{"PERM-2", "repeating a create has the result of one call"},
	{"PERM-3", "re-registration replaces the period and clears revocation"},
	{"PERM-4", "a revoked permit's link is dead at once"},
	{"PERM-5", "at most 720 h, or the shortest maximum of the doors"},
	{"PERM-6", "the doorIds rules"},
	{"PERM-7", "states follow time: pending, active, expired, revoked"},
	{"ENT-1", "any one valid grant opens, nothing else does"},
	{"ENT-2", "free opens without eligibility, closed denies guests"},
	{"ENT-3", "link, phone and command pass one decision"},
	{"ENT-4", "every command and attempt recorded once, phones masked"},
	{"CMD-1", "200 only after execution, exactly one actuation behind it"},
	{"CMD-2", "409 offline: never sent, no actuation"},
	{"CMD-3", "502 refused: no actuation"},
	{"CMD-4", "504: zero or one actuation, never after notAfter"},
	{"CMD-5", "one key opens at most once and gets the first result"},
	{"CMD-6", "CMD-1..5 hold when server, board or line dies"},
	{"CMD-7", "hold: N minutes or until locked"},
	{"CMD-8", "test place: open, hold, close, policy, netloss succeed"},
	{"SYNC-1", "registration on every connected board ≤ 300 s"},
	{"SYNC-2", "revocation on every connected board ≤ 300 s"},
	{"SYNC-3", "changes during an outage act on site only after recovery"},
	{"OFF-1", "in an outage synchronized permits keep working on site"},
	{"OFF-2", "on-site decisions at 36 h exactly, none after"},
	{"OFF-3", "from graceSec each channel shows its stored behaviour"},
	{"OFF-4", "recovery: board equals server, buffered records once each"},
	{"HRS-1", "hours PATCH applies at once"},
	{"HRS-2", "the public schedule shows the real intervals"},
	{"IMP-1", "import rows stand alone, the same file creates nothing"},
	{"LEG-1", "legacy paths keep working with the same outcomes"},
}

// Clauses are the ids of all guarantees in report order.
func Clauses() []string {
	out := make([]string, len(clauses))
	for i, c := range clauses {
		out[i] = c[0]
	}
	return out
}

// Promise is a clause's promise in one line, "" for an unknown clause.
func Promise(clause string) string {
	for _, c := range clauses {
		if c[0] == clause {
			return c[1]
		}
	}
	return ""
}
