package store

import (
	"database/sql"
	"encoding/json"
	"time"
)

func msTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func fromNull(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return msTime(n.Int64)
}

func toNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// jsonText encodes one of our own types.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error())
	}
	return string(b)
}
