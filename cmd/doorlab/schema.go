package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/loadtest"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// schemas are the formats that doorlab describes.
var schemas = map[string]func() ([]byte, error){"scenario": engine.Schema, "report": report.Schema, "world": world.Schema, "plan": engine.PlanSchema, "load": loadtest.Schema}

var schemaNames = []string{"scenario", "world", "plan", "report", "load"}

func schemaCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [scenario|world|plan|report|load]",
		Short: "Print the JSON Schema of scenario files, world files, load plans, or what check and load write",
		Example: `  doorlab schema > doorlab.schema.json
  # then, as the first line of a scenario: # yaml-language-server: $schema=doorlab.schema.json
  doorlab schema world > world.schema.json
  doorlab schema report                           # for the verdicts.json that check writes; load: for result.json`,
		ValidArgs: schemaNames,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usagef("schema takes one name: %s", strings.Join(schemaNames, ", "))
			case len(args) == 1 && schemas[args[0]] == nil:
				return usagef("%q has no schema%s; valid: %s", args[0], near.Hint(args[0], schemaNames), strings.Join(schemaNames, ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := schemas[append(args, "scenario")[0]]()
			if err != nil {
				return failf("%s", err)
			}
			_, err = e.out.Write(append(b, '\n'))
			return err
		},
	}
}
