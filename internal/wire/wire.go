// Package wire is the server-board protocol as types: topics, payloads, version. It uses no MQTT library and reads no
// clock. The server (server/gateway, server/boardsync, server/command) and the boards (boardsim, boardsim/firmware)
// share it. docs/board-protocol.md describes it in prose.
package wire

import (
	"strings"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Version is the protocol version a board states in its hello.
//
// 1 (2026-11-21): first version.
//
// 2 (2026-11-22): phoneHash is keyed; the key comes with a snapshot. Large changes come in pages.
const Version = 2

// Prefix begins every topic: Prefix + boardID + "/" + channel.
const Prefix = "sac/v1/"

// Down channels (server to board) and up channels (board to server).
const (
	DownCmd  = "cmd"
	DownSync = "sync"
	DownCfg  = "cfg"
	DownAck  = "ack"

	UpHello  = "hello"
	UpRpt    = "rpt"
	UpAck    = "ack"
	UpState  = "state"
	UpRec    = "rec"
	UpDigest = "digest"
	UpPing   = "ping"
)

// Down and Up list the channels of each direction. "ack" is in both, see Topic.
var (
	Down = []string{DownCmd, DownSync, DownCfg, DownAck}
	Up   = []string{UpHello, UpRpt, UpAck, UpState, UpRec, UpDigest, UpPing}
)

// Topic is the exact topic of a board's channel: sac/v1/{boardId}/{channel}. "ack" is used in both directions under one
// name. A board that subscribes to it doesn't get its own messages back, because the server consumes every uplink,
// unless the broker is another one; then SyncAck's types tell them apart from the server's messages.
func Topic(boardID, channel string) string { return Prefix + boardID + "/" + channel }

// Whole reports whether a number is one that every JSON reader can represent, 0 to 2^53 - 1: all numbers of the protocol
// are, except an outage age of -1.
func Whole(n int64) bool { return n >= 0 && n < 1<<53 }

// ParseTopic splits a topic; ok is false for anything that isn't exactly one of ours.
func ParseTopic(topic string) (boardID, channel string, ok bool) {
	rest, found := strings.CutPrefix(topic, Prefix)
	if !found {
		return "", "", false
	}
	boardID, channel, found = strings.Cut(rest, "/")
	if !found || boardID == "" || channel == "" || strings.Contains(channel, "/") {
		return "", "", false
	}
	return boardID, channel, true
}

// Hello is the first message of every connection (up). Times are milliseconds.
type Hello struct {
	Proto       int        `json:"proto"`
	Boot        int        `json:"boot"`               // raised by every reboot
	Revision    int64      `json:"revision"`           // applied place revision, 0 = nothing stored
	Digest      string     `json:"digest,omitempty"`   // digest of the stored content at Revision
	OutageAgeMs int64      `json:"outageAgeMs"`        // -1 = clock lost
	Buffered    int        `json:"buffered"`           // records waiting for upload
	Dropped     int        `json:"dropped,omitempty"`  // records lost to a full buffer
	Netloss     *Netloss   `json:"netloss,omitempty"`  // as stored on the board
	At          int64      `json:"at,omitempty"`       // board's domain time, Unix ms; 0 = not told
	Doors       []Standing `json:"doors,omitempty"`    // one a channel
	Firmware    string     `json:"firmware,omitempty"` // free text
	Partial     *Partial   `json:"partial,omitempty"`  // a snapshot that the last connection began
}

// Partial is how much of a paged snapshot a board has.
type Partial struct {
	To     int64  `json:"to"`
	Digest string `json:"digest"`
	Page   int    `json:"page"` // number of pages, from the first
}

// Acknowledgements to boards, distinguished by Type.
const (
	AckHello  = "hello"  // answers Hello; ends the outage
	AckRpt    = "rpt"    // the outcome of CommandID is committed
	AckRec    = "rec"    // records up to and including Seq are committed
	AckDigest = "digest" // the digest was equal
	AckPing   = "ping"
)

// Ack is the server's acknowledgement (down).
type Ack struct {
	Type      string `json:"type"`
	Epoch     int64  `json:"epoch"`               // of this connection
	SessionMs int64  `json:"sessionMs"`           // server's monotonic session time now: notAfter is in it
	Time      int64  `json:"time"`                // domain time, Unix milliseconds
	CommandID string `json:"commandId,omitempty"` // AckRpt
	Seq       int64  `json:"seq,omitempty"`       // AckRec
	Accepted  bool   `json:"accepted"`            // AckRpt: false = unknown command, stop sending; others: true
}

// Commands a board knows.
const (
	CmdOpen  = "open"
	CmdHold  = "hold"
	CmdClose = "close"
)

// Command is one door command (down). It is sent at most once.
type Command struct {
	ID         string `json:"id"`
	Epoch      int64  `json:"epoch"`
	Seq        int64  `json:"seq"` // per connection, from 1
	DoorID     string `json:"doorId"`
	Channel    int    `json:"channel"`
	Command    string `json:"command"`
	Minutes    int    `json:"minutes,omitempty"` // hold: 0 = until locked
	NotAfterMs int64  `json:"notAfterMs"`        // session time after which the board refuses with "expired", see CMD-4
	GrantID    string `json:"grantId,omitempty"`
}

// Refusal codes (deviceCode).
var RefusalCodes = []string{"busy", "jammed", "tamper", "low_power", "maintenance", "expired", "unsupported"}

// Report answers a Command (up), again after a reconnect until acknowledged.
type Report struct {
	CommandID string       `json:"commandId"`
	Epoch     int64        `json:"epoch"`          // epoch of the command
	Result    vocab.Result `json:"result"`         // OK or Refused
	Code      string       `json:"code,omitempty"` // refused
	At        int64        `json:"at"`             // board's domain time, Unix ms
	Standing  *Standing    `json:"standing,omitempty"`
}

// Standing is a door's current state as its board sees it.
type Standing struct {
	DoorID    string `json:"doorId,omitempty"`
	Channel   int    `json:"channel"`
	State     string `json:"state"` // locked unlocked open warning
	Leaf      string `json:"leaf"`  // open closed
	Since     int64  `json:"since"` // Unix ms
	HoldUntil *int64 `json:"holdUntil,omitempty"`
	Held      bool   `json:"held,omitempty"`
	// Seq numbers the standings of a board in the order of what happened at its doors; 0 = it doesn't number them.
	Seq int64 `json:"seq,omitempty"`
}

// State reports standings that changed without a command (up).
type State struct {
	At    int64      `json:"at,omitempty"` // board's domain time, Unix ms; 0 = not told
	Doors []Standing `json:"doors"`
}

// Sync carries a snapshot (From = 0) or a delta From -> To (down). A board applies it atomically if its revision equals
// From (a snapshot: always), persists it, then acknowledges, see SYNC-1 and SYNC-2. Otherwise it sends Digest.
type Sync struct {
	From     int64            `json:"from"`
	To       int64            `json:"to"`
	Snapshot bool             `json:"snapshot,omitempty"`
	Page     int              `json:"page,omitempty"`  // 1..Pages; 0 = everything in one message
	Pages    int              `json:"pages,omitempty"` // applied together, after the last
	Timezone string           `json:"timezone,omitempty"`
	PhoneKey access.PhoneKey  `json:"phoneKey,omitempty"` // snapshots only: keys phoneHash, not part of the digest
	Upsert   []access.Grant   `json:"upsert,omitempty"`
	Remove   []string         `json:"remove,omitempty"`  // grant ids
	Windows  *[]access.Window `json:"windows,omitempty"` // nil = unchanged; else the whole list
	Hours    *access.Hours    `json:"hours,omitempty"`   // nil = unchanged; else the whole
	Doors    *[]DoorConfig    `json:"doors,omitempty"`   // nil = unchanged; this place's doors of all boards
	Digest   string           `json:"digest"`            // expected after applying
}

// DoorConfig says which door is on which of a board's channels.
type DoorConfig struct {
	BoardID string `json:"boardId"`
	DoorID  string `json:"doorId"`
	Channel int    `json:"channel"`
}

// SyncAck says that a revision is applied and persisted, or that pages of it have arrived (up, channel "ack").
type SyncAck struct {
	Type     string       `json:"type"` // SyncDone, SyncPage or SyncConfig
	Revision int64        `json:"revision,omitempty"`
	Page     int          `json:"page,omitempty"` // page: number of pages of the change to Revision that the board has, from the first
	Digest   string       `json:"digest,omitempty"`
	ID       string       `json:"id,omitempty"` // cfg
	Result   vocab.Result `json:"result,omitempty"`
	Code     string       `json:"code,omitempty"`
	Netloss  *Netloss     `json:"netloss,omitempty"`
}

// Types of SyncAck, distinct from Ack's.
const (
	SyncDone   = "sync"
	SyncPage   = "page"
	SyncConfig = "cfg"
)

// Digest requests a repair if it differs from the server's (up, every 60 s). Empty digest = only the revision counts.
type Digest struct {
	Revision int64  `json:"revision"`
	Digest   string `json:"digest,omitempty"`
}

// Resting behaviours of a channel in an outage.
const (
	RestOpen  = "open"
	RestClose = "close"
	RestHold  = "hold"
	RestOff   = "off"
)

// Netloss is a board's outage policy, see OFF-3.
type Netloss struct {
	GraceSec int64          `json:"graceSec"`
	Channels map[int]string `json:"channels"`
	Version  int64          `json:"version"`
}

// DefaultGraceSec is the grace period of a board that was never configured: 36 h.
const DefaultGraceSec = 129600

// Config sets the outage policy (down, channel "cfg"); the board persists, then acknowledges with the same id.
type Config struct {
	ID         string  `json:"id"`
	Netloss    Netloss `json:"netloss"`
	NotAfterMs int64   `json:"notAfterMs"`
}

// Record is one on-site entry (up, channel "rec"), sent in order and once each, identified by (board, seq).
type Record struct {
	Seq     int64        `json:"seq"`
	DoorID  string       `json:"doorId"`
	At      int64        `json:"at"`     // Unix ms, board's wall clock
	Result  vocab.Result `json:"result"` // opened denied
	Reason  vocab.Reason `json:"reason"` // access reasons
	GrantID string       `json:"grantId,omitempty"`
	// Who was presented: a hash, never the phone or the token.
	PhoneHash string `json:"phoneHash,omitempty"`
	TokenHash string `json:"tokenHash,omitempty"`
	// HolderHash is the phone hash of the presented link's permit, as the board knew it: whom the record shows.
	HolderHash string `json:"holderHash,omitempty"`
	PhoneHead  string `json:"phoneHead,omitempty"` // first three digits of a phone of ten or more, for the label
	PhoneTail  string `json:"phoneTail,omitempty"` // last four digits, for masking
}

// Records is a batch of at most 100 records, oldest first.
type Records struct {
	Records []Record `json:"records"`
	Dropped int      `json:"dropped,omitempty"`
}
