package cli

import "github.com/spf13/cobra"

func boardsCommand(e *env) *cobra.Command { return &cobra.Command{Use: "boards", Hidden: true} }
func checkCommand(e *env) *cobra.Command  { return &cobra.Command{Use: "check", Hidden: true} }
func loadCommand(e *env) *cobra.Command   { return &cobra.Command{Use: "load", Hidden: true} }
func schemaCommand(e *env) *cobra.Command { return &cobra.Command{Use: "schema", Hidden: true} }
