package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// silentTry bounds one attempt.
const silentTry = 5 * time.Second

// Silent says which of several addresses answers nothing at all, and why in the network's words, if that is still so after a
// while: a process that is being restarted answers again soon. Any answer will do. It returns "" if all of them answer.
// TimedOut tells one that may only be busy from one that isn't there.
func Silent(ctx context.Context, via http.RoundTripper, bases []string, within time.Duration) (base string, err error) {
	web := &http.Client{Transport: via, Timeout: silentTry}
	for _, base := range bases {
		for began := clock.Mono(); ; {
			if _, err = Send(ctx, web, http.MethodGet, base+"/livez", nil, nil); err == nil {
				break
			}
			if call, ok := errors.AsType[*url.Error](err); ok {
				err = call.Err
			}
			if clock.Mono()-began > within || ctx.Err() != nil || Pause(ctx, 200*time.Millisecond) != nil {
				return base, err
			}
		}
	}
	return "", nil
}

// TimedOut reports whether a request ended because nobody answered it in time: the server may be busy, hang, or be cut off.
func TimedOut(err error) bool {
	late, ok := errors.AsType[net.Error](err)
	return ok && late.Timeout() || errors.Is(err, context.DeadlineExceeded)
}
