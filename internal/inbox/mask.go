package inbox

import (
	"strings"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/apikey"
)

// What a masked secret looks like.
const (
	hiddenToken = "[token]"
	hidden      = "[hidden]"
)

// byName are the JSON fields whose value is secret whatever it looks like.
var byName = map[string]bool{"key": true, "phone": true, "accessToken": true, "entryToken": true, "token": true, "t": true}

// Mask returns a text, JSON or not, complete or cut off, without API keys, tokens and telephone numbers. The first
// three and the last four digits of a number stay, and the prefix of a key. Ids and UUIDs stay. It reads the text once,
// without regular expressions, because every recorded request passes through it.
func Mask(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	name := ""
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"':
			end := closing(text, i+1)
			value := text[i+1 : end]
			rest := strings.TrimLeft(text[min(end+1, len(text)):], " \t\r\n")
			b.WriteByte('"')
			switch {
			case strings.HasPrefix(rest, ":"):
				name = value
				words(&b, value)
			case byName[name]:
				b.WriteString(secret(value))
				name = ""
			default:
				words(&b, value)
				name = ""
			}
			if end < len(text) {
				b.WriteByte('"')
				end++
			}
			i = end
		case isWord(c) || c == '+':
			end := i + 1
			for end < len(text) && isWord(text[end]) {
				end++
			}
			words(&b, text[i:end])
			i = end
		default:
			if c != ':' && c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				name = ""
			}
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// closing is where the string that began before i ends: at its quote, or at the end of the text.
func closing(text string, i int) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// maskLink hides the value of t in a query or a form, whatever it looks like.
func maskLink(text string) string {
	for i := 0; ; {
		at := strings.Index(text[i:], "t=")
		if at < 0 {
			return text
		}
		at += i
		i = at + len("t=")
		if at > 0 && text[at-1] != '?' && text[at-1] != '&' {
			continue
		}
		end := len(text)
		if n := strings.IndexAny(text[i:], "&# \r\n"); n >= 0 {
			end = i + n
		}
		if end > i {
			text = text[:i] + hiddenToken + text[end:]
			i += len(hiddenToken)
		}
	}
}

// isWord reports whether keys, tokens, ids and numbers may contain c.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-'
}

// secret masks the value of a field whose name makes it secret.
func secret(v string) string {
	if v == "" {
		return ""
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, v)
	if len(digits) >= 8 && len(digits)*2 > len(v) {
		return phone(digits)
	}
	for _, prefix := range []string{apikey.TestPrefix, apikey.LivePrefix} {
		if strings.HasPrefix(v, prefix) {
			return prefix + hidden
		}
	}
	return hidden
}

func phone(digits string) string {
	if len(digits) > 15 {
		return hidden
	}
	_, label := access.MaskPhone(digits)
	if len(label) == 4 {
		return "****" + label
	}
	return label
}

// words masks what looks like a secret among the words of a text.
func words(b *strings.Builder, text string) {
	for i := 0; i < len(text); {
		if !isWord(text[i]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		end := i + 1
		for end < len(text) && isWord(text[end]) {
			end++
		}
		word(b, text[i:end], i > 0 && text[i-1] == '+')
		i = end
	}
}

// idPrefixes are those of our own ids.
var idPrefixes = map[string]bool{"plc": true, "brd": true, "dor": true, "pmt": true, "mem": true, "rsv": true, "cus": true, "cmd": true, "evt": true,
	"rec": true, "pol": true, "key": true}

// entryTokenLength is the length of 256 bits in base64url.
const entryTokenLength = 43

func word(b *strings.Builder, w string, plus bool) {
	switch {
	case len(w) < 8:
		b.WriteString(w)
	case strings.HasPrefix(w, apikey.TestPrefix), strings.HasPrefix(w, apikey.LivePrefix): // prefixes of one length
		b.WriteString(w[:len(apikey.TestPrefix)] + hidden)
	case apikey.WellFormed(w):
		b.WriteString(w[:strings.LastIndexByte(w, '_')+1] + hidden)
	case strings.HasPrefix(w, "eyJ") && len(w) >= 20, len(w) >= entryTokenLength: // or something that contains one
		b.WriteString(hiddenToken)
	case len(w) > 4 && w[3] == '_' && idPrefixes[w[:3]], isUUID(w):
		b.WriteString(w)
	case strings.Trim(w, "0123456789-") == "" && (w[0] == '0' || plus):
		b.WriteString(secret(w))
	default:
		numbers(b, w)
	}
}

func isUUID(w string) bool {
	return len(w) == 36 && w[8] == '-' && w[13] == '-' && w[18] == '-' && w[23] == '-' && strings.Trim(w, "0123456789abcdefABCDEF-") == ""
}

// numbers masks runs of eight digits or more.
func numbers(b *strings.Builder, w string) {
	for i := 0; i < len(w); {
		end := i
		for end < len(w) && w[end] >= '0' && w[end] <= '9' {
			end++
		}
		switch {
		case end-i >= 8:
			b.WriteString(phone(w[i:end]))
			i = end
		case end > i:
			b.WriteString(w[i:end])
			i = end
		default:
			b.WriteByte(w[i])
			i++
		}
	}
}
