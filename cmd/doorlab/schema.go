package main

import (
	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// schemas are the formats that doorlab describes.
var schemas = map[string]func() ([]byte, error){"scenario": engine.Schema, "report": report.Schema}

func schemaCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [scenario|report]",
		Short: "Print the JSON Schema of scenario files, or of verdicts.json",
		Example: `  doorlab schema > doorlab.schema.json
  # then, as the first line of a scenario: # yaml-language-server: $schema=doorlab.schema.json
  doorlab schema report                           # of the verdicts.json that check writes`,
		ValidArgs: []string{"scenario", "report"},
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usagef("schema takes one name: scenario (the default) or report")
			case len(args) == 1 && schemas[args[0]] == nil:
				return usagef("%q has no schema%s; valid: scenario, report", args[0], near.Hint(args[0], []string{"scenario", "report"}))
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
