package command

import (
	"testing"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// What a late report means; see CMD-4.
func TestLateVerdict(t *testing.T) {
	t.Parallel()
	past := func(outcome vocab.Outcome) Past {
		return Past{BoardID: "brd_a", DoorID: "dor_1", Channel: 2, Command: "hold", Outcome: outcome}
	}
	for _, tc := range []struct {
		name    string
		was     Past
		board   string
		refused bool
		want    Late
		as      vocab.Result
	}{
		{"no such command", Past{}, "brd_a", false, LateUnknown, ""},
		{"another board's", past(vocab.NoResponse), "brd_x", false, LateForeign, ""},
		{"never sent", past(vocab.Offline), "brd_a", false, LateUnknown, ""},
		{"not settled", past(""), "brd_a", false, LateUnsettled, ""},
		{"answered 200", past(vocab.Reported), "brd_a", false, LateKnown, ""},
		{"answered 502", past(vocab.Refused), "brd_a", true, LateKnown, ""},
		{"answered 504", past(vocab.NoResponse), "brd_a", false, LateSettled, "held"},
		{"answered 504, refused", past(vocab.NoResponse), "brd_a", true, LateSettled, "refused"},
	} {
		for _, s := range []*wire.Standing{nil, {Channel: 2}, {Channel: 2, DoorID: "dor_1"}} {
			got, as := LateReport{CommandID: "cmd_1", BoardID: tc.board, Refused: tc.refused, Standing: s}.Verdict(tc.was)
			if got != tc.want && tc.want != LateUnknown || as != tc.as {
				t.Errorf("%s, with the standing %v: verdict %d as %q, want %d as %q", tc.name, s, got, as, tc.want, tc.as)
			}
		}
		for _, s := range []*wire.Standing{{Channel: 1, DoorID: "dor_1"}, {Channel: 2, DoorID: "dor_2"}, {Channel: 3}} {
			got, _ := LateReport{CommandID: "cmd_1", BoardID: tc.board, Refused: tc.refused, Standing: s}.Verdict(tc.was)
			if got != LateForeign && got != LateUnknown {
				t.Errorf("%s, with another door's standing %v: verdict %d, want %d or %d", tc.name, s, got, LateForeign, LateUnknown)
			}
		}
		got, as := LateReport{CommandID: "cmd_1", BoardID: tc.board, Refused: tc.refused}.Verdict(tc.was)
		if got != tc.want || as != tc.as {
			t.Errorf("%s: verdict %d as %q, want %d as %q", tc.name, got, as, tc.want, tc.as)
		}
	}
}
