package engine

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An expectation that something isn't said, `error != "foo"` or `not (json(body) contains "zzzz")`, could fail only for a
// server that says just that. So a word counts as something that an answer might have had only if the contract has it,
// if the file itself uses it elsewhere (a name in a request, say), or if it is what a leak looks like.

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
var contractWords = fieldSet(`locked unlocked open warning closed online offline unknown door onsite link phone api free auth
	opened held denied refused noResponse changed reported pending active expired revoked no_valid_grant not_started door_out_of_scope
	closed_window outage_limit free_window busy jammed tamper low_power maintenance unsupported always business_hours after_hours custom
	close hold off pulse lock refuse deny command policy hold_end outage grace stopped synced waiting none test live server board
	created updated unchanged failed closure holiday membership reservation permit true false null`)

// leaks are words that show up where a server says more than it should.
var leaks = fieldSet(`password passwd secret hash pepper salt token phone apikey key authorization bearer cookie panic goroutine runtime
	stack trace traceback exception error sql sqlite select insert constraint undefined nan nil html script root home tmp internal`)

// onlyTelling drops from the file's expectations the words that no answer would have.
func onlyTelling(source string, d *Doc) {
	var all []*Expr
	eachStep(func(s *Step) {
		for i := range s.Expect {
			all = append(all, &s.Expect[i])
		}
		if e := s.Verbs.all(); e != nil {
			all = append(all, e)
		}
		all = slices.AppendSeq(all, maps.Values(s.Capture))
	}, d.Setup, d.Steps)
	for _, e := range all {
		e.known.values = slices.DeleteFunc(slices.Clone(e.known.values), func(v any) bool {
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
func elsewhere(source, text string, but []*Expr) bool {
	n := wordsIn(source, text)
	for _, e := range but {
		n -= wordsIn(e.src, text)
	}
	return n > 0
}

// wordsIn counts where a text has a word, or several, as a whole. (An expression for each word took half of the time of
// reading a file.)
func wordsIn(text, word string) (n int) {
	for at := 0; ; at++ {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return n
		}
		at += i
		end := at + len(word)
		if (at == 0 || !inWord(text[at-1])) && (end == len(text) || !inWord(text[end]) || !inWord(word[len(word)-1])) {
			n++
		}
	}
}

func inWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}
