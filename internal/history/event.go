// Package history is the operations log of a run: events, the log they are
// appended to, and their encoding. Clients, boards and server append to one Log;
// internal/judge reads it.
package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/doorlab/doorlab/internal/mask"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Kinds of events. Who emits which, when and with what: docs/history.md.
const (
	// Clients, one an HTTP attempt (not a logical call).
	Attempt = "attempt" // sent
	Answer  = "answer"  // answered: Status, Body digest, Outcome
	Call    = "call"    // any request to the public API, answered: Method, Route, PlaceID, Status, Code, BodyHash of the request, Text (CallText)
	// A request that could change something, door commands aside, got no answer: as Call.
	Unanswered = "unanswered"
	// Server.
	Started   = "started"   // a server process begins a life: Text, NotAfterMs (where it isn't the contract's)
	Committed = "committed" // a place revision was committed: PlaceID, Revision, Digest, GrantID, Op
	Content   = "content"   // what a revision changed: PlaceID, Revision, Op, GrantID, Text (JSON)
	Entries   = "entries"   // the place's entry doors from now on: PlaceID, Text (JSON list of ids, in the order in which a caller gets them)
	Intent    = "intent"    // a command was accepted and its claim is committed: CommandID, Key, PlaceID, DoorID, Op
	Publish   = "publish"   // a command goes out: BoardID, PlaceID, DoorID, CommandID, Key, Epoch, NotAfterMs, Op
	Received  = "received"  // a report came in: BoardID, CommandID, Result, Reason
	Online    = "online"    // hello accepted: BoardID, PlaceID, Epoch, Revision, OutageAgeMs
	Offline   = "offline"   // the connection ended: BoardID, Epoch
	Applied   = "applied"   // a board acknowledged: BoardID, PlaceID, Revision, Digest
	RecordIn  = "record"    // an entry record was committed
	// Boards, ground truth.
	Door      = "door"      // a simulated board has this door: BoardID, PlaceID, DoorID, Channel
	Actuation = "actuation" // one journal line: Action, Cause
	Presented = "presented" // someone presented themselves on site: Result, Reason, PhoneHash and Text (masked) or TokenHash, JournalSeq
	Released  = "released"  // nothing drives the relay any more: DoorID, Channel, At is when it fell
	Netloss   = "netloss"   // the board stored an outage policy: BoardID, Text (JSON)
	Line      = "line"      // the line can't carry both ways, loses or delays, or is intact again: BoardID, Op down|lossy|up, Text (fault)
	Fault     = "fault"     // a fault hit a command: BoardID, DoorID, CommandID, Text
	Dropped   = "dropped"   // a full buffer lost a record: BoardID, RecordSeq
	Rebooted  = "rebooted"  // what was in memory is lost, the flash kept: BoardID
	Wiped     = "wiped"     // the flash was lost: BoardID
	Detached  = "detached"  // the simulated board was taken away: BoardID
	Attached  = "attached"  // ... and brought back: BoardID
	// Everybody.
	Label = "label" // a scenario's mark
	Look  = "look"  // a scenario looked at what boards have: Text is the verb
	Hand  = "hand"  // from now on a scenario speaks in this board's place, or to it in its server's (Op "tell"): BoardID
	Begun = "begun" // a run begins here: what came before is the state it found; Op Quiet
	World = "world" // what follows happened in a world of its own: Text is its scenario file, Op which of the file's plays (2 of 3)
)

// Quiet is the op of a Begun at which nothing was in progress: no command, no outage, and every board in sync. After
// it, nothing is excused by what may have happened before.
const Quiet = "quiet"

// Ended is the op of a commit by which grants that ended long ago left the content.
const Ended = "ended"

// Texts of a Line whose op is lossy: some packets are lost, delayed or repeated, or all are lost, which ends no connection.
const (
	Packets    = "packets"
	AllPackets = "all packets"
)

// Ops of Content.
const (
	ContentGrant   = "grant"   // Text: one grant as synchronized
	ContentRemoved = "removed" // GrantID no longer exists
	ContentWindows = "windows" // Text: all windows of the place
	ContentHours   = "hours"   // Text: the hours
	ContentBase    = "base"    // everything of the place up to Revision has been told
)

// Event is one line of the history. At is domain time (Unix ms; on a board the true one, not its skewed clock), WallNs
// the machine's time in Unix ns, Seq the order of arrival in a Log.
//
// In a history from several processes, Src says whose clock stamped it: 0 is the run's own, n the n-th control
// listener's. ErrNs is how far WallNs may be off from the run's own clock after Clocks.Apply has shifted it; negative =
// unknown.
type Event struct {
	Seq    int64  `json:"seq"`
	At     int64  `json:"at"`
	WallNs int64  `json:"wallNs,omitempty"`
	Src    int    `json:"src,omitempty"`
	ErrNs  int64  `json:"errNs,omitempty"`
	Kind   string `json:"kind"`

	PlaceID   string `json:"placeId,omitempty"`
	BoardID   string `json:"boardId,omitempty"`
	DoorID    string `json:"doorId,omitempty"`
	CommandID string `json:"commandId,omitempty"`
	GrantID   string `json:"grantId,omitempty"`
	RecordID  string `json:"recordId,omitempty"`

	// HTTP. Key is KeyHash of the Idempotency-Key (never the key itself), KeyMark of an Attempt is a mark of the key alone,
	// to see where else it was used.
	Key      string        `json:"key,omitempty"`
	KeyMark  string        `json:"keyMark,omitempty"`
	Request  string        `json:"request,omitempty"` // joins Attempt and Answer
	Method   string        `json:"method,omitempty"`
	Route    string        `json:"route,omitempty"`
	Status   int           `json:"status,omitempty"`
	Code     string        `json:"code,omitempty"`
	Outcome  vocab.Outcome `json:"outcome,omitempty"`
	BodyHash string        `json:"bodyHash,omitempty"`
	Replayed bool          `json:"replayed,omitempty"`
	Meaning  string        `json:"meaning,omitempty"` // canonical request under the key

	Epoch       int64  `json:"epoch,omitempty"`
	Revision    int64  `json:"revision,omitempty"`
	Digest      string `json:"digest,omitempty"`
	NotAfterMs  int64  `json:"notAfterMs,omitempty"`
	OutageAgeMs int64  `json:"outageAgeMs,omitempty"` // -1 = clock lost

	Op      string `json:"op,omitempty"` // Committed: register revoke policy hours ...; Publish, Intent: open hold close
	Action  string `json:"action,omitempty"`
	Cause   string `json:"cause,omitempty"`
	Channel int    `json:"channel,omitempty"`
	Boot    int    `json:"boot,omitempty"`
	// JournalSeq is the number of the journal entry: of an Actuation, of what a Presented led to.
	JournalSeq int64        `json:"journalSeq,omitempty"`
	PulseMs    int64        `json:"pulseMs,omitempty"` // Actuation: how long a pulse is meant to last
	LateMs     int64        `json:"lateMs,omitempty"`  // Actuation: how late it was noted after the board's timers started, on a busy machine
	TookNs     int64        `json:"tookNs,omitempty"`  // Intent: since the server had checked the request; Actuation by a command: since the board had it
	CheckNs    int64        `json:"checkNs,omitempty"` // Intent: how long the check took before that, since the request came
	Result     vocab.Result `json:"result,omitempty"`
	Reason     vocab.Reason `json:"reason,omitempty"`
	Text       string       `json:"text,omitempty"`

	PhoneHash string `json:"phoneHash,omitempty"` // Presented: who, as the board knows them
	TokenHash string `json:"tokenHash,omitempty"`
	BoardAt   int64  `json:"boardAt,omitempty"`   // Presented: the board's own wall clock, Unix ms; 0 = At
	RecordSeq int64  `json:"recordSeq,omitempty"` // Presented, RecordIn, Dropped: the board's record number
	Actor     string `json:"actor,omitempty"`     // RecordIn, masked
}

// Meaning is the canonical request under an Idempotency-Key: door, command, minutes (only for a hold), and reason.
func Meaning(doorID, command string, minutes float64, reason string) string {
	if command != "hold" {
		minutes = 0
	}
	return fmt.Sprintf("%s %s %g %q", doorID, command, minutes, mask.Marked(reason))
}

// KeyHash is how the history shows an Idempotency-Key: bound to its place, 16 hex digits. "" for no key.
func KeyHash(placeID, key string) string {
	if key == "" {
		return ""
	}
	h := sha256.Sum256([]byte(placeID + "\n" + key))
	return hex.EncodeToString(h[:8])
}
