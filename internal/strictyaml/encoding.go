package strictyaml

import (
	"bytes"
	"unicode/utf8"
)

// mark is what some editors write at the beginning of a UTF-8 file. YAML allows it.
var mark = []byte("\xef\xbb\xbf")

// undecodable is the problem of a source that isn't UTF-8 text; nil if it is. It doesn't show the line, which a terminal
// couldn't.
func undecodable(name string, source []byte) error {
	at := func(i int, message string) error {
		before := source[:i]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		return Problems{{File: name, Line: bytes.Count(before, []byte("\n")) + 1, Col: utf8.RuneCount(line) + 1, Message: message}}
	}
	if bytes.HasPrefix(source, []byte("\xff\xfe")) || bytes.HasPrefix(source, []byte("\xfe\xff")) {
		return at(0, "the file is UTF-16; save it as UTF-8")
	}
	for i := 0; i < len(source); {
		r, size := utf8.DecodeRune(source[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return at(i, "the file isn't UTF-8 from here on; save it as UTF-8")
		case r == 0:
			return at(i, "there is a NUL byte here; save the file as UTF-8 text")
		}
		i += size
	}
	return nil
}
