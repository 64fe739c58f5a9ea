package evidence

import "time"

// texts are texts other than x; a time is replaced by times.
func texts(x string, k known) []any {
	out := []any{"", nonsense, x + nonsense, nonsense + x}
	if at, err := time.Parse(time.RFC3339, x); err == nil {
		out = []any{moved(at, -era), moved(at, era)}
	}
	for _, c := range k.Values {
		s, ok := c.(string)
		switch {
		case !ok:
		case !isTime(x):
			out = append(out, s, s+nonsense, nonsense+s)
		case sameEra(s, x):
			out = append(out, s)
		}
	}
	return out
}

// era is how far a time in an answer might be off: that it isn't centuries ago says nothing.
const era = 1000 * 24 * time.Hour

func moved(at time.Time, by time.Duration) string {
	if last := time.Date(9998, 12, 31, 0, 0, 0, 0, time.UTC); at.After(last.Add(-era)) {
		at = last.Add(-era)
	}
	return at.Add(by).UTC().Format("2006-01-02T15:04:05.000Z")
}

func sameEra(a, b string) bool {
	x, errX := time.Parse(time.RFC3339, a)
	y, errY := time.Parse(time.RFC3339, b)
	return errX == nil && errY == nil && x.Sub(y).Abs() <= era
}

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
