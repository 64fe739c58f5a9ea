package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// silentTry bounds one attempt: a process that takes longer for its /livez answers nobody.
const silentTry = 5 * time.Second

// Silent says which of several addresses answers nothing at all, and why in the network's words, if that is still so after a
// while: a process that is being restarted answers again soon. Any answer will do. It returns "" if all of them answer.
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
