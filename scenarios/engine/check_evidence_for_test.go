package engine

import (
	"testing"
)

// TestClaimsForAnother: a step that can fail, but for a different guarantee than it claims, is a mistake in the file.
// So is a file's claim that none of its steps relates to.
func TestClaimsForAnother(t *testing.T) {
	t.Parallel()
	const door, brd = `"\"dor_1\""`, `"\"brd_1\""`
	for source, want := range map[string]string{
		`{steps: [{synced: {of: ` + brd + `}, clauses: [CMD-1]}]}`:                                                                                                   "what this synced step finds isn't evidence for CMD-1",
		`{steps: [{synced: {of: ` + brd + `}, clauses: [SYNC-1]}]}`:                                                                                                  "",
		`{steps: [{boards: {of: ` + brd + `, all: online}, clauses: [CMD-1]}]}`:                                                                                      "isn't evidence for CMD-1",
		`{steps: [{boards: {of: ` + brd + `, all: online}, clauses: [OFF-4]}]}`:                                                                                      "",
		`{steps: [{boards: {of: ` + brd + `, all: not online}, clauses: [OFF-2, OFF-3]}]}`:                                                                           "isn't evidence for OFF-2, OFF-3",
		`{steps: [{boards: {of: ` + brd + `, all: outageAgeSec > 60}, clauses: [OFF-2, OFF-3]}]}`:                                                                    "isn't evidence for OFF-3:",
		`{steps: [{boards: {of: ` + brd + `, all: 'all(doors, .standing.held)'}, clauses: [OFF-3]}]}`:                                                                "",
		`{steps: [{boards: {of: ` + brd + `, all: len(doors) > 1}, clauses: [CMD-7]}]}`:                                                                              "isn't evidence for CMD-7",
		`{steps: [{boards: {of: ` + brd + `, all: 'all(doors, .standing.held)'}, clauses: [CMD-7]}]}`:                                                                "",
		`{steps: [{boards: {of: ` + brd + `}, capture: {was: first.doors}}, {boards: {of: ` + brd + `, all: doors == was}, clauses: [CMD-7]}]}`:                      "",
		`{steps: [{present: {phone: "01012345678", door: ` + door + `, result: opened}, clauses: [CMD-5]}]}`:                                                         "isn't evidence for CMD-5",
		`{steps: [{command: {door: ` + door + `, outcome: reported}, clauses: [HRS-1]}]}`:                                                                            "isn't evidence for HRS-1",
		`{steps: [{command: {door: ` + door + `, outcome: reported}, clauses: [CMD-1]}]}`:                                                                            "",
		`{steps: [{command: {door: ` + door + `, outcome: reported}, clauses: [LEG-1]}]}`:                                                                            "isn't evidence for LEG-1",
		`{steps: [{command: {door: ` + door + `, legacy: true, outcome: reported}, clauses: [LEG-1]}]}`:                                                              "",
		`{steps: [{group: [{command: {door: ` + door + `, outcome: reported}}], clauses: [CMD-1]}]}`:                                                                 "",
		`{steps: [{group: [{synced: {of: ` + brd + `}}], clauses: [CMD-1]}]}`:                                                                                        "isn't evidence for CMD-1",
		`{steps: [{call: {path: /device/v1/devices}, clauses: [IMP-1]}]}`:                                                                                            "isn't evidence for IMP-1",
		`{steps: [{link: {token: t, door: ` + door + `, status: 404}, within: 10s, clauses: [PERM-4]}]}`:                                                             "leave out within and eventually, because it promises something at once",
		`{steps: [{phone: {from: "01012345678", place: '"plc_1"', result: opened}, eventually: true, clauses: [PERM-1]}]}`:                                           "isn't evidence for PERM-1",
		`{steps: [{phone: {from: "01012345678", place: '"plc_1"', result: opened}, eventually: true, clauses: [ENT-1]}]}`:                                            "",
		`{steps: [{link: {token: t, door: ` + door + `, status: 404}, clauses: [PERM-4]}]}`:                                                                          "",
		`{clauses: [CMD-1], steps: [{synced: {of: ` + brd + `}}]}`:                                                                                                   "the file claims CMD-1",
		`{clauses: [CMD-1], setup: [{command: {door: ` + door + `, outcome: reported}}], steps: [{synced: {of: ` + brd + `}}]}`:                                      "the file claims CMD-1",
		`{clauses: [SYNC-1], steps: [{synced: {of: ` + brd + `}}]}`:                                                                                                  "",
		`{steps: [{call: {path: /device/v1/devices, match: {success: true}}, clauses: [CMD-1]}]}`:                                                                    "isn't evidence for CMD-1",
		`{steps: [{call: {path: /device/v1/doors, match: {success: true}}, clauses: [LEG-1]}]}`:                                                                      "",
		`{steps: [{call: {path: /device/v1/devices/dor_1}, expect: data.kind == "door", clauses: [CMD-7]}]}`:                                                         "isn't evidence for CMD-7",
		`{steps: [{call: {path: /device/v1/devices/dor_1}, expect: data.standing.state == "unlocked", clauses: [CMD-7]}]}`:                                           "",
		`{steps: [{call: {path: /device/v1/doors}, expect: 'data[0].doorState == "unlocked"', clauses: [CMD-7, LEG-1]}]}`:                                            "",
		`{steps: [{call: {path: /device/v1/devices}, expect: 'data[0].kind == "door"', clauses: [LEG-1]}]}`:                                                          "isn't evidence for LEG-1",
		`{steps: [{call: {path: /device/v1/devices}, expect: headers.Deprecation == nil, clauses: [LEG-1]}]}`:                                                        "",
		`{steps: [{call: {path: /device/v1/devices}, capture: {head: "data[0]"}}, {call: {path: /device/v1/devices}, expect: "data[0] == head", clauses: [LEG-1]}]}`: "",
		`{steps: [{call: {path: /space/v1/partner/gate-config}, clauses: [LEG-1]}]}`:                                                                                 "isn't evidence for LEG-1",
		`{steps: [{call: {path: /space/v1/access/people, status: 404}, clauses: [LEG-1]}]}`:                                                                          "",
		`{steps: [{permit: {person: a, status: [200, 409]}, clauses: [PERM-5]}]}`:                                                                                    "claim PERM-5 at a step that tells them apart",
		`{steps: [{permit: {person: a, status: [200, 409]}, expect: status == 409, clauses: [PERM-5]}]}`:                                                             "",
		`{steps: [{call: {path: /device/v1/devices/dor_1}, expect: 'data.capabilities.door != []', clauses: [CMD-8]}]}`:                                              "isn't evidence for CMD-8: claim CMD-8 at a step that checks what it promises, or expect something here of standing, health",
		`{steps: [{call: {path: /device/v1/devices/dor_1}, expect: data.standing.state == "unlocked", clauses: [CMD-8]}]}`:                                           "",
		`{steps: [{call: {path: /device/v1/doors/dor_1/policies}, expect: 'data[0].mode == "free"', clauses: [CMD-8]}]}`:                                             "",
		`{steps: [{call: {path: /device/v1/boards}, expect: 'data[0].boardId == "brd_1"', clauses: [CMD-8]}]}`:                                                       "isn't evidence for CMD-8",
		`{steps: [{call: {path: /device/v1/doors}, expect: 'all(data, .name != "")', clauses: [CMD-8]}]}`:                                                            "isn't evidence for CMD-8",
		`{steps: [{call: {path: /device/v1/doors}, expect: 'all(data, .doorState == "locked")', clauses: [CMD-8]}]}`:                                                 "",
		`{steps: [{call: {path: /device/v1/boards/brd_1/netloss}, expect: data.graceSec == 60, clauses: [CMD-8]}]}`:                                                  "",
		`{steps: [{call: {method: POST, path: /core/v1/auth/apikey/token, body: {key: k}}, clauses: [AUTH-3]}]}`:                                                     "",
		`{steps: [{call: {method: POST, path: /core/v1/auth/apikey/token, body: {key: k}}, clauses: [AUTH-4]}]}`:                                                     "isn't evidence for AUTH-4",
		`{steps: [{call: {path: /space/v1/partner/entry-permits/pmt_1}, expect: data.phoneTail == "1234", clauses: [OFF-4]}]}`:                                       "or expect something here of sync, boards, useCount, firstUsedAt",
		`{steps: [{call: {path: /space/v1/partner/entry-permits/pmt_1}, expect: data.state == "active", clauses: [OFF-4]}]}`:                                         "isn't evidence for OFF-4",
		`{steps: [{call: {path: /space/v1/partner/entry-permits/pmt_1}, expect: data.useCount == 1, clauses: [OFF-4]}]}`:                                             "",
		`{steps: [{call: {path: /space/v1/partner/entry-permits/pmt_1}, expect: data.name == "ann", clauses: [ENT-3]}]}`:                                             "isn't evidence for ENT-3",
		`{steps: [{call: {path: /device/v1/boards/brd_1/netloss}, expect: data.boardId == "brd_1", clauses: [OFF-3]}]}`:                                              "isn't evidence for OFF-3",
		`{steps: [{call: {path: /device/v1/devices/dor_1}, expect: data.kind == "door", clauses: [OFF-4]}]}`:                                                         "isn't evidence for OFF-4",
		`{steps: [{boards: {of: ` + brd + `, all: appliedRevision <= desiredRevision}, clauses: [SYNC-1]}]}`:                                                         "the condition all holds whatever",
		`{steps: [{boards: {of: ` + brd + `, all: appliedRevision == desiredRevision}, clauses: [SYNC-1]}]}`:                                                         "",
	} {
		problem(t, source, want)
	}
	problem(t, `{name: a, clauses: [CMD-1], steps: [{synced: {of: `+brd+`}}]}`, "one.yaml:1:20: the file claims CMD-1")
}
