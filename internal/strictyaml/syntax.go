package strictyaml

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// What is wrong with a file that is not YAML at all, and what to do about it, in place of the parser's own words.

// phrases are the beginnings of the parser's messages, the more specific ones first.
var phrases = []struct{ parser, ours string }{
	{"value is not allowed in this context. map key-value is pre-defined", "no value can stand here: put quotes around the whole text, or a colon after the key above"},
	{"value is not allowed in this context", "this line fits nothing above it: items of a list, and keys of a mapping, begin in the same column"},
	{"non-map value is specified", "a list can't begin here: check the indentation"},
	{"mapping value is not allowed in this context", `a second ": " in one value: put quotes around text that contains it, and check the indentation of the next line`},
	{"could not find end character of double-quoted text", `the closing " is missing`},
	{"could not find end character of single-quoted text", "the closing ' is missing"},
	{"could not find flow mapping end token", "the closing } is missing"},
	{"sequence end token ']' not found", "the closing ] is missing"},
	{"',' or '}' must be specified", "a comma or the closing } is missing before this (between { and }, put quotes around text with brackets, braces or commas)"},
	{"',' or ']' must be specified", "a comma or the closing ] is missing before this (between [ and ], put quotes around text with brackets, braces or commas)"},
	{"unexpected key name", `a colon is missing: write "key: value"`},
	{"undefined anchor value", "put quotes around text that begins with &"},
	{"invalid header option", "put quotes around text that begins with > or |"},
}

// syntax explains a message of the parser.
func syntax(message string, at *token.Token) string {
	if strings.Contains(message, "\t") || strings.Contains(message, "tab character") {
		return "tabs aren't allowed here: indent with spaces"
	}
	if sign, ok := strings.CutSuffix(message, " is a reserved character"); ok {
		return "text can't begin with " + strings.Trim(sign, "'") + ": put it in quotes"
	}
	if at != nil && strings.HasPrefix(message, phrases[1].parser) {
		switch text := strings.TrimSpace(at.Value); {
		case strings.HasPrefix(text, "}"), strings.HasPrefix(text, "]"):
			return "nothing is open that this " + text[:1] + " could close"
		case strings.HasPrefix(text, ","):
			return "nothing can follow the closing } or ] on its line"
		}
	}
	for _, p := range phrases {
		if strings.HasPrefix(message, p.parser) {
			return p.ours
		}
	}
	return message
}

var unspaced = regexp.MustCompile(`^\w+:\S`)

// nospace says that a text would be a mapping with a space after its colon, "" otherwise.
func nospace(n ast.Node) string {
	if s, ok := n.(*ast.StringNode); ok && !quoted(s.GetToken()) && unspaced.MatchString(s.Value) {
		return ": a space is missing after the colon"
	}
	return ""
}
