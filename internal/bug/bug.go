// Package bug names the planted bugs: each is a decorator in server/planted or
// boardsim/planted that proves that a test, a checker or a scenario can fail. A
// build with the tag "planted" puts one in at composition, the one that the
// environment names; no other product code knows of them.
package bug

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/doorlab/doorlab/internal/near"
)

// Bugs of door commands, in the server.
const (
	PublishBeforeCommit = "publish-before-commit" // sends before the claim is durable
	MemoryOnlyLedger    = "memory-only-ledger"    // keeps keys in memory, not in the database
	ConflictAfterSend   = "conflict-after-send"   // sends another request under a used key before it answers 409
	UnfinishedSentAgain = "unfinished-sent-again" // a repeat of a key that was never settled is a new command
	RecoverSends        = "recover-sends"         // a start sends again what was not settled
	NotAfterFromSend    = "not-after-from-send"   // notAfter counts from the send, not from the request
	OfflineButSent      = "offline-but-sent"      // says that nothing was sent, and sent
	SettleForgotten     = "settle-forgotten"      // answers without committing the outcome
	LateChangesAnswer   = "late-changes-answer"   // a late report turns the stored 504 into a 200
)

// Bugs of boards.
const (
	BoardIgnoresNotAfter = "board-ignores-notafter" // opens however late the command is
	BoardActsTwice       = "board-acts-twice"       // moves the relay twice, and again for a repeat
	BoardForgetsCommands = "board-forgets-commands" // moves the relay again for a repeated command
	BoardReportsOnly     = "board-reports-only"     // reports without moving the relay
	BoardRefusesAndOpens = "board-refuses-and-opens"
	Outage36hGE          = "outage-36h-ge" // stops deciding at 36 h instead of over 36 h
)

// RevocationLost is the bug of synchronization: revocations aren't sent.
const RevocationLost = "revocation-lost"

// Planted is the bug that DOORLAB_BUG names, or DOORLAB_PLANT, its older name;
// "" for none. An unknown name panics: a run without the bug would prove nothing.
func Planted() string {
	name := cmp.Or(os.Getenv("DOORLAB_BUG"), os.Getenv("DOORLAB_PLANT"))
	if _, ok := find(name); name != "" && !ok {
		panic(fmt.Sprintf("DOORLAB_BUG: %q is not a planted bug, did you mean %q?", name, near.Name(name, Names())))
	}
	return strings.TrimSuffix(name, underLoad)
}
