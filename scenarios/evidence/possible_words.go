package evidence

import (
	"iter"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Words are the closed lists of the words that fields of an answer can have, by the name of the field: several lists
// where fields of one name have different ones.
type Words map[string][][]string

// of is the list that a field's value comes from; nil if it has none.
func (w Words) of(field, value string) []string {
	for _, list := range w[field] {
		if slices.Contains(list, value) {
			return list
		}
	}
	return nil
}

// any reports whether the field can have the value.
func (w Words) any(field string, value any) bool {
	s, _ := value.(string)
	return len(w[field]) == 0 || w.of(field, s) != nil || field == "status" && !isText(value) // of a request, a number
}

// others are different values for a field; if it has a closed list of words, its other words.
func (k known) others(field string, v any, depth int) iter.Seq[any] {
	s, _ := v.(string)
	list := k.words.of(field, s)
	if list == nil {
		return unless(different(v, k, depth), func(o any) bool { return tooLow(field, o) })
	}
	words := each.Of(list, func(w string) any { return w })
	return unless(slices.Values(words), func(w any) bool { return w == s })
}

// WordsOf are the closed lists for fields of answers that the contract has; results are the words that result can have.
func WordsOf(results ...string) Words {
	return Words{
		"result":    {results},
		"outcome":   {{string(vocab.Reported), vocab.NoResponse, vocab.Offline, vocab.Refused}},
		"method":    {{string(vocab.API), string(vocab.Link), string(vocab.Phone), string(vocab.Onsite)}},
		"mode":      {{"free", "auth", "closed"}},
		"state":     {{"pending", "active", "expired", "revoked"}, {"locked", "unlocked", "open", "warning"}, {"online", "offline", "unknown"}, {"synced", "waiting", "none"}},
		"doorState": {{"locked", "unlocked", "open", "warning"}},
		"ref":       {{"always", "business_hours", "after_hours", "custom"}},
		"leaf":      {{"open", "closed"}},
		"phase":     {{"online", "grace", "outage", "stopped"}},
		"action":    {{"pulse", "hold", "lock", "off", "refuse", "deny"}},
		"cause":     {{"command", "onsite", "free", "policy", "hold_end", "outage"}},
		"status":    {{"created", "updated", "unchanged", "failed"}}, // of a row of an import
		"weekday":   {{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}},
		"error":     {codes},

		"X-Place-Kind": {{"live", "test"}},
	}
}

// ElementFields are the fields of the elements of lists: of a board, a line of a journal, a record or an event.
var ElementFields = SetOf(`boardId placeId online phase outageAgeSec desiredRevision appliedRevision bufferedRecords droppedRecords doors
	seq boot at doorId channel action cause commandId grantId revision
	recordId method result reason actor actorLabel doorName occurredAt recordedAt requestedAt source settledAs settledAt replays
	eventId kind permitId externalRef late`)
