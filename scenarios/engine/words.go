package engine

import (
	"slices"

	"github.com/doorlab/doorlab/internal/vocab"
)

// words are the closed lists for fields of answers: several where fields of one name have different ones.
type words map[string][][]string

// of is the list that a field's value comes from; nil if it has none.
func (w words) of(field, value string) []string {
	for _, list := range w[field] {
		if slices.Contains(list, value) {
			return list
		}
	}
	return nil
}

// any reports whether the field can have the value.
func (w words) any(field string, value any) bool {
	s, _ := value.(string)
	return len(w[field]) == 0 || w.of(field, s) != nil
}

// others are different values for a field; if it has a closed list of words, its other words.
func (k known) others(field string, v any, depth int) (out []any) {
	s, _ := v.(string)
	list := k.words.of(field, s)
	if list == nil {
		return different(v, k, depth)
	}
	for _, w := range list {
		if w != s {
			out = append(out, w)
		}
	}
	return out
}

// words are the closed lists for fields of the step's answer.
func (s *Step) words() words {
	results := []string{vocab.NoResponse, vocab.Offline, vocab.Refused, string(vocab.Denied), string(vocab.Opened)}
	switch v := &s.Verbs; {
	case v.Present != nil, v.PresentEach != nil:
		results = results[3:]
	case v.Phone == nil:
		results = append(results, string(vocab.Held), string(vocab.Locked), string(vocab.Changed))
	}
	return words{
		"result":  {results},
		"outcome": {{string(vocab.Reported), vocab.NoResponse, vocab.Offline, vocab.Refused}},
		"method":  {{string(vocab.API), string(vocab.Link), string(vocab.Phone), string(vocab.Onsite)}},
		"mode":    {{"free", "auth", "closed"}},
		"state":   {{"pending", "active", "expired", "revoked"}, {"locked", "unlocked", "open", "warning"}, {"online", "offline", "unknown"}, {"synced", "waiting", "none"}},
		"leaf":    {{"open", "closed"}},
		"phase":   {{"online", "grace", "outage", "stopped"}},
		"action":  {{"pulse", "hold", "lock", "off", "refuse", "deny"}},
		"cause":   {{"command", "onsite", "free", "policy", "hold_end", "outage"}},
		"weekday": {{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}},
		"error":   {codes},

		"X-Place-Kind": {{"live", "test"}},
	}
}
