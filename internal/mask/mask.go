// Package mask hides API keys, tokens and telephone numbers in texts that are kept or shown. The inbox, the history and the
// reports follow the same rules.
package mask

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

// Text returns a text, JSON or not, complete or cut off, without API keys, tokens and telephone numbers. The first
// three and the last four digits of a number stay, and the prefix of a key. Ids and UUIDs stay. It reads the text once,
// without regular expressions, because every recorded request passes through it.
func Text(text string) string {
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
		default:
			end := len(text)
			if n := strings.IndexByte(text[i:], '"'); n >= 0 {
				end = i + n
			}
			words(&b, text[i:end])
			if strings.ContainsFunc(text[i:end], ends) {
				name = ""
			}
			i = end
		}
	}
	return b.String()
}

// ends reports whether what follows c isn't the value of the field before it any more.
func ends(c rune) bool {
	return !strings.ContainsRune(": \n\t\r+", c) && (c > 0x7f || !isWord(byte(c)))
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

// Link hides the value of t in a query or a form, whatever it looks like.
func Link(text string) string {
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
	digits := digitsOf(v)
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

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
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

// Secrets hides API keys and tokens among the words of a text, but no numbers.
func Secrets(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		if !isWord(text[i]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		end := wordEnd(text, i)
		w := text[i:end]
		if s := token(w); s != "" {
			w = s
		}
		b.WriteString(w)
		i = end
	}
	return b.String()
}

// words masks what looks like a secret among the words of a text.
func words(b *strings.Builder, text string) {
	for i := 0; i < len(text); {
		if !isWord(text[i]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		if to := fraction(text, i); to > i {
			b.WriteString(text[i:to])
			i = to
			continue
		}
		end := wordEnd(text, i)
		if w := known(text[i:end], i > 0 && text[i-1] == '+'); w != "" {
			b.WriteString(w)
			i = end
		} else {
			i = numbers(b, text, i, end)
		}
	}
}

func wordEnd(text string, i int) int {
	for i < len(text) && isWord(text[i]) {
		i++
	}
	return i
}

// idPrefixes are those of our own ids.
var idPrefixes = map[string]bool{"plc": true, "brd": true, "dor": true, "pmt": true, "mem": true, "rsv": true, "cus": true, "cmd": true, "evt": true,
	"rec": true, "pol": true, "key": true}

// entryTokenLength is the length of 256 bits in base64url.
const entryTokenLength = 43

// token is a word that is an API key or a token, masked; "" for any other.
func token(w string) string {
	switch {
	case len(w) < 8:
	case strings.HasPrefix(w, apikey.TestPrefix), strings.HasPrefix(w, apikey.LivePrefix): // prefixes of one length
		return w[:len(apikey.TestPrefix)] + hidden
	case apikey.WellFormed(w):
		return w[:strings.LastIndexByte(w, '_')+1] + hidden
	case strings.HasPrefix(w, "eyJ") && len(w) >= 20, len(w) >= entryTokenLength: // or something that contains one
		return hiddenToken
	}
	return ""
}

// known is a word that is one secret, masked, or one of our ids, as it is; "" for any other.
func known(w string, plus bool) string {
	if s := token(w); s != "" || len(w) < 8 {
		return s
	}
	switch {
	case len(w) > 4 && w[3] == '_' && idPrefixes[w[:3]], isUUID(w):
		return w
	case strings.Trim(w, "0123456789-") == "" && (w[0] == '0' || plus):
		return secret(w)
	}
	return ""
}

func isUUID(w string) bool {
	return len(w) == 36 && w[8] == '-' && w[13] == '-' && w[18] == '-' && w[23] == '-' && strings.Trim(w, "0123456789abcdefABCDEF-") == ""
}

// numbers masks runs of eight digits or more, and telephone numbers in groups, which begin in the word from i to end but
// may be longer. It returns where it stopped.
func numbers(b *strings.Builder, text string, i, end int) int {
	for i < end {
		to := i
		for to < end && !isDigit(text[to]) {
			to++
		}
		b.WriteString(text[i:to])
		if i = to; i == end {
			break
		}
		to = digitsEnd(text, i)
		if far := grouped(text, i); far > i {
			to = far
			b.WriteString(phone(digitsOf(strings.ReplaceAll(text[i:to], "%20", ""))))
		} else if to-i >= 8 {
			b.WriteString(phone(text[i:to]))
		} else {
			if isDate(text[i:]) { // whose day would begin a number
				to = i + len("2026-10-05")
			}
			b.WriteString(text[i:to])
		}
		i = to
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digitsEnd(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

// grouped is where a telephone number that begins at i ends, written as people do: 010 1234 5678, +82 (0)10-1234-5678.
// It has 9 to 15 digits, begins with 0, 82 or a plus, and its last group has four or more, which tells it from most
// dates, times and addresses. 0 without one.
func grouped(text string, i int) (end int) {
	if text[i] != '0' && !strings.HasPrefix(text[i:], "82") && (i == 0 || text[i-1] != '+') {
		return 0
	}
	for at, all := i, 0; ; {
		to := digitsEnd(text, at)
		n := to - at
		if all += n; n == 0 || all > 15 || n > 4 && at > i && text[at-1] == '.' || isDate(text[at:]) || wordEnd(text, at)-at >= entryTokenLength {
			return end
		}
		if n >= 4 && all >= 9 {
			end = to
		}
		if at = to + between(text[to:]); at == to || n >= 9 { // so many are a number by themselves
			return end
		}
	}
}

// between is how much of what people write between groups a text begins with.
func between(text string) (n int) {
	if strings.HasPrefix(text, "%20") {
		return len("%20")
	}
	for n < min(len(text), 3) && strings.IndexByte(" .-()+", text[n]) >= 0 {
		n++
	}
	return n
}

// fraction is where the eight or nine digits of a fraction of a second end, as in 2026-10-05T10:00:05.123456789Z; i if none
// begin there.
func fraction(text string, i int) (end int) {
	const before = len("2026-10-05T10:00:05.")
	if i < before || text[i-1] != '.' {
		return i
	}
	clock := text[i-before+len("2026-10-05") : i]
	end = digitsEnd(text, i)
	if n := end - i; n < 8 || n > 9 || !isDate(text[i-before:]) || clock[0] != 'T' || clock[3] != ':' || clock[6] != ':' || len(digitsOf(clock)) != 6 {
		return i
	}
	return end
}

// isDate reports whether a text begins with a date of this century, as 2026-10-05.
func isDate(text string) bool {
	return len(text) >= 10 && text[:2] == "20" && text[4] == text[7] && (text[4] == '-' || text[4] == '.') && digitsEnd(text, 0) == 4 && digitsEnd(text, 5) == 7 && digitsEnd(text, 8) == 10
}
