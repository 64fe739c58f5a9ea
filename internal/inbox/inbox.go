// Package inbox keeps each place's latest requests to the public API, masked and bounded, for partners who want to see
// what their client does. The edge hands over requests (server/api), a goroutine masks and stores them, and the control
// API shows them (server/console). internal/golive reads the same entries.
package inbox

import (
	"bytes"
	"time"

	"github.com/doorlab/doorlab/internal/mask"
)

// Exchange is one request with its answer, as the edge saw them. It is never stored as is; Request and Answer are read
// only.
type Exchange struct {
	Came      time.Time // domain, when the request came
	At        time.Time // domain, when it was answered
	PlaceID   string
	Customer  bool // of the place, without a token: an entry link, the opening hours
	KeyID     string
	Addr      string // of the caller, without the port
	RequestID string
	Method    string
	Route     string // the template
	Target    string // path and query
	DoorID    string
	Token     string // bearer
	Given     string // the token that an exchange answered
	Key       string // Idempotency-Key
	Type      string // Content-Type of the request
	Request   []byte
	Status    int
	Code      string // of a failure
	Answer    []byte
	Replayed  bool
	RetryIn   time.Duration // Retry-After
	CommandID string
	Took      time.Duration
	ended     time.Duration // when it was answered, by the process's own clock

	requestBytes, answerBytes int // before Add cut them
}

// Entry is an exchange as stored: masked. Marks stand for secrets; equal marks mean equal secrets.
type Entry struct {
	Seq            int64     `json:"seq"`
	Came           time.Time `json:"cameAt"`
	At             time.Time `json:"at"` // when it was answered
	RequestID      string    `json:"requestId"`
	PlaceID        string    `json:"placeId"`
	Customer       bool      `json:"customer,omitempty"` // not the partner's own: golive leaves it out
	KeyID          string    `json:"keyId"`
	Method         string    `json:"method"`
	Route          string    `json:"route"`
	Path           string    `json:"path"`
	DoorID         string    `json:"doorId,omitempty"`
	Token          string    `json:"token,omitempty"` // mark
	Given          string    `json:"given,omitempty"` // mark of the token answered
	IdempotencyKey string    `json:"idempotencyKey,omitempty"`
	KeyMark        string    `json:"keyMark,omitempty"` // of the Idempotency-Key
	Type           string    `json:"contentType,omitempty"`
	Request        string    `json:"request"`
	RequestMark    string    `json:"requestMark,omitempty"` // of the body
	RequestBytes   int       `json:"requestBytes"`
	Status         int       `json:"status"`
	Code           string    `json:"code,omitempty"`
	Answer         string    `json:"answer"`
	AnswerBytes    int       `json:"answerBytes"`
	Replayed       bool      `json:"replayed"`
	RetrySec       float64   `json:"retryAfterSec,omitempty"`
	CommandID      string    `json:"commandId,omitempty"`
	TookMs         float64   `json:"tookMs"`
	// Ended is when it was answered, since the process's start: domain time may stand still, or jump.
	Ended time.Duration `json:"-"`
}

// Cut reports whether the request is longer than what is kept.
func (e *Entry) Cut() bool { return e.RequestBytes > maxText }

// maxText is how much of a body is kept.
const maxText = 8 << 10

// overhead is roughly what an entry takes besides its texts.
const overhead = 512

// size is what it takes: callers choose how long these texts are.
func (e *Entry) size() int {
	return overhead + len(e.Request) + len(e.Answer) + len(e.Path) + len(e.DoorID) + len(e.IdempotencyKey) + len(e.Type)
}

// clip is what is kept of a body; the rest isn't retained.
func clip(b []byte) []byte {
	if len(b) > maxText {
		return bytes.Clone(b[:maxText])
	}
	return b
}

// masked makes the entry of an exchange.
func masked(x *Exchange) *Entry {
	target, request := x.Target, string(x.Request)
	if x.Customer {
		target, request = mask.Link(target), mask.Link(request)
	}
	return &Entry{Came: x.Came, At: x.At, RequestID: x.RequestID, PlaceID: x.PlaceID, Customer: x.Customer, KeyID: x.KeyID, Method: x.Method, Route: x.Route, Path: mask.Text(target),
		DoorID: mask.Text(x.DoorID), Token: mask.Mark(x.Token), Given: mask.Mark(x.Given), IdempotencyKey: mask.Text(x.Key), KeyMark: mask.Mark(x.Key), Type: x.Type,
		Request: mask.Text(request), RequestMark: mask.Mark(string(x.Request)), RequestBytes: x.requestBytes, Status: x.Status, Code: x.Code,
		Answer: mask.Text(string(x.Answer)), AnswerBytes: x.answerBytes, Replayed: x.Replayed, RetrySec: x.RetryIn.Seconds(), CommandID: x.CommandID,
		TookMs: float64(x.Took.Microseconds()) / 1000, Ended: x.ended}
}
