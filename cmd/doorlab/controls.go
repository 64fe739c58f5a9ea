package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
)

// admitted checks that the target isn't one of the control APIs and, if there are several, that each takes its token:
// an error of a later call wouldn't say which one doesn't.
func (a *aim) admitted(ctx context.Context) error {
	if len(a.control) < 2 && !slices.Contains(a.control, a.http) {
		return nil
	}
	for i, base := range a.control {
		err := a.lab(i).Do(ctx, http.MethodGet, control.Prefix+"/clock", nil, nil)
		fail, refused := errors.AsType[*client.Error](err)
		switch {
		case err != nil && !refused:
			continue // whoever needs it says that it can't be reached
		case base == a.http && (!refused || fail.Status != http.StatusNotFound):
			return usagef("--target %s: this is the address of a control API; pass the one that the server printed as http", base)
		case !refused:
			continue
		}
		if x, ours := errors.AsType[exit](callError(err)); ours {
			return exit{x.code, "--control " + base + ": " + x.msg}
		}
	}
	return nil
}

// serverFirst puts the server's control API, the one that knows the places, in front.
func (a *aim) serverFirst(ctx context.Context) error {
	for i := range a.control {
		_, err := a.lab(i).Places(ctx)
		var fail *client.Error
		switch {
		case err == nil:
			a.control[0], a.control[i] = a.control[i], a.control[0]
			a.tokens[0], a.tokens[i] = a.tokens[i], a.tokens[0]
			return nil
		case errors.Is(err, client.ErrForeign), errors.Is(err, client.ErrUnfit):
		case !errors.As(err, &fail) || fail.Status != http.StatusNotFound:
			return callError(err)
		}
	}
	return usagef("--control: %s: none is a server's control API; add the address that up or serve printed as control", strings.Join(a.control, ", "))
}
