// Package vocab declares the words for what became of a door command or of an attempt to enter: outcome, result, method
// and reason. API, records, boards, load and judge share them, so that each is written down once and the compiler tells
// them apart.
package vocab

// Outcome is what became of a door command.
type Outcome string

// Result is what an entry record or event says happened, or what a board reports for a command.
type Result string

// Method is how a person or program asked for a door.
type Method string

// Reason is why a door opened or didn't: a denial, FreeWindow, or the method
// itself, as Reason(Phone).
type Reason string

// Reported is the outcome of a command that the board carried out.
const Reported Outcome = "reported"

// The three failures are outcomes of a command and results of its record, and Refused is also what a board reports.
// They are untyped so that they can be each of these.
const (
	Offline    = "offline"
	Refused    = "refused"
	NoResponse = "noResponse"
)

// Results besides the failures.
const (
	OK      Result = "ok" // of a board's report only
	Opened  Result = "opened"
	Held    Result = "held"
	Locked  Result = "locked"
	Denied  Result = "denied"
	Changed Result = "changed" // a time-window policy or an outage policy
)

// Methods.
const (
	API    Method = "api"
	Link   Method = "link"
	Phone  Method = "phone"
	Onsite Method = "onsite"
)

// Reasons of a denial.
const (
	NoValidGrant   Reason = "no_valid_grant"
	NotStarted     Reason = "not_started"
	Expired        Reason = "expired"
	Revoked        Reason = "revoked"
	DoorOutOfScope Reason = "door_out_of_scope"
	ClosedWindow   Reason = "closed_window"
	LinkInvalid    Reason = "link_invalid"
	OutageLimit    Reason = "outage_limit"
)

// FreeWindow is the reason of an opening without eligibility.
const FreeWindow Reason = "free_window"
