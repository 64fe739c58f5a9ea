package api

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/fail"
)

// failureOf is the body of a failed request: a Failure, the same in all three documents, with two more fields on legacy
// paths.
func failureOf(e *fail.Error, legacy bool) any {
	plain := gen.Failure{Error: e.Code, Message: e.Message, StatusCode: e.Status(), Details: e.Details}
	if !legacy {
		return plain
	}
	f := gen.LegacyFailure{Failure: plain, Reason: e.Code, Detail: e.Message} // [LEG-1]
	if r, ok := e.Details["reason"].(string); ok {
		f.Reason = r
	}
	return f
}

// errorOf is an error as the caller sees it. An error that isn't a *fail.Error is a bug of ours: it is logged, and the
// caller gets no details.
func (a *api) errorOf(c *call, err error) *fail.Error {
	var e *fail.Error
	switch {
	case errors.As(err, &e) && e.Status() != 0:
		return e
	case a.cfg.Unavailable != nil && a.cfg.Unavailable(err):
		if now, last := clock.Mono(), a.said.Load(); last == 0 || now-time.Duration(last) >= time.Second { // once a second at most: a full disk must not flood the log
			a.said.Store(int64(now))
			a.log(c, slog.LevelError, "storage unavailable", "error", err)
		}
		return fail.New(fail.StorageUnavailable, "the storage is not available; try again")
	}
	a.log(c, slog.LevelError, "internal error", "error", err)
	return internalError()
}

func internalError() *fail.Error {
	return fail.New(fail.InternalError, "internal error; include the X-Request-Id when you report it")
}

// errorHeaders sets the headers of a failure.
func errorHeaders(h http.Header, e *fail.Error, scope string) {
	switch status := e.Status(); {
	case e.Code == fail.TokenMissing:
		h.Set("WWW-Authenticate", `Bearer realm="store-access"`)
	case e.Code == fail.InvalidAPIKey: // RFC 9110: no 401 without a challenge; not Bearer, because no token helps here
		h.Set("WWW-Authenticate", `ApiKey realm="store-access"`)
	case status == 401: // RFC 6750
		h.Set("WWW-Authenticate", `Bearer realm="store-access", error="invalid_token", error_description="`+e.Message+`"`)
	case e.Code == fail.ScopeMissing:
		h.Set("WWW-Authenticate", `Bearer realm="store-access", error="insufficient_scope", scope="`+scope+`"`)
	case status == 429 || status == 503:
		h.Set("Retry-After", strconv.Itoa(retrySeconds(e)))
	}
}

// retrySeconds rounds up, so that a caller who waits that long is let in.
func retrySeconds(e *fail.Error) int {
	switch {
	case e.RetryAfter > 0:
		return int((e.RetryAfter + time.Second - 1) / time.Second)
	case e.Code == fail.StoreOffline:
		return 5
	}
	return 1
}
