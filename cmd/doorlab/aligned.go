package main

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// aligned are rows as lines, their cells aligned. A Korean letter is as wide as two others.
func aligned(rows [][]string) (lines []string) {
	var widths []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(cell))
		}
	}
	for _, r := range rows {
		var line strings.Builder
		for i, cell := range r {
			line.WriteString(cell)
			if i < len(r)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-text.StringWidthWithoutEscSequences(cell)+2))
			}
		}
		lines = append(lines, line.String())
	}
	return lines
}
