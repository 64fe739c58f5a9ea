// Package fail is the one error type of the server: a code of the API's closed list
// with a message, details and, from one table, an HTTP status. The rules return it
// and the edges write it.
package fail

import (
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/each"
)

// ErrNotFound is what a rule package's Store returns for a row that doesn't exist.
var ErrNotFound = New(NotFound, "not found")

// Codes of failures, as the API writes them; Status has the HTTP status of each.
const (
	InvalidBody           = "invalid_body"
	InvalidTimestamp      = "invalid_timestamp"
	InvalidQuery          = "invalid_query"
	MissingField          = "missing_field"
	InvalidField          = "invalid_field"
	BodyTooLarge          = "body_too_large"
	InvalidPeriod         = "invalid_period"
	InvalidPhone          = "invalid_phone"
	InvalidDoorIDs        = "invalid_door_ids"
	EmptyDoorIDs          = "empty_door_ids"
	IdempotencyKeyMissing = "idempotency_key_required"
	IdempotencyKeyInvalid = "idempotency_key_invalid"
	UnsupportedCommand    = "unsupported_command"

	TokenMissing  = "token_missing"
	TokenInvalid  = "token_invalid"
	TokenExpired  = "token_expired"
	InvalidAPIKey = "invalid_api_key"

	ScopeMissing        = "scope_missing"
	PlaceForbidden      = "place_forbidden"
	PlaceFieldForbidden = "place_field_forbidden"

	NotFound        = "not_found"
	PermitNotFound  = "permit_not_found"
	DeviceNotFound  = "device_not_found"
	BoardNotFound   = "board_not_found"
	PlaceNotFound   = "place_not_found"
	LinkInvalid     = "link_invalid"
	EndpointRemoved = "endpoint_removed"

	MethodNotAllowed = "method_not_allowed"

	PermitPeriodTooLong  = "permit_period_too_long"
	IdempotencyKeyReused = "idempotency_key_reused"
	RuleViolated         = "rule_violated"
	EntryDenied          = "entry_denied"
	DeviceOffline        = "device_offline"

	RateLimited     = "rate_limited"
	TooManyInFlight = "too_many_in_flight"

	DeviceRefused    = "device_refused"
	StoreUnreachable = "store_unreachable"

	StoreOffline       = "store_offline"
	StorageUnavailable = "storage_unavailable"

	DeviceNoResponse = "device_no_response"

	InternalError = "internal_error"
)

// Error is a failure that the caller sees. Message is English for a person.
type Error struct {
	Code       string
	Message    string
	Details    map[string]any
	RetryAfter time.Duration // RateLimited: exactly when the next call may pass; 0 otherwise
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// New makes an Error; details are pairs of a name and a value.
func New(code, message string, details ...any) *Error {
	e := &Error{Code: code, Message: message}
	for i := 0; i+1 < len(details); i += 2 {
		each.Put(&e.Details, details[i].(string), details[i+1])
	}
	return e
}

// Missing reports a required field that is absent or null.
func Missing(field string) *Error {
	return New(MissingField, field+" is required", "field", field)
}

// Invalid reports a field of the wrong type, length or range; why completes the sentence "<field> ...".
func Invalid(field, why string) *Error {
	return New(InvalidField, field+" "+why, "field", field)
}

// CodeOf is the code of an error that is, or wraps, an Error; "" otherwise.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
