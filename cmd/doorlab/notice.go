package main

import (
	_ "embed"
	"io"

	"github.com/spf13/cobra"
)

// notice is made by tools/notice.
//
//go:embed NOTICE
var notice string

func noticeCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "notice", Short: "Print the licences of the libraries in this program", Args: noArgs, Example: "  doorlab notice",
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(e.out, notice)
			return err
		},
	}
}
