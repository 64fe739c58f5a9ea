package history

import (
	"encoding/json"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/mask"
)

// marked is a field's value as it is, or a mark of it if it may contain a secret, whatever the field is for.
func marked(v any) any {
	switch v := v.(type) {
	case string:
		if !isTime(v) {
			return mask.Marked(v)
		}
	case float64:
		if math.Abs(v) >= 1e7 {
			return markedJSON(v)
		}
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = marked(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if text, ok := e.(string); ok && mask.MarkedField(name, text) != mask.Marked(text) {
				e = mask.MarkedField(name, text)
			}
			out[mask.Marked(name)] = marked(e)
		}
		return out
	}
	return v
}

// isTime reports whether a text is a time, whose nanoseconds look like a number.
func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// markedJSON is v, or a list with the mark of its JSON text.
func markedJSON(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	if m := mask.Marked(string(raw)); m != string(raw) {
		return []any{m}
	}
	return v
}

// markedPart is a segment of a path as it was sent, or its mark.
func markedPart(part string) string {
	plain, err := url.PathUnescape(part)
	if err != nil {
		plain = part
	}
	if m := mask.Marked(plain); m != plain {
		return m
	}
	return part
}

// markedQuery is a query as it was sent, with marks in place of its secrets.
func markedQuery(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, value, given := strings.Cut(part, "=")
		plainName, bad := url.QueryUnescape(name)
		plainValue, worse := url.QueryUnescape(value)
		if bad != nil || worse != nil { // nobody can read it
			plainName, plainValue = name, value
		}
		if m := mask.Marked(plainName); m != plainName {
			name = m
		}
		if m := mask.MarkedField(plainName, plainValue); m != plainValue && !isTime(plainValue) {
			value = m
		}
		if parts[i] = name; given {
			parts[i] += "=" + value
		}
	}
	return strings.Join(parts, "&")
}
