package expression

import (
	"regexp"
	"strings"
)

// What the expression library says about Go's types, in the words of a scenario.

var (
	notText   = regexp.MustCompile(`^interface conversion: interface \{\} is (.+), not (?:string|\[\]uint8)$`)
	noField   = regexp.MustCompile(`^cannot fetch (\w+) from (.+)$`)
	wantsText = regexp.MustCompile(`^reflect: Call using (.+) as type string`)
)

// plainly translates a message.
func plainly(message string) string {
	if m := notText.FindStringSubmatch(message); m != nil {
		return kindOf(m[1]) + " can't be searched like text; write json(...) around it"
	}
	if m := noField.FindStringSubmatch(message); m != nil {
		return kindOf(m[2]) + " has no field " + m[1]
	}
	if message == "invalid operation: int(string)" {
		return "text has no fields"
	}
	return message
}

// plainCall is plainly for what the library says about a call.
func plainCall(message, src string) string {
	switch m := wantsText.FindStringSubmatch(message); {
	case m != nil:
		return kindOf(m[1]) + " can't be an argument here, only text"
	case message == "invalid operation: int(string)" && strings.Contains(src, ".."):
		return "text can't be the end of a range, only a whole number"
	}
	return plainly(message)
}

// kindOf names a Go type.
func kindOf(goType string) string {
	switch {
	case strings.HasPrefix(goType, "map"):
		return "an object"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "float") || strings.HasPrefix(goType, "int"):
		return "a number"
	case goType == "bool":
		return "true or false"
	case goType == "<nil>" || goType == "nil":
		return "null"
	}
	return "text"
}
