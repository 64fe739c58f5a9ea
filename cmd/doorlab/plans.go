package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/loadtest"
)

// planCommands are for those who look for a load plan, or write one.
func planCommands(e *env) []*cobra.Command {
	var from string
	list := &cobra.Command{
		Use: "list", Short: "List the built-in load plans with what they are for", Example: "  doorlab load list", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, name := range loadtest.Embedded() {
				p, err := loadtest.Load("plans/" + name + ".yaml")
				if err != nil {
					return failf("%s", err)
				}
				fmt.Fprintf(e.out, "%-14s %s\n", name, p.Description)
			}
			return nil
		},
	}
	write := &cobra.Command{
		Use: "new NAME", Short: "Write a load plan to start from, NAME.yaml",
		Example: `  doorlab load new evening
  doorlab load new my-search --from search`,
		Args: takes("one name", cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			path := strings.TrimSuffix(args[0], ".yaml") + ".yaml"
			name := strings.TrimSuffix(filepath.Base(path), ".yaml")
			if !planName.MatchString(name) {
				return usagef("%q is not a valid name: use only letters, digits, - and _", args[0])
			}
			text, err := loadtest.Source(from)
			if err != nil {
				return usagef("--from: %s", err)
			}
			if err := writeNew(path, fmt.Sprintf(planHead, strings.Replace(text, "name: "+from+"\n", "name: "+name+"\n", 1))); err != nil {
				return err
			}
			fmt.Fprintf(e.out, "%s: run it with doorlab load %s\n", path, quoted(path))
			return nil
		},
	}
	write.Flags().StringVar(&from, "from", "door-commands", "the built-in `plan` to copy; see load list")
	return []*cobra.Command{list, write}
}

var planName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// planHead comes before a plan to start from.
const planHead = `# yaml-language-server: $schema=plan.schema.json
# 'doorlab schema plan > plan.schema.json' makes the schema for your editor.
%s`
