package scenario

import (
	"fmt"
	"sort"
	"strings"

	"github.com/doorlab/doorlab/internal/near"
)

// Problem is one fault of a scenario file.
type Problem struct {
	File      string `json:"file"`
	Line, Col int
	Message   string `json:"message"`
	Source    string `json:"source,omitempty"` // the line it is in
}

// Error is file:line:column: message, the line and a caret.
func (p Problem) Error() string {
	out := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
	if p.Source != "" {
		pad := strings.Map(func(r rune) rune {
			if r == '\t' {
				return r
			}
			return ' '
		}, runes(p.Source, p.Col-1))
		out += fmt.Sprintf("\n    %s\n    %s^", p.Source, pad)
	}
	return out
}

// runes returns the first n characters, padded.
func runes(s string, n int) string {
	r := []rune(s)
	if n <= len(r) {
		return string(r[:max(n, 0)])
	}
	return s + strings.Repeat(" ", n-len(r))
}

// Problems are all faults of a set of files: exit code 3.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// place sorts problems and gives each its file and line.
func (ps Problems) place(file string, source []byte) Problems {
	lines := strings.Split(string(source), "\n")
	for i := range ps {
		ps[i].File = file
		if n := ps[i].Line; n >= 1 && n <= len(lines) {
			ps[i].Source = strings.TrimRight(lines[n-1], "\r")
		}
	}
	sort.SliceStable(ps, func(i, j int) bool {
		if ps[i].Line != ps[j].Line {
			return ps[i].Line < ps[j].Line
		}
		return ps[i].Col < ps[j].Col
	})
	return ps
}

// nearestHint proposes the valid name that looks most like a wrong one, or
// lists them when none does and they are few.
func nearestHint(wrong string, names []string) string {
	if hint := near.Hint(wrong, names); hint != "" || len(names) == 0 || len(names) > 12 {
		return hint
	}
	return ", valid: " + strings.Join(names, " ")
}
