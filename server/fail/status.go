package fail

import (
	"maps"
	"slices"
)

// statuses is the one table from code to HTTP status, for the public API and
// the control API.
var statuses = map[string]int{
	InvalidBody: 400, InvalidTimestamp: 400, InvalidQuery: 400, MissingField: 400,
	InvalidField: 400, BodyTooLarge: 400, InvalidPeriod: 400, InvalidPhone: 400,
	InvalidDoorIDs: 400, EmptyDoorIDs: 400, IdempotencyKeyMissing: 400,
	IdempotencyKeyInvalid: 400, UnsupportedCommand: 400,

	TokenMissing: 401, TokenInvalid: 401, TokenExpired: 401, InvalidAPIKey: 401,

	ScopeMissing: 403, PlaceForbidden: 403, PlaceFieldForbidden: 403,

	NotFound: 404, PermitNotFound: 404, DeviceNotFound: 404, BoardNotFound: 404,
	PlaceNotFound: 404, LinkInvalid: 404, EndpointRemoved: 404,

	MethodNotAllowed: 405,

	PermitPeriodTooLong: 409, IdempotencyKeyReused: 409, RuleViolated: 409,
	EntryDenied: 409, DeviceOffline: 409,

	RateLimited: 429, TooManyInFlight: 429,

	InternalError: 500,

	DeviceRefused: 502, StoreUnreachable: 502,

	StoreOffline: 503, StorageUnavailable: 503,

	DeviceNoResponse: 504,
}

// Status is the HTTP status of a code; 0 for a code that doesn't exist.
func Status(code string) int { return statuses[code] }

// Status is the HTTP status that the caller gets.
func (e *Error) Status() int { return statuses[e.Code] }

// Codes are all codes, sorted.
func Codes() []string { return slices.Sorted(maps.Keys(statuses)) }
