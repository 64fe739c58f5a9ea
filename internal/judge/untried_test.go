package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// What a promise is about must have happened, however much else was checked.
func TestUntried(t *testing.T) {
	t.Parallel()
	untried := func(h *builder, but func(*history.Event) bool) map[string][]string {
		out := map[string][]string{}
		for _, v := range Judge(NewView(slices.DeleteFunc(slices.Clone(h.events), func(e history.Event) bool { return but(&e) }))) {
			out[v.Clause] = v.Untried
		}
		return out
	}
	all := untried(clean(), func(*history.Event) bool { return false })
	for name, tc := range map[string]struct {
		clause string
		but    func(*history.Event) bool
	}{
		"no refusals":      {"AUTH-2", func(e *history.Event) bool { return e.Status == 401 || e.Status == 403 }},
		"no presentations": {"SYNC-3", func(e *history.Event) bool { return e.Kind == history.Presented || e.Kind == history.Actuation }},
		"no outages":       {"OFF-2", func(e *history.Event) bool { return e.OutageAgeMs > 0 }},
		"no imports":       {"IMP-1", func(e *history.Event) bool { return e.Kind == history.Call }},
	} {
		if got := all[tc.clause]; len(got) > 0 {
			t.Errorf("%s: the whole history is said to lack %q, want nothing", tc.clause, got)
		}
		if got := untried(clean(), tc.but)[tc.clause]; len(got) != 1 {
			t.Errorf("%s: %s lacks %q, want one kind of evidence", name, tc.clause, got)
		}
	}
}

func TestUntriedWorldsTogether(t *testing.T) {
	t.Parallel()
	none, some := Verdict{Clause: "CMD-5", Status: Pass}.tried(0, "no key was used again"), Verdict{Clause: "CMD-5", Status: Pass}.tried(2, "no key was used again")
	for name, tc := range map[string]struct {
		worlds []Verdict
		want   int
	}{"one tried it": {[]Verdict{none, some}, 0}, "nobody did": {[]Verdict{none, none}, 1}, "the other has nothing of it": {[]Verdict{none, {Clause: "CMD-5", Status: Skipped, Untried: none.Untried}}, 1}} {
		if got := Combine(tc.worlds[:1], tc.worlds[1:])[0].Untried; len(got) != tc.want {
			t.Errorf("%s: got %q, want %d", name, got, tc.want)
		}
	}
}
