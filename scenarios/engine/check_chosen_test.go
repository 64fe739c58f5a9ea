package engine

import (
	"strings"
	"testing"
)

// TestChosenForAnother: a look that chooses lines or records that a guarantee isn't about, that can't be there, or that nothing
// in the file leads to, is no evidence for it.
func TestChosenForAnother(t *testing.T) {
	t.Parallel()
	const open, hold, press, call, enter = "command: {door: a}", "command: {door: a, command: hold}", "link: {person: b, door: a}", "phone: {person: b}", "present: {person: b, door: a}"
	for look, c := range map[string]struct{ clauses, not, beside string }{
		"journal: {of: a, action: pulse}":                 {"CMD-1, CMD-5, OFF-1, AUTH-4", "", open},
		"journal: {of: a, action: deny}":                  {"OFF-2, CMD-2", "CMD-2", open},
		"journal: {of: a, action: refuse}":                {"CMD-3, CMD-7, SYNC-1", "CMD-7, SYNC-1", open},
		"journal: {of: a, action: hold}":                  {"CMD-3, ENT-1", "ENT-1", hold},
		"journal: {of: a, action: 'hold'}":                {"CMD-3", "CMD-3", open},
		"journal: {of: a, action: hold, since: m}":        {"CMD-3", "", "command: {door: a, command: '${w}'}"},
		"journal: {of: a, action: hold, atLeast: 0}":      {"OFF-3", "", "netloss: {boards: a, graceSec: 60, channels: {all: hold}}"},
		"journal: {of: a, action: hold, atLeast: 1}":      {"CMD-6", "", "crash: {at: after-publish, command: {door: a, command: hold}}"},
		"journal: {of: a, cause: outage}":                 {"OFF-3, CMD-7, CMD-3", "CMD-3", open},
		"journal: {of: a, cause: onsite}":                 {"OFF-1, SYNC-1, CMD-1, LEG-1", "CMD-1, LEG-1", open},
		"journal: {of: a, cause: '${w}'}":                 {"CMD-1, SYNC-1", "", open},
		"journal: {of: a, command: cmd_1}":                {"CMD-1", "CMD-1", open},
		"journal: {of: a, command: '${w}'}":               {"CMD-1", "", open},
		"records: {place: a, command: cmd_1}":             {"ENT-4", "ENT-4", open},
		"records: {place: a, method: onsite}":             {"OFF-4, ENT-4, CMD-1", "CMD-1", enter},
		"records: {place: a, method: onsite, since: m}":   {"ENT-4", "ENT-4", open},
		"records: {place: a, method: link}":               {"ENT-4, AUTH-4, CMD-3, SYNC-2", "SYNC-2", press},
		"records: {place: a, method: link, since: m}":     {"ENT-4, CMD-3", "ENT-4, CMD-3", "link: {person: b}"},
		"records: {place: a, method: link, days: 2}":      {"ENT-4", "", "call: {method: POST, path: /entry/open, body: {}}"},
		"records: {place: a, method: link, days: 3}":      {"ENT-4", "", "crash: {at: after-publish, link: {person: b, door: a}}"},
		"records: {place: a, method: phone}":              {"ENT-4", "", call},
		"records: {place: a, method: phone, days: 2}":     {"ENT-4", "ENT-4", press},
		"records: {place: a, method: phone, days: 3}":     {"ENT-4", "", "control: {path: /people/call, body: {}}"},
		"records: {place: a, method: api}":                {"ENT-4, CMD-1, OFF-1", "OFF-1", press},
		"events: {place: a, query: {permitId: pmt_1}}":    {"ENT-4", "ENT-4", press},
		"events: {place: a, query: {permitId: '${w}'}}":   {"ENT-4", "", press},
		"call: {path: /device/v1/devices, token: forged}": {"AUTH-2, AUTH-5", "AUTH-5", open},
		"call: {path: /device/v1/devices, token: '${w}'}": {"AUTH-5", "", open},
	} {
		expect := map[bool]string{true: "status == 401", false: "count == 2"}[strings.HasPrefix(look, "call")]
		source := "setup: [{cohort: {name: a}}, {mark: m}, {set: {w: open}}, {log: '${w}'}, {permit: {person: b, place: a}}]\nsteps: [{" + c.beside + "}, {" + look + ", expect: " + expect + ", clauses: [" + c.clauses + "]}]"
		_, err := Parse("one.yaml", []byte(source))
		got := ""
		if err != nil {
			_, got, _ = strings.Cut(err.Error(), "isn't evidence for ")
			got, _, _ = strings.Cut(got, ":")
		}
		if got != c.not || err != nil && c.not == "" {
			t.Errorf("%s beside %s: got %v, want no evidence for %q", look, c.beside, err, c.not)
		}
	}
}

// TestPartsOfSchedule: what a schedule says beside its days has nothing to do with hours.
func TestPartsOfSchedule(t *testing.T) {
	t.Parallel()
	const read = `{steps: [{call: {path: /core/v1/public/places/plc_1/schedule}, expect: '`
	for source, want := range map[string]string{
		read + `data.days[0].open', clauses: [HRS-1, HRS-2]}]}`:      "",
		read + `data.timezone == "Asia/Seoul"', clauses: [HRS-2]}]}`: "",
		read + `data.timezone == "Asia/Seoul"', clauses: [HRS-1]}]}`: "isn't evidence for HRS-1",
		read + `data.placeId == "plc_1"', clauses: [HRS-2]}]}`:       "isn't evidence for HRS-2",
	} {
		problem(t, source, want)
	}
	const permit = `{steps: [{call: {path: /space/v1/partner/entry-permits/pmt_1}, expect: '`
	problem(t, permit+`data.externalRef == "x"', clauses: [PERM-3]}]}`, "isn't evidence for PERM-3")
	const setUp = `{setup: [{cohort: {name: a}}, {permit: {person: b, place: a}}, {call: {path: /x}, capture: {c: data}}], steps: [{call: {path: /space/v1/partner/entry-permits/pmt_1}, expect: '`
	problem(t, setUp+`data.externalRef == b.ref', clauses: [PERM-3]}, {log: "${c}"}]}`, "isn't evidence for PERM-3")
	problem(t, setUp+`data.x == a.place', clauses: [PERM-3]}, {log: "${c}"}]}`, "isn't evidence for PERM-3")
	problem(t, setUp+`data.externalRef == c.ref', clauses: [PERM-3]}]}`, "")
	problem(t, `{setup: [{cohort: {name: a}}], steps: [{call: {path: /space/v1/partner/entry-permits/pmt_1, match: {data: {state: active}}}, expect: 'data.x == a.place', clauses: [PERM-7]}]}`, "")
	problem(t, permit+`data.endsAt == "x"', clauses: [PERM-3]}]}`, "")
	const match = `{setup: [{call: {path: /x}, capture: {c: data}}], steps: [{log: "${c}"}, {call: {path: /space/v1/partner/entry-permits/pmt_1, match: {data: `
	problem(t, match+`{name: x, state: active}}}, expect: 'data.externalRef == "x"', clauses: [PERM-7]}]}`, "")
	problem(t, match+`{name: x, state: active}}}, clauses: [PERM-7]}]}`, "")
	problem(t, match+`{name: x}}}, expect: 'data.externalRef == "x"', clauses: [PERM-7]}]}`, "isn't evidence for PERM-7")
	problem(t, match+`{name: x}}}, clauses: [PERM-7]}]}`, "isn't evidence for PERM-7")
	problem(t, match+`"${c}"}}, clauses: [PERM-7]}]}`, "")
}
