package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/near"
)

// keysFlags say where the keys are: a running server's control API.
type keysFlags struct {
	control, token string
}

func (f *keysFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.control, "control", "http://127.0.0.1:8081", "control API of the running server")
	c.Flags().StringVar(&f.token, "control-token", "", "its bearer token, as the server printed it")
}

func (f *keysFlags) client() client.Client {
	return client.Client{Base: baseURL(f.control), Token: f.token}
}

// keyRow is a key as the control API lists it.
type keyRow struct {
	KeyID     string   `json:"keyId"`
	PlaceID   string   `json:"placeId"`
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	Sim       bool     `json:"sim"`
	CreatedAt string   `json:"createdAt"`
	RevokedAt *string  `json:"revokedAt"`
}

func keysCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Example: `  export DOORLAB_CONTROL_TOKEN=...              # from the ready line
  doorlab keys list
  doorlab keys create --place plc_... --name reader --scope space:partner
  doorlab keys revoke key_...`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("keys: unknown command %q%s ('doorlab keys --help' lists them)", args[0], near.Hint(args[0], commandNames(c)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(keysCreate(e), keysList(e), keysRevoke(e))
	return c
}

func keysCreate(e *env) *cobra.Command {
	f := &keysFlags{}
	var place, name string
	var scopes []string
	var sim bool
	c := &cobra.Command{
		Use: "create", Short: "Issue a key; it is shown once", Args: noArgs,
		Example: `  doorlab keys create --place plc_...                             # both scopes
  doorlab keys create --place plc_... --name reader --scope space:partner`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := settle(c, e); err != nil {
				return err
			}
			if place == "" {
				return usagef("keys create: --place is missing; 'doorlab keys list' shows the places")
			}
			var out struct{ KeyID, APIKey string }
			body := map[string]any{"placeId": place, "name": name, "scopes": scopes, "sim": sim}
			if err := f.client().Do(c.Context(), http.MethodPost, "/lab/v1/keys", body, &out); err != nil {
				return callError(err)
			}
			fmt.Fprintf(e.out, "%s %s\n", out.KeyID, out.APIKey)
			fmt.Fprintln(e.err, "Keep the key now: it is not shown again.")
			return nil
		},
	}
	f.add(c)
	c.Flags().StringVar(&place, "place", "", "place id")
	c.Flags().StringVar(&name, "name", "key", "what it is called in records")
	c.Flags().StringSliceVar(&scopes, "scope", []string{"space:partner", "device:door"}, "scopes")
	c.Flags().BoolVar(&sim, "sim", false, `allow "sim:" reasons at a test place`)
	return c
}

func keysList(e *env) *cobra.Command {
	f := &keysFlags{}
	var place string
	c := &cobra.Command{
		Use: "list", Short: "List keys, never the secrets", Args: noArgs,
		Example: `  doorlab keys list
  doorlab keys list --place plc_... --control http://127.0.0.1:8081`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := settle(c, e); err != nil {
				return err
			}
			var rows []keyRow
			if err := f.client().Do(c.Context(), http.MethodGet, "/lab/v1/keys?placeId="+url.QueryEscape(place), nil, &rows); err != nil {
				return callError(err)
			}
			w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "KEY\tPLACE\tNAME\tSCOPES\tREVOKED")
			for _, r := range rows {
				revoked := "-"
				if r.RevokedAt != nil {
					revoked = *r.RevokedAt
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.KeyID, r.PlaceID, r.Name, strings.Join(r.Scopes, ","), revoked)
			}
			return w.Flush()
		},
	}
	f.add(c)
	c.Flags().StringVar(&place, "place", "", "only this place's")
	return c
}

func keysRevoke(e *env) *cobra.Command {
	f := &keysFlags{}
	c := &cobra.Command{
		Use: "revoke KEY_ID", Short: "Revoke a key; its tokens stop within 5 s",
		Example: `  doorlab keys revoke key_...`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("keys revoke takes one key id; 'doorlab keys list' shows them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := settle(c, e); err != nil {
				return err
			}
			if err := f.client().Do(c.Context(), http.MethodDelete, "/lab/v1/keys/"+url.PathEscape(args[0]), nil, nil); err != nil {
				return callError(err)
			}
			fmt.Fprintln(e.out, args[0], "is revoked")
			return nil
		},
	}
	f.add(c)
	return c
}

// callError turns a client's error into an exit.
func callError(err error) error {
	var fail *client.Error
	switch {
	case errors.Is(err, context.Canceled):
		return exit{Interrupted, "interrupted"}
	case errors.Is(err, client.ErrUnreachable):
		return exit{Unreachable, err.Error() + "; is the server running there?"}
	case errors.As(err, &fail) && fail.Status == http.StatusUnauthorized:
		return usagef("the control token is wrong or missing: --control-token or %s, as the server printed it", "DOORLAB_CONTROL_TOKEN")
	case errors.As(err, &fail) && fail.Status < 500:
		return usagef("%s", fail.Message)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return exit{Unreachable, err.Error()}
	}
	return failf("%s", err)
}
