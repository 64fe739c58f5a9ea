package engine

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/doorlab/doorlab/internal/report"
)

// progress writes live lines.
type progress struct {
	mu      sync.Mutex
	w       io.Writer
	verbose bool
	colors  report.Colors
}

func (p *progress) line(format string, args ...any) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// tried is added to the depth of steps that are retried: only their end is reported.
const tried = 1000

// step reports a finished step.
func (p *progress) step(depth int, s *StepResult) {
	if depth >= tried || s.Status == "PASS" && !p.verbose && depth > 0 {
		return
	}
	detail := s.Detail
	if s.Status != "PASS" && detail != "" {
		detail = "\n      " + strings.ReplaceAll(detail, "\n", "\n      ")
	} else if detail != "" {
		detail = "  " + detail
	}
	p.line("  %s %s%s  %.2fs%s", p.colors.Status(s.Status), strings.Repeat("  ", depth), s.Name, s.Seconds, detail)
}
