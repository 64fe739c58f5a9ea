package main

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes what `make dist` ships.
func manCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the man pages into a directory", Hidden: true,
		Args: takes("one directory", cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return failf("%s", reason(err))
			}
			root := newRoot(e)
			root.DisableAutoGenTag = true
			root.CompletionOptions.DisableDefaultCmd = true
			manual := &doc.GenManHeader{Title: "DOORLAB", Section: "1", Source: "doorlab " + version(), Manual: "doorlab"} // dated SOURCE_DATE_EPOCH
			if err := doc.GenManTree(root, manual, args[0]); err != nil {
				return failf("%s", reason(err))
			}
			pages, err := fs.Glob(os.DirFS(args[0]), "doorlab*.1")
			if err != nil {
				return failf("%s", err)
			}
			fmt.Fprintf(e.out, "%d pages in %s\n", len(pages), args[0])
			return nil
		},
	}
}
