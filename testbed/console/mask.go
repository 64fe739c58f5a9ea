package console

import (
	"bytes"
	"encoding/json"
	"regexp"
	"unicode/utf8"
)

// secrets are the fields of messages and answers that no page shows.
var secrets = regexp.MustCompile(`"(phoneKey|phoneHash|tokenHash|password|apiKey|accessToken|token|entryToken|phone|key)"\s*:\s*"[^"]*("|$)`)

// masked is a payload as a page may show it: indented if it is JSON, with secrets masked, and cut if only its beginning
// was kept.
func masked(payload []byte, cut bool) string {
	if !utf8.Valid(payload) && !cut {
		return "(not text)"
	}
	text := payload
	var b bytes.Buffer
	if json.Indent(&b, payload, "", "  ") == nil {
		text = b.Bytes()
	}
	text = secrets.ReplaceAll(text, []byte(`"$1": "…"`))
	if cut {
		text = append(bytes.ToValidUTF8(text, nil), " … (cut)"...)
	}
	return string(text)
}
