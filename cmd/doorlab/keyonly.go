package main

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/world"
)

// fromKeys learns the places from their keys: all that works without a control API.
func (a *aim) fromKeys(ctx context.Context, keys []string) error {
	c := client.Client{Base: a.http, HTTP: a.web}
	for _, k := range keys {
		token, placeID, err := c.Exchange(ctx, k)
		for try, limited := 0, (*client.Limited)(nil); try < 3 && errors.As(err, &limited) && client.Pause(ctx, limited.After) == nil; try++ {
			token, placeID, err = c.Exchange(ctx, k)
		}
		if err != nil {
			if fail, ok := errors.AsType[*client.Error](err); ok && fail.Status == http.StatusUnauthorized {
				return usagef("--key: the target rejects the API key that ends in %q: it may be revoked, or belong to another server; pass a valid one", k[max(0, len(k)-4):])
			}
			return targetError(a.http, err)
		}
		if by, known := client.Ahead(token, clock.WallNow()); known && by.Abs() > a.ahead.Abs() {
			a.ahead = by
		}
		kind := world.Live
		if strings.HasPrefix(k, "sact_") {
			kind = world.Test
		}
		a.places = append(a.places, client.Place{PlaceID: placeID, Name: placeID, Kind: kind, APIKey: &k})
	}
	return nil
}

// targetError is callError for the API's own address.
func targetError(base string, err error) error {
	fail, answered := errors.AsType[*client.Error](err)
	switch {
	case errors.Is(err, client.ErrUnreachable):
		return exit{codeUnreachable, "--target: " + err.Error() + "; " + tlsHint(err, "is the server running there?")}
	case errors.Is(err, client.ErrForeign), errors.Is(err, client.ErrUnfit), answered && fail.Status < 500 && (fail.Code == "" || fail.Status == http.StatusNotFound):
		return usagef("--target %s: this isn't the base address of the API, to which paths such as /core/v1/... are appended", base)
	}
	return callError(err)
}
