// Package stamp is how a time goes out over HTTP; for server/api and its
// generated types only.
package stamp

import "time"

// Time is RFC 3339 UTC with exactly milliseconds; zero is null.
type Time time.Time

// IsZero reports whether there is no time; a field with omitzero is then absent.
func (t Time) IsZero() bool { return time.Time(t).IsZero() }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return time.Time(t).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}
