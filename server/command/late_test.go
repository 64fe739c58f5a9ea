package command

import (
	"testing"

	"github.com/doorlab/doorlab/internal/vocab"
)

// What a late report means; see CMD-4.
func TestLateVerdict(t *testing.T) {
	t.Parallel()
	past := func(outcome vocab.Outcome) Past { return Past{BoardID: "brd_a", Command: "hold", Outcome: outcome} }
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
		{"not settled", past(""), "brd_a", false, LateUnknown, ""},
		{"answered 200", past(vocab.Reported), "brd_a", false, LateKnown, ""},
		{"answered 502", past(vocab.Refused), "brd_a", true, LateKnown, ""},
		{"answered 504", past(vocab.NoResponse), "brd_a", false, LateSettled, "held"},
		{"answered 504, refused", past(vocab.NoResponse), "brd_a", true, LateSettled, "refused"},
	} {
		got, as := LateReport{CommandID: "cmd_1", BoardID: tc.board, Refused: tc.refused}.Verdict(tc.was)
		if got != tc.want || as != tc.as {
			t.Errorf("%s: verdict %d as %q, want %d as %q", tc.name, got, as, tc.want, tc.as)
		}
	}
}
