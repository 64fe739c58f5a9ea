package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/testbed"
)

// keysFlags name the control API of the running server that holds the keys.
type keysFlags struct {
	control, token, tokenFile, data string
	trust                           trust
}

func (f *keysFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.control, "control", "http://127.0.0.1:8081", "control API of the running server")
	c.Flags().StringVar(&f.token, "control-token", "", "bearer token of the control API, as printed by the server")
	c.Flags().StringVar(&f.tokenFile, "control-token-file", "", tokenFileUsage)
	f.trust.add(c)
}

func (f *keysFlags) addData(c *cobra.Command) {
	c.Flags().StringVar(&f.data, "data", "", "work on this data directory instead, whether or not its server is running")
}

func (f *keysFlags) client() (client.Client, error) {
	token, err := secretOf(f.token, f.tokenFile)
	if err != nil {
		return client.Client{}, err
	}
	base := baseURL(f.control)
	if err := serverURL("control", base); err != nil {
		return client.Client{}, err
	}
	hc, err := f.trust.http()
	return client.Client{Base: base, Token: token, HTTP: hc}, err
}

// open is the control API of the server, or that of the data directory beside it; stop ends it.
func (f *keysFlags) open() (c client.Client, stop func() error, err error) {
	if f.data != "" {
		return beside(f.data)
	}
	c, err = f.client()
	return c, func() error { return nil }, err
}

// beside is the control API of a data directory, see testbed.Beside.
func beside(data string) (client.Client, func() error, error) {
	if err := dataThere(data); err != nil {
		return client.Client{}, nil, err
	}
	c, stop, err := testbed.Beside(data)
	if err != nil {
		return c, nil, failf("--data: %s", reason(err))
	}
	return c, stop, nil
}

// dataThere checks that there is a directory at all.
func dataThere(data string) error {
	info, err := os.Stat(data)
	if err == nil && !info.IsDir() {
		err = &os.PathError{Path: data, Err: errors.New("not a directory")}
	}
	return trouble("--data", err)
}

func keysCommand(e *env) *cobra.Command {
	return group("keys", "Create, list and revoke API keys", `  export DOORLAB_CONTROL_TOKEN=...              # printed when the server is ready
  doorlab keys list
  doorlab keys create --place Gangnam --name reader --scope space:partner
  doorlab keys revoke key_...`,
		keysCreate(e), keysList(e), keysRevoke(e))
}

func keysCreate(e *env) *cobra.Command {
	var place, name string
	var scopes []string
	var sim bool
	return besideCommand(e, "create", "Create a key (shown only once)", `  doorlab keys create --place plc_...                             # both scopes
  doorlab keys create --place plc_... --name reader --scope space:partner`, "no arguments",
		func(l labCall, _ []string) error {
			if place == "" {
				return usagef("keys create: --place is missing; 'doorlab place list' shows the places")
			}
			var out struct{ KeyID, APIKey string }
			placeID := l.place(place)
			if sim {
				l.simulates(placeID)
			}
			body := map[string]any{"placeId": placeID, "name": name, "scopes": scopes, "sim": sim}
			if err := l.do(http.MethodPost, "/keys", body, &out, func() { fmt.Fprintf(l.out, "%s %s\n", out.KeyID, out.APIKey) }); err != nil {
				return err
			}
			fmt.Fprintln(l.err, "Save the key now: it is not shown again.")
			return nil
		}, func(c *cobra.Command) {
			c.Flags().StringVar(&place, "place", "", "id or name of the place")
			c.Flags().StringVar(&name, "name", "key", "name of the key, as shown in entry records")
			c.Flags().StringSliceVar(&scopes, "scope", []string{"space:partner", "device:door"}, "scopes of the key")
			c.Flags().BoolVar(&sim, "sim", false, `let the key simulate outcomes with "sim:" reasons (test places only)`)
		})
}

// simulates refuses --sim for a live place: the key would be made, and the place would ignore it. Beside a stopped server,
// nobody knows what kind a place is.
func (l labCall) simulates(placeID string) {
	list, err := l.Places(l.c.Context())
	if err != nil {
		return
	}
	tests, live := []string{}, ""
	for _, p := range list {
		switch {
		case p.Kind == "test":
			tests = append(tests, p.Name)
		case p.PlaceID == placeID:
			live = p.Name
		}
	}
	if live == "" {
		return
	}
	instead := "leave out --sim"
	if len(tests) > 0 {
		instead += ", or give --place " + strconv.Quote(tests[0])
	}
	*l.failed = usagef("keys create: --sim works in test places only, and %s is a live place; %s", live, instead)
}

func keysList(e *env) *cobra.Command {
	var place string
	return besideCommand(e, "list", "List keys, without their secrets", `  doorlab keys list
  doorlab keys list --place plc_... --control http://127.0.0.1:8081`, "no arguments",
		func(l labCall, _ []string) error {
			var keys []control.Key
			return l.do(http.MethodGet, "/keys?"+query(map[string]string{"placeId": l.place(place)}).Encode(), nil, &keys, func() {
				names := l.names()
				l.list("KEY PLACE NAME SCOPES REVOKED", each.Of(keys, func(k control.Key) []string {
					return []string{k.KeyID, names.of(k.PlaceID), k.Name, strings.Join(k.Scopes, ","), orElse(k.RevokedAt, "-")}
				}), "No keys.")
			})
		}, func(c *cobra.Command) {
			c.Flags().StringVar(&place, "place", "", "show only the keys of this place (id or name)")
		})
}

func keysRevoke(e *env) *cobra.Command {
	return besideCommand(e, "revoke KEY_ID", "Revoke a key; its tokens stop within 5 s", "  doorlab keys revoke key_...", "one key id; 'doorlab keys list' shows them",
		func(l labCall, args []string) error {
			return l.do(http.MethodDelete, "/keys/"+url.PathEscape(args[0]), nil, nil, func() { fmt.Fprintln(l.out, args[0], "revoked") })
		})
}

// callError turns a client's error into an exit; nil stays nil.
func callError(err error) error {
	fail, answered := errors.AsType[*client.Error](err)
	_, ours := errors.AsType[exit](err)
	switch {
	case err == nil, ours:
		return err
	case errors.Is(err, context.Canceled):
		return exit{codeInterrupted, "interrupted"}
	case errors.Is(err, client.ErrUnreachable):
		hint := "is the server running there?"
		if strings.Contains(err.Error(), control.Prefix+"/") {
			hint += " If it runs elsewhere, pass its control address with --control"
		}
		return exit{codeUnreachable, err.Error() + "; " + tlsHint(err, hint)}
	case answered && fail.Status == http.StatusUnauthorized:
		return usagef("the control token is wrong or missing: pass --control-token or set DOORLAB_CONTROL_TOKEN to the token that the server printed")
	case errors.Is(err, client.ErrForeign), errors.Is(err, client.ErrUnfit), answered && fail.Status < 500 && fail.Code == "",
		answered && fail.Status == http.StatusNotFound && fail.Message == "no such path": // a control API names the path
		return usagef("this isn't the address of a control API: pass --control with the one that the server printed as control")
	case answered && fail.Status == http.StatusNotFound && strings.HasPrefix(fail.Message, "no such path: "):
		return usagef("%s; if this is the control API of 'doorlab boards', pass --control with the server's", fail.Message)
	case answered && fail.Status < 500:
		return usagef("%s", fail.Message)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return exit{codeUnreachable, err.Error()}
	}
	return failf("%s", err)
}
