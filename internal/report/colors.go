package report

import (
	"regexp"
	"strings"

	"github.com/doorlab/doorlab/internal/judge"
)

// Colors writes terminal colours or, as Plain, none. A colour never says more than the word beside it.
type Colors bool

// With colours and without.
const (
	Plain   Colors = false
	Colored Colors = true
)

var codes = map[judge.Status]string{judge.Pass: "32", judge.Fail: "1;31", judge.Blocked: "33", judge.Invalid: "35", judge.Skipped: "2"}

func (c Colors) paint(code, text string) string {
	if !c || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Status is a verdict padded to the longest.
func (c Colors) Status(s judge.Status) string {
	return c.paint(codes[s], string(s)) + strings.Repeat(" ", max(0, len(judge.Invalid)-len(s)))
}

func (c Colors) dim(text string) string { return c.paint("2", text) }

func (c Colors) bold(text string) string { return c.paint("1", text) }

// first colours the verdict that a line begins with.
func (c Colors) first(s judge.Status, line string) string {
	return c.paint(codes[s], string(s)) + strings.TrimPrefix(line, string(s))
}

// verdicts are those between the dots of a ledger's line.
var verdicts = regexp.MustCompile(`· (PASS|FAIL|BLOCKED|INVALID|SKIPPED) `)

func (c Colors) words(text string) string {
	if !c {
		return text
	}
	return verdicts.ReplaceAllStringFunc(text, func(s string) string {
		word := strings.TrimSuffix(strings.TrimPrefix(s, "· "), " ")
		return "· " + c.paint(codes[judge.Status(word)], word) + " "
	})
}
