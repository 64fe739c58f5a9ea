package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/world"
)

func worldCommand(e *env) *cobra.Command {
	return group("world", "Write a world file to start from, or look for mistakes in one", `  doorlab world init stores.yaml
  doorlab world lint stores.yaml
  doorlab up --world stores.yaml`,
		&cobra.Command{
			Use: "init FILE", Short: "Write a world file to start from", Example: "  doorlab world init stores.yaml",
			Args: takes("one file", cobra.ExactArgs(1)),
			RunE: func(_ *cobra.Command, args []string) error {
				if err := writeNew(args[0], world.Example); err != nil {
					return err
				}
				fmt.Fprintf(e.out, "%s: try it with doorlab up --world %s\n", args[0], quoted(args[0]))
				return nil
			},
		},
		&cobra.Command{
			Use: "lint FILE...", Short: "Look for mistakes in world files without starting anything", Example: "  doorlab world lint stores.yaml",
			Args: takes("world files", cobra.MinimumNArgs(1)),
			RunE: func(c *cobra.Command, args []string) error {
				var wrong []string
				for _, file := range args {
					w, err := interruptible(c.Context(), func() (*world.World, error) { return world.Load(file, 0) })
					if _, ours := errors.AsType[exit](err); ours {
						return err
					}
					if err != nil {
						wrong = append(wrong, mistakesIn(err))
						continue
					}
					boards, doors := 0, 0
					for _, p := range w.Places {
						boards += len(p.Boards)
						for _, b := range p.Boards {
							doors += len(b.Doors)
						}
					}
					fmt.Fprintf(e.out, "%s: %s, %s, %s\n", file, amount.Many(len(w.Places), "place"), amount.Many(boards, "board"), amount.Many(doors, "door"))
				}
				if len(wrong) > 0 {
					return usagef("%s", strings.Join(wrong, "\n"))
				}
				return nil
			},
		})
}

// writeNew writes a file that isn't there yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return usagef("%s already exists; choose another name, or delete it first", path)
	case err != nil:
		return failf("%s", reason(err))
	}
	if _, err := f.WriteString(text); err != nil {
		return failf("%s", errors.Join(err, f.Close()))
	}
	if err := f.Close(); err != nil {
		return failf("%s", reason(err))
	}
	return nil
}
