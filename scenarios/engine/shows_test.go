package engine

import (
	"strings"
	"testing"
)

// TestClaimsForAnother: a step that can fail, but for another guarantee, is a mistake where it claims one, and so is a
// file's claim that none of its steps has to do with.
func TestClaimsForAnother(t *testing.T) {
	t.Parallel()
	const door, brd = `"\"dor_1\""`, `"\"brd_1\""`
	for source, want := range map[string]string{
		`{steps: [{synced: {of: ` + brd + `}, clauses: [CMD-1]}]}`:                                                              "what this synced finds is no evidence for CMD-1",
		`{steps: [{synced: {of: ` + brd + `}, clauses: [SYNC-1]}]}`:                                                             "",
		`{steps: [{boards: {of: ` + brd + `, all: online}, clauses: [CMD-1]}]}`:                                                 "no evidence for CMD-1",
		`{steps: [{boards: {of: ` + brd + `, all: online}, clauses: [OFF-4]}]}`:                                                 "",
		`{steps: [{present: {phone: "01012345678", door: ` + door + `, result: opened}, clauses: [CMD-5]}]}`:                    "no evidence for CMD-5",
		`{steps: [{command: {door: ` + door + `, outcome: reported}, clauses: [HRS-1]}]}`:                                       "no evidence for HRS-1",
		`{steps: [{command: {door: ` + door + `, outcome: reported}, clauses: [CMD-1]}]}`:                                       "",
		`{steps: [{group: [{command: {door: ` + door + `, outcome: reported}}], clauses: [CMD-1]}]}`:                            "",
		`{steps: [{group: [{synced: {of: ` + brd + `}}], clauses: [CMD-1]}]}`:                                                   "no evidence for CMD-1",
		`{steps: [{call: {path: /device/v1/devices}, clauses: [IMP-1]}]}`:                                                       "no evidence for IMP-1",
		`{clauses: [CMD-1], steps: [{synced: {of: ` + brd + `}}]}`:                                                              "the file claims CMD-1",
		`{clauses: [CMD-1], setup: [{command: {door: ` + door + `, outcome: reported}}], steps: [{synced: {of: ` + brd + `}}]}`: "the file claims CMD-1",
		`{clauses: [SYNC-1], steps: [{synced: {of: ` + brd + `}}]}`:                                                             "",
	} {
		_, err := Parse("one.yaml", []byte(source))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", source, err, want)
		}
	}
}
