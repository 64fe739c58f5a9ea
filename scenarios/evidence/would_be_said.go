package evidence

import (
	"regexp"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// An expectation that something isn't said, `error != "foo"` or `not (json(body) contains "zzzz")`, could fail only
// for a server that says just that. So a word counts as something that an answer might have had only if the contract
// has it, if the file itself uses it elsewhere (a name in a request, say), or if it is what a leak looks like.

// plainWord is a text that says nothing by its form, unlike a phone, an id, a time, a header or an address.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z _/]*$`)

// idWord is an id, or what looks like one.
var idWord = regexp.MustCompile(`^(plc|brd|dor|pmt|mem|rsv|cus|cmd|evt|rec|pol|key|sact|sacl)_`)

// codes are the contract's error codes.
var codes = strings.Fields(`invalid_body invalid_timestamp invalid_query missing_field invalid_field body_too_large invalid_period
	invalid_phone invalid_door_ids empty_door_ids idempotency_key_required idempotency_key_invalid unsupported_command token_missing
	token_invalid token_expired invalid_api_key scope_missing place_forbidden place_field_forbidden not_found permit_not_found
	device_not_found board_not_found place_not_found link_invalid endpoint_removed method_not_allowed permit_period_too_long
	idempotency_key_reused rule_violated entry_denied device_offline rate_limited too_many_in_flight device_refused store_unreachable
	store_offline storage_unavailable internal_error device_no_response`)

// contractWords are other words with which answers say something.
var contractWords = SetOf(`locked unlocked open warning closed online offline unknown door onsite link phone api free auth
	opened held denied refused noResponse changed reported pending active expired revoked no_valid_grant not_started door_out_of_scope
	closed_window outage_limit free_window busy jammed tamper low_power maintenance unsupported always business_hours after_hours custom
	close hold off pulse lock refuse deny command policy hold_end outage grace stopped synced waiting none test live server board
	created updated unchanged failed closure holiday membership reservation permit true false null`)

// leaks are words that show up where a server says more than it should.
var leaks = SetOf(`password passwd secret hash pepper salt token phone apikey key authorization bearer cookie panic goroutine runtime
	stack trace traceback exception error sql sqlite select insert constraint undefined nan nil html script root home tmp internal`)

// DropSilentWords drops from what expressions of a file mention the words that no answer would have. source is the
// whole file, which may use a word elsewhere.
func DropSilentWords(source string, all []*expression.Expr) {
	for _, e := range all {
		e.Mentions.Values = slices.DeleteFunc(slices.Clone(e.Mentions.Values), func(v any) bool {
			word, text := v.(string)
			return text && !tells(word) && !elsewhere(source, word, all)
		})
	}
}

// header is a header's name: one with a hyphen, or one of those that need none.
var header = regexp.MustCompile(`(?i)-|^(Server|Allow|Location|Link|Deprecation|Vary|Via|Date|Age|ETag|Expires|Connection|Refresh)$`)

func tellsHeader(name string) bool { return header.MatchString(name) }

// tells reports whether an answer might have the text, as far as its form and the contract show.
func tells(text string) bool {
	return !plainWord.MatchString(text) || idWord.MatchString(text) || contractWords[text] || slices.Contains(codes, text) || leaks[strings.ToLower(text)]
}

// elsewhere reports whether the file has the text outside these expressions.
func elsewhere(source, text string, but []*expression.Expr) bool {
	n := expression.WordsIn(source, text)
	for _, e := range but {
		n -= expression.WordsIn(e.Src, text)
	}
	return n > 0
}

// SetOf is the set of the words in a text.
func SetOf(text string) map[string]bool {
	return each.Set(strings.Fields(text), func(word string) string { return word })
}
