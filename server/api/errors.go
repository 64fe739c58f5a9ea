package api

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/rule"
)

// statuses is the one table from code to status.
var statuses = map[string]int{
	rule.InvalidBody: 400, rule.InvalidTimestamp: 400, rule.InvalidQuery: 400, rule.MissingField: 400,
	rule.InvalidField: 400, rule.BodyTooLarge: 400, rule.InvalidPeriod: 400, rule.InvalidPhone: 400,
	rule.InvalidDoorIDs: 400, rule.EmptyDoorIDs: 400, rule.IdempotencyKeyMissing: 400,
	rule.IdempotencyKeyInvalid: 400, rule.UnsupportedCommand: 400,

	rule.TokenMissing: 401, rule.TokenInvalid: 401, rule.TokenExpired: 401, rule.InvalidAPIKey: 401,

	rule.ScopeMissing: 403, rule.PlaceForbidden: 403, rule.PlaceFieldForbidden: 403,

	rule.NotFound: 404, rule.PermitNotFound: 404, rule.DeviceNotFound: 404, rule.BoardNotFound: 404,
	rule.PlaceNotFound: 404, rule.LinkInvalid: 404, rule.EndpointRemoved: 404,

	rule.MethodNotAllowed: 405,

	rule.PermitPeriodTooLong: 409, rule.IdempotencyKeyReused: 409, rule.RuleViolated: 409,
	rule.EntryDenied: 409, rule.DeviceOffline: 409,

	rule.RateLimited: 429, rule.TooManyInFlight: 429,

	rule.InternalError: 500,

	rule.DeviceRefused: 502, rule.StoreUnreachable: 502,

	rule.StoreOffline: 503, rule.StorageUnavailable: 503,

	rule.DeviceNoResponse: 504,
}

// failureOf is the body of every answer that is not a success: a Failure, which
// is the same in all three documents, and with more in it on legacy paths.
func failureOf(e *rule.Error, legacy bool) any {
	if !legacy {
		return gen.Failure{Error: e.Code, Message: e.Message, StatusCode: statuses[e.Code], Details: e.Details}
	}
	f := gen.LegacyFailure{Error: e.Code, Message: e.Message, StatusCode: statuses[e.Code], Details: e.Details, // [LEG-1]
		Reason: e.Code, Detail: e.Message}
	if r, ok := e.Details["reason"].(string); ok {
		f.Reason = r
	}
	return f
}

// known are the errors of the services that are not rule errors already.
var known = []struct {
	err           error
	code, message string
}{
	{auth.ErrInvalidKey, rule.InvalidAPIKey, "the API key is not valid"},
	{auth.ErrTokenInvalid, rule.TokenInvalid, "the access token is not valid"},
	{auth.ErrTokenExpired, rule.TokenExpired, "the access token has expired; exchange the key again"},
	{device.ErrReused, rule.IdempotencyKeyReused, "this Idempotency-Key was used for another request"},
	{device.ErrTooMany, rule.TooManyInFlight, "too many commands are in flight; try again"},
	{device.ErrNoDoor, rule.DeviceNotFound, "there is no such device"},
	{device.ErrStopped, rule.StorageUnavailable, "the service is stopping; ask again with the same key"},
	{rule.ErrNotFound, rule.NotFound, "there is no such thing"},
}

// ruleError says an error in the words of the contract. What is none of them is
// a fault of ours: it is logged, and the caller learns only that.
func (a *API) ruleError(c *call, err error) *rule.Error {
	var e *rule.Error
	if errors.As(err, &e) && statuses[e.Code] != 0 {
		return e
	}
	var limited *auth.RateLimited
	if errors.As(err, &limited) {
		return &rule.Error{Code: rule.RateLimited, Message: "too many token exchanges from this address", RetryAfter: limited.RetryAfter}
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return rule.New(k.code, k.message)
		}
	}
	if a.cfg.Unavailable != nil && a.cfg.Unavailable(err) {
		a.log(c, slog.LevelError, "storage unavailable", "err", err)
		return rule.New(rule.StorageUnavailable, "the storage is not available; try again")
	}
	a.log(c, slog.LevelError, "internal error", "err", err)
	return rule.New(rule.InternalError, "an error of the service; quote the X-Request-Id")
}

// errorHeaders are what goes with a failure besides its body.
func errorHeaders(h http.Header, e *rule.Error, scope string) {
	switch status := statuses[e.Code]; {
	case e.Code == rule.TokenMissing:
		h.Set("WWW-Authenticate", `Bearer realm="store-access"`)
	case status == 401 && e.Code != rule.InvalidAPIKey: // RFC 6750
		h.Set("WWW-Authenticate", `Bearer realm="store-access", error="invalid_token", error_description="`+e.Message+`"`)
	case e.Code == rule.ScopeMissing:
		h.Set("WWW-Authenticate", `Bearer realm="store-access", error="insufficient_scope", scope="`+scope+`"`)
	case status == 429 || status == 503:
		h.Set("Retry-After", strconv.Itoa(retrySeconds(e)))
	}
}

// retrySeconds rounds up, so that a caller that waits is let in.
func retrySeconds(e *rule.Error) int {
	switch {
	case e.RetryAfter > 0:
		return int((e.RetryAfter + time.Second - 1) / time.Second)
	case e.Code == rule.StoreOffline:
		return 5
	}
	return 1
}
