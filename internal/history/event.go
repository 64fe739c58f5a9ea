// Package history is the operations log of a run and the checkers of the
// guarantees. Clients, boards and server append Events to one Log; checkers are
// pure functions over it. It imports none of them: the judge stands apart.
package history

// Kinds of events.
const (
	// Clients, one an HTTP attempt (not a logical call).
	Attempt = "attempt" // sent
	Answer  = "answer"  // answered: Status, Body digest, Outcome
	// Server.
	Committed = "committed" // a place revision was committed: PlaceID, Revision, GrantID, Op
	Publish   = "publish"   // a command went out: CommandID, Epoch, NotAfterMs
	Received  = "received"  // a report came in
	Online    = "online"    // hello accepted: BoardID, Epoch, Revision, OutageAgeMs
	Offline   = "offline"   // the connection ended
	Applied   = "applied"   // a board acknowledged Revision, Digest
	RecordIn  = "record"    // an entry record was committed
	// Boards, ground truth.
	Actuation = "actuation" // one journal line: Action, Cause
	Presented = "presented" // somebody presented himself on site: Result, Reason
	// Everybody.
	Label = "label" // a scenario's mark
)

// Event is one line of the history. At is domain time (Unix ms), WallNs the
// process's monotonic time since its start, Seq the order of arrival.
type Event struct {
	Seq    int64  `json:"seq"`
	At     int64  `json:"at"`
	WallNs int64  `json:"wallNs,omitempty"`
	Kind   string `json:"kind"`

	PlaceID   string `json:"placeId,omitempty"`
	BoardID   string `json:"boardId,omitempty"`
	DoorID    string `json:"doorId,omitempty"`
	CommandID string `json:"commandId,omitempty"`
	GrantID   string `json:"grantId,omitempty"`
	RecordID  string `json:"recordId,omitempty"`

	// HTTP. Key is a hash of the Idempotency-Key (never the key itself).
	Key      string `json:"key,omitempty"`
	Request  string `json:"request,omitempty"` // joins Attempt and Answer
	Method   string `json:"method,omitempty"`
	Route    string `json:"route,omitempty"`
	Status   int    `json:"status,omitempty"`
	Code     string `json:"code,omitempty"`
	Outcome  string `json:"outcome,omitempty"` // reported offline refused noResponse
	BodyHash string `json:"bodyHash,omitempty"`
	Replayed bool   `json:"replayed,omitempty"`
	Meaning  string `json:"meaning,omitempty"` // canonical request under the key

	Epoch       int64  `json:"epoch,omitempty"`
	Revision    int64  `json:"revision,omitempty"`
	Digest      string `json:"digest,omitempty"`
	NotAfterMs  int64  `json:"notAfterMs,omitempty"`
	OutageAgeMs int64  `json:"outageAgeMs,omitempty"`

	Op      string `json:"op,omitempty"` // Committed: register revoke policy hours ...
	Action  string `json:"action,omitempty"`
	Cause   string `json:"cause,omitempty"`
	Channel int    `json:"channel,omitempty"`
	Boot    int    `json:"boot,omitempty"`
	Result  string `json:"result,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Text    string `json:"text,omitempty"`
}
