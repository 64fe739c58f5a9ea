package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/testbed"
)

// renewable are the secrets that renew can replace.
var renewable = []string{"keys", "boards", "links"}

func renewCommand(e *env) *cobra.Command {
	var data, out string
	c := &cobra.Command{
		Use:   "renew keys|boards|links...",
		Short: "Replace all API keys, board passwords or entry links of a data directory",
		Long: `Replaces every valid API key with one that has the same place, name and scopes, every
board's password, or every permit's entry link. It works on the data directory, whether or
not a server is running on it; the old secrets stop working within 5 s. The new keys and
passwords are shown only once. Partners read the new links from their permits.`,
		Example: `  doorlab renew keys boards --data /var/lib/doorlab --out renewed.txt
  doorlab renew links --data /var/lib/doorlab`,
		ValidArgs: renewable,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := renewal(args)
			if err != nil {
				return err
			}
			if data == "" {
				return usagef("renew: --data is missing; give the server's data directory")
			}
			if err := dataThere(data); err != nil {
				return err
			}
			return renew(e, data, out, r)
		},
	}
	c.Flags().StringVar(&data, "data", "", "the server's data directory")
	c.Flags().StringVar(&out, "out", "", "write the new keys and passwords to this new file, which only you can read, instead of stdout")
	return c
}

// renewal is what the arguments ask for.
func renewal(args []string) (r testbed.Renewal, err error) {
	if len(args) == 0 {
		return r, usagef("renew: name what to replace: keys, boards, links, or several of them")
	}
	asks := map[string]*bool{"keys": &r.Keys, "boards": &r.Boards, "links": &r.Links}
	for _, a := range args {
		if asks[a] == nil {
			return r, usagef("renew: %q must be one of keys, boards, links%s", a, near.Hint(a, renewable))
		}
		*asks[a] = true
	}
	return r, nil
}

func renew(e *env, data, out string, r testbed.Renewal) (err error) {
	show, done, err := shown(e.out, out)
	if err != nil {
		return err
	}
	r.Key = func(placeID, name, oldID, newID, apiKey string) error {
		return show("%s %s of %s replaces %s (%s)\n", newID, apiKey, placeID, oldID, name)
	}
	r.Board = func(boardID, password string) error { return show("%s %s\n", boardID, password) }
	n, err := testbed.Renew(data, r)
	if n != (testbed.Renewed{}) {
		fmt.Fprintf(e.err, "Renewed: keys %d, boards %d, links %d. Save the new secrets now: they are not shown again.\n", n.Keys, n.Boards, n.Links)
	}
	switch err = errors.Join(err, done()); {
	case errors.Is(err, datadir.ErrIncomplete):
		return failf("%s", reason(err))
	case err != nil:
		return failf("%s; renewing again is safe", reason(err))
	}
	return nil
}

// shown is where the new secrets go: a new file, on disk line by line, or stdout.
func shown(stdout io.Writer, path string) (show func(format string, args ...any) error, done func() error, err error) {
	if path == "" {
		return func(format string, args ...any) error { _, err := fmt.Fprintf(stdout, format, args...); return err }, func() error { return nil }, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil, usagef("--out %s already exists; name a new file", path)
	}
	if err != nil {
		return nil, nil, failf("--out: %s", reason(err))
	}
	empty := true
	show = func(format string, args ...any) error {
		empty = false
		_, err := fmt.Fprintf(f, format, args...)
		return errors.Join(err, f.Sync()) // before the old one ends
	}
	done = func() error {
		err := f.Close()
		if empty {
			err = errors.Join(err, os.Remove(path))
		}
		return err
	}
	return show, done, nil
}
