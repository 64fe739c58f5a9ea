package engine

import (
	"strings"
	"testing"
)

// TestFixedWordsFromTemplates: where only a few words are valid, a template is checked by its value.
func TestFixedWordsFromTemplates(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`steps: [{cases: [{o: reported}], command: {door: "\"dor_1\"", outcome: "${row.o}"}}]`,
		`steps: [{cases: [{f: refuse}], fault: {fault: "${row.f}", of: "\"brd_1\""}}, {call: {path: /echo}}]`,
	} {
		if _, err := Parse("one.yaml", []byte(source)); err != nil {
			t.Errorf("%s: got %v, want no problem", source, err)
		}
	}
	for source, want := range map[string]string{
		`steps: [{command: {door: "\"dor_1\"", outcome: reportd}}]`:                                                     `"reportd" is not a valid outcome, did you mean "reported"?`,
		`steps: [{fault: {fault: refus, of: "\"brd_1\""}}]`:                                                             `"refus" is not a valid fault, did you mean "refuse"?`,
		`steps: [{call: {path: /echo}, capture: {o: data}}, {policy: {doors: "\"dor_1\"", ref: "${o.n}", mode: free}}]`: `is not a valid ref`,
		`steps: [{boards: {of: "\"brd_1\"", all: appliedRevision <= desiredRevision}, clauses: [SYNC-1]}]`:              "the condition all holds whatever the target does",
		`steps: [{boards: {of: "\"brd_1\"", all: online}, clauses: [SYNC-2]}]`:                                          "what this boards step finds isn't evidence for SYNC-2",
	} {
		_, err := Parse("one.yaml", []byte(source))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "never used") {
			t.Errorf("%s: got %v, want %q and nothing about unused captures", source, err, want)
		}
	}
}
