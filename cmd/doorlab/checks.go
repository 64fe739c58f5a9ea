package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/scenarios/engine"
	"github.com/doorlab/doorlab/testbed"
)

func listCommand(e *env) *cobra.Command {
	pick := &selection{repeat: 1}
	c := &cobra.Command{
		Use:   "list [NAME|FILE|DIR...]",
		Short: "List scenarios with their labels and guarantees",
		Example: `  doorlab check list
  doorlab check list --clause OFF-2`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := pick.check(); err != nil {
				return err
			}
			pick.from = e.from
			files, err := interruptible(c.Context(), func() ([]*engine.File, error) { return pick.files(args) })
			if err != nil {
				return err
			}
			for _, f := range files {
				name := f.Doc.Name
				if len(f.Doc.Labels) > 0 {
					name += " [" + strings.Join(f.Doc.Labels, " ") + "]"
				}
				fmt.Fprintf(e.out, "%-24s %s\n%24s %s\n", f.Base(), name, "", strings.Join(f.Clauses(), " "))
			}
			fmt.Fprintln(e.out, amount.Many(len(files), "scenario"))
			return nil
		},
	}
	pick.filters(c)
	return c
}

func lintCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE|DIR...",
		Short: "Look for mistakes in scenario files without running them",
		Example: `  doorlab check lint my-outage.yaml
  doorlab check lint scenarios/`,
		Args: takes("scenario files or directories", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			files, err := interruptible(c.Context(), func() ([]*engine.File, error) { return scenarioFiles(args, nil) })
			if err != nil {
				return err
			}
			if err := promised(files); err != nil {
				return fileError(err)
			}
			fmt.Fprintf(e.out, "no mistakes in %s\n", amount.Many(len(files), "scenario file"))
			return nil
		},
	}
}

// promised holds what files expect of answers against the documents that our server publishes.
func promised(files []*engine.File) error {
	c, err := testbed.Contract()
	if err != nil {
		return err
	}
	var wrong engine.Problems
	for _, f := range files {
		if of, ok := errors.AsType[engine.Problems](f.Promised(c)); ok {
			wrong = append(wrong, of...)
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

func newCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "new NAME",
		Short:   "Write a scenario to start from, NAME.yaml",
		Example: `  doorlab check new my-outage`,
		Args:    takes("one name", cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			path := strings.TrimSuffix(args[0], ".yaml") + ".yaml"
			title := strings.TrimSpace(separators.ReplaceAllString(strings.TrimSuffix(filepath.Base(path), ".yaml"), " "))
			if title == "" {
				return usagef("%q is not a valid name: the file needs one, as in my-outage", args[0])
			}
			text := fmt.Sprintf(template, title)
			if f, err := engine.Parse(path, []byte(text)); err != nil || f.Doc.Name != title { // YAML reads more in it
				text = fmt.Sprintf(template, strconv.Quote(title))
			}
			if err := writeNew(path, text); err != nil {
				return err
			}
			fmt.Fprintf(e.out, "%s: run it with doorlab check %s\n", path, quoted(path))
			return nil
		},
	}
}

var separators = regexp.MustCompile(`[-_]+`)

// template is a small scenario that passes: a permit, an outage, an entry in it.
const template = `# yaml-language-server: $schema=doorlab.schema.json
# 'doorlab schema > doorlab.schema.json' makes the schema for your editor.
name: %s
description: A customer with a permit enters while the board is offline.
clauses: [OFF-1]
setup:
  - cohort: {name: store, boards: 1}
  - permit: {person: ann, place: store}
  - synced: {of: store}
steps:
  - fault: {fault: offline, name: cut, of: store}
  - boards: {of: store, all: not online}
    eventually: true
  - clock: {advance: 1h}
  - name: an hour later she still gets in, by what the board knows
    present: {person: ann, door: store, result: opened}
    clauses: [OFF-1]
  - clear: cut
  - name: the board is back and in sync
    synced: {of: store}
`
