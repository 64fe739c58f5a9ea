package strictyaml

import (
	"fmt"
	"sort"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
)

// Problem is one mistake in a file.
type Problem struct {
	File      string `json:"file"`
	Line, Col int
	Message   string `json:"message"`
	Source    string `json:"source,omitempty"` // the line it is in
}

// Error is file:line:column: message, the line and a caret.
func (p Problem) Error() string {
	out := p.Short()
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

// Short is file:line:column: message.
func (p Problem) Short() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
}

// runes returns the first n characters, padded.
func runes(s string, n int) string {
	r := []rune(s)
	if n <= len(r) {
		return string(r[:max(n, 0)])
	}
	return s + strings.Repeat(" ", n-len(r))
}

// Problems are all mistakes in one or several files.
type Problems []Problem

func (ps Problems) Error() string {
	return strings.Join(each.Of(ps, Problem.Error), "\n")
}

// Short is a line per problem, without the source.
func (ps Problems) Short() string {
	return strings.Join(each.Of(ps, Problem.Short), "\n")
}

// Locate sorts problems and gives each its file and line.
func (ps Problems) Locate(file string, source []byte) Problems {
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
