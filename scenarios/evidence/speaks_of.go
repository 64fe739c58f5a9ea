package evidence

import (
	"net/http"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// What of an answer does an expectation speak of?

// aboutStatus are the names with which an expectation speaks of the status.
var aboutStatus = SetOf(`status statuses error message details outcome code body answers same`)

// SpeaksOfStatus reports whether an expectation is about the status of the answer; then it decides whether the answer
// must be a success.
func SpeaksOfStatus(e *expression.Expr) bool {
	for name := range e.Names {
		if aboutStatus[name] || name == "it" && speaksOfWhole(e) {
			return true
		}
	}
	return false
}

// speaksOfWhole reports whether what the expectation says of the whole result is about the status; it.ms isn't.
func speaksOfWhole(e *expression.Expr) bool {
	named := false
	for _, path := range e.Paths {
		parts := strings.SplitN(path, ".", 3)
		if parts[0] != "it" {
			continue
		}
		if named = true; len(parts) == 1 || aboutStatus[strings.TrimSuffix(parts[1], "?")] {
			return true
		}
	}
	return !named // it is inside a predicate
}

// alike are headers that a refusal has as well as a success: they don't show which it was.
var alike = SetOf(`Content-Type Content-Length Date Cache-Control Vary Server Connection X-Request-Id X-Place-Kind`)

// common reports whether a path such as ["Date"], ?.Date or nothing leads to such a header, or to all headers.
func common(path string) bool {
	name := strings.Trim(path, `[]"'?.`)
	return name == "" || alike[http.CanonicalHeaderKey(name)]
}

// SpeaksOfMore reports whether an expectation is about something that isn't known of an answer that wasn't given: a
// whole body, a header that not every answer has, or whether several answers are the same as a whole.
func SpeaksOfMore(e *expression.Expr) bool {
	for n := range e.Names {
		if n == "same" || n == "answers" && !onlyPartsOfAnswers(e) {
			return true
		}
	}
	return slices.ContainsFunc(e.Paths, func(p string) bool {
		name, ofHeader := strings.CutPrefix(p, "headers")
		return p == "body" || p == "it" || ofHeader && !common(name)
	})
}

// onlyPartsOfAnswers reports whether an expectation looks at fields that each of the single answers has, and at none of
// their bodies or headers as a whole. A field of something else (not (json(answers) contains ann.phone)) isn't such a part.
func onlyPartsOfAnswers(e *expression.Expr) bool {
	f := e.Mentions.Fields
	return slices.ContainsFunc(f, func(name string) bool { return slices.Contains(ofFirst, name) }) && !slices.Contains(f, "body") && !slices.Contains(f, "headers")
}

// RefersOnlyTo reports whether an expression refers only to fixed values: names, or parts of values such as ann.phone.
func RefersOnlyTo(e *expression.Expr, fixed map[string]bool) bool {
	for n := range e.Names {
		if !fixed[n] && !expression.Builtin(n) && !onlyFixedParts(e, n, fixed) {
			return false
		}
	}
	return true
}

// onlyFixedParts reports whether the expression uses only fixed parts of a value.
func onlyFixedParts(e *expression.Expr, name string, fixed map[string]bool) bool {
	parts := 0
	for _, path := range e.Paths {
		if root, _, _ := strings.Cut(path, "."); root != name {
			continue
		}
		if !fixed[path] {
			return false
		}
		parts++
	}
	return parts > 0
}
