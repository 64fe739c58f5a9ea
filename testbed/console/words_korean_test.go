package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/lang"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/why"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/gateway"
	"github.com/doorlab/doorlab/server/grant"
)

// TestStatesInWords: for every state and kind of grant, people see a word and not a key.
func TestStatesInWords(t *testing.T) {
	t.Parallel()
	for language := range languages {
		w := wordsOf(language)
		for _, key := range []string{"state." + grant.Active, "state." + grant.Pending, "state." + grant.Expired, "state." + grant.Revoked, "state." + why.Valid,
			"state." + string(vocab.NotStarted), "state." + string(vocab.DoorOutOfScope),
			"people." + access.KindPermit, "people." + grant.Reservation, "people." + grant.Membership} {
			if w[key] == "" {
				t.Errorf("%s: there is no word for %s", language, key)
			}
		}
	}
}

// TestKoreanExplanations: every fault and every parameter is explained in Korean, and nothing else is.
func TestKoreanExplanations(t *testing.T) {
	t.Parallel()
	params := map[string]bool{}
	for _, f := range faults.All {
		if ko := faultsKorean[f.Name]; ko.does == "" || ko.caller == "" || ko.journal == "" {
			t.Errorf("%s: got %+v, want an explanation in Korean", f.Name, ko)
		}
		for _, p := range f.Params {
			if params[p.Name] = true; paramsKorean[p.Name] == "" {
				t.Errorf("%s: the parameter %s isn't explained in Korean", f.Name, p.Name)
			}
			for language, text := range map[string]string{"Korean": (&Look{Lang: lang.Korean}).Param(p), "English": (&Look{Lang: lang.English}).Param(p)} {
				if strings.Contains(text, "e+") || strings.Contains(text, "0000") {
					t.Errorf("%s: %s has a number that people can't read: %s", f.Name, language, text)
				}
			}
		}
	}
	if len(faultsKorean) != len(faults.All) || len(paramsKorean) != len(params) {
		t.Errorf("%d faults and %d parameters exist, but the Korean texts have more", len(faultsKorean), len(paramsKorean))
	}
}

// TestKoreanCodes: every code in a journal, record or decision has a Korean word.
func TestKoreanCodes(t *testing.T) {
	t.Parallel()
	korean, english := &Look{Lang: lang.Korean}, &Look{Lang: lang.English}
	codes := []any{
		firmware.ActPulse, firmware.ActHold, firmware.ActLock, firmware.ActOff, firmware.ActRefuse, firmware.ActDeny,
		firmware.CauseCommand, firmware.CauseOnsite, firmware.CauseFree, firmware.CauseHoldEnd, firmware.CauseOutage,
		vocab.Reported, vocab.OK, vocab.Opened, vocab.Held, vocab.Locked, vocab.Denied, vocab.Changed, vocab.Offline, vocab.Refused, vocab.NoResponse,
		vocab.API, vocab.Link, vocab.Phone, vocab.Onsite, why.Server, why.Board,
		vocab.NoValidGrant, vocab.NotStarted, vocab.Expired, vocab.Revoked, vocab.DoorOutOfScope, vocab.ClosedWindow, vocab.LinkInvalid, vocab.OutageLimit, vocab.FreeWindow,
		access.KindPermit, grant.Membership, grant.Reservation,
	}
	for _, list := range [][]string{wire.RefusalCodes, gateway.DropReasons} {
		for _, code := range list {
			codes = append(codes, code)
		}
	}
	known := map[string]bool{}
	for _, code := range codes {
		text := fmt.Sprint(code)
		if known[text] = true; codesKorean[text] == "" || korean.Code(code) != codesKorean[text] || english.Code(code) != text {
			t.Errorf("%s is %q in Korean and %q in English, want a Korean word and the code", text, korean.Code(code), english.Code(code))
		}
	}
	if len(known) != len(codesKorean) {
		t.Errorf("%d codes and %d Korean words, want one each", len(known), len(codesKorean))
	}
}

// TestSaidInKorean: a form's result is shown without codes, with and without a reason.
func TestSaidInKorean(t *testing.T) {
	t.Parallel()
	c := &Console{names: names{}}
	for want, x := range map[string]came{
		"d: 거부됨 (유효한 권한 없음)": {Result: string(vocab.Denied), Reason: string(vocab.NoValidGrant), DoorID: "d"},
		"d: 열림":              {Result: string(vocab.Opened), DoorID: "d"},
	} {
		said, err := c.told(x, nil)
		if got := said.in(lang.Korean); err != nil || got != want {
			t.Errorf("%+v: got %q, %v, want %q", x, got, err, want)
		}
	}
	said, _ := c.told(came{Result: string(vocab.Denied), Reason: string(vocab.NoValidGrant), DoorID: "d"}, nil)
	if got, want := said.in(lang.English), "d: denied (no_valid_grant)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSpansInKorean: a duration in a Korean sentence has Korean units, in an English one it stays; texts stay as they are.
func TestSpansInKorean(t *testing.T) {
	t.Parallel()
	korean, english := &Look{Lang: lang.Korean, words: wordsOf(lang.Korean)}, &Look{Lang: lang.English, words: wordsOf(lang.English)}
	for arg, want := range map[string]string{span(37*time.Hour + time.Minute): "37시간 1분 동안 단절", span(2500 * time.Millisecond): "2.5초 동안 단절",
		span(50 * time.Hour): "2일 2시간 동안 단절", span(60 * time.Millisecond): "60 ms 동안 단절", "Room 3 m": "Room 3 m 동안 단절"} {
		if got := korean.T("board.away", arg); got != want {
			t.Errorf("%s: got %q, want %q", arg, got, want)
		}
		if got, want := english.T("board.away", arg), "offline for "+arg; got != want {
			t.Errorf("%s: got %q, want %q", arg, got, want)
		}
	}
}
