package evidence

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestWhatCanBeEvidence: verbs, requests and decisions are evidence for what they have to do with; what isn't listed
// can be evidence for anything.
func TestWhatCanBeEvidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want bool }{
		"a policy for outages":      {OfVerb("netloss", "OFF-3"), true},
		"a policy and commands":     {OfVerb("netloss", "CMD-1"), false},
		"a message by hand":         {OfVerb("mqtt", "CMD-1"), false},
		"a verb that isn't listed":  {OfVerb("call", "CMD-1"), true},
		"a revocation's answer":     {OfRequest(Family("/space/v1/partner/entry-permits/revoke"), "PERM-2"), true},
		"events are accounts":       {OfRequest(Family("/core/v1/places/*/events?from=*"), "OFF-1"), false},
		"events of a place":         {OfRequest(Family("/core/v1/places/plc_1/events"), "OFF-1"), true},
		"a page of nobody":          {Family("/nowhere") == "", true},
		"expired and revocations":   {OfReason(vocab.Expired, "SYNC-2"), false},
		"revoked":                   {OfReason(vocab.Revoked, "SYNC-2"), true},
		"a reason that isn't known": {OfReason("on holiday", "SYNC-2"), true},
		"a family":                  {Among("AUTH CMD-1", "AUTH-3"), true},
		"another of a family":       {Among("AUTH CMD-1", "CMD-2"), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %t, want %t", name, c.got, c.want)
		}
	}
}

// TestListsNameClauses: every name in the lists is a clause or a family of clauses.
func TestListsNameClauses(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range judge.Clauses() {
		family, _, _ := strings.Cut(c, "-")
		known[c], known[family] = true, true
	}
	check := func(where, list string) {
		for name := range strings.FieldsSeq(list) {
			if !known[name] {
				t.Errorf("%s: got %s, want a clause or a family", where, name)
			}
		}
	}
	for verb, list := range verbShows {
		check(verb, list)
	}
	for _, p := range pathShows {
		check(p.prefix, p.shows)
	}
	for reason, list := range reasonShows {
		check(string(reason), list)
	}
	for _, lists := range []map[string]string{otherActions, otherCauses, otherMethods} {
		for chosen, list := range lists {
			check(chosen, list)
		}
	}
}

// TestStatusLists: a list that nearly every answer would match is no expectation.
func TestStatusLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		codes      []int
		most, both bool
	}{
		{[]int{200}, false, false},
		{[]int{200, 404}, false, true},
		{[]int{404, 409}, false, false},
		{[]int{200, 502, 504}, true, true},
		{[]int{200, 404, 500}, true, true},
		{[]int{200, 400, 401, 404, 429}, true, true},
		{[]int{400, 401, 404, 429}, false, false},
	} {
		if most, both := FitsMost(c.codes) != "", FitsBoth(c.codes); most != c.most || both != c.both {
			t.Errorf("%v: fits most %t, fits both %t; want %t, %t", c.codes, most, both, c.most, c.both)
		}
	}
}
