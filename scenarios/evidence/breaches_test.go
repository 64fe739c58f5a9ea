package evidence

import (
	"fmt"
	"maps"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios/expression"
)

type m = map[string]any

const noticed, unknown = "", "unknown"

var (
	permit = m{"data": m{"state": "active", "name": "Ann", "doorIds": []any{"dor_1"},
		"startsAt": "2026-03-01T09:00:00.000Z", "endsAt": "2026-03-09T09:00:00.000Z"}}
	permits  = m{"data": []any{m{"state": "active"}, m{"state": "pending"}}}
	schedule = m{"data": m{"timezone": "Asia/Seoul", "days": []any{dayOf(true, nil), dayOf(false, m{"type": "closure"})}}}
	again    = m{"data": m{"received": 2.0, "created": 0.0, "updated": 0.0, "unchanged": 2.0, "failed": 0.0,
		"results": []any{row("unchanged"), row("unchanged")}}}
	failing = m{"data": m{"received": 2.0, "created": 1.0, "updated": 0.0, "unchanged": 0.0, "failed": 1.0,
		"results": []any{row("created"), row("failed")}}}
	door   = m{"data": m{"health": m{"state": "online"}, "standing": m{"state": "locked"}}}
	boards = m{"boards": []any{m{"appliedRevision": 4.0, "desiredRevision": 4.0}}}
	record = m{"records": []any{m{"actor": "guest:*5678", "result": "opened"}}, "count": 1}
)

func row(status string) m { return m{"id": "cus_1", "status": status} }

func dayOf(open bool, note any) m {
	intervals := []any{}
	if open {
		intervals = []any{m{"start": "09:00", "end": "18:00"}}
	}
	return m{"date": "2026-03-01", "weekday": "sun", "open": open, "note": note, "intervals": intervals}
}

func lines(actions ...any) m {
	list := []any{}
	for _, a := range actions {
		list = append(list, m{"action": a, "cause": "command", "commandId": "cmd_1"})
	}
	out := m{"lines": list, "count": len(list), "first": nil, "last": nil}
	if len(list) > 0 {
		out["first"], out["last"] = list[0], list[len(list)-1]
	}
	return out
}

var breachCases = []struct {
	clause string
	out    m
	expect string
	want   string // what it doesn't notice
}{
	{"PERM-6", permit, `len(data.doorIds) >= 1`, "doorIds had been [\"dor_another0\"]"},
	{"PERM-6", permit, `all(data.doorIds, # startsWith "dor_")`, "doorIds had been [\"dor_another0\"]"},
	{"PERM-6", permit, `len(data.doorIds) == 1`, noticed},
	{"PERM-6", permit, `data.doorIds == [door]`, noticed},
	{"PERM-6", permit, `data.name == "Ann"`, unknown},
	{"PERM-3", permit, `date(data.endsAt) > date(data.startsAt)`, "endsAt had been 2026-03-09T10:00:00.000Z"},
	{"PERM-3", permit, `data.endsAt != before`, noticed},
	{"PERM-3", permit, `data.endsAt > before`, noticed},
	{"PERM-3", permit, `data.state != "revoked"`, noticed},
	{"PERM-7", permit, `data.state in ["active", "pending"]`, "state had been pending"},
	{"PERM-7", permit, `data.state == "active"`, noticed},
	{"PERM-7", permits, `count(data, .state == "pending") == 1`, noticed},
	{"PERM-7", permits, `any(data, .state == "pending") or any(data, .state == "active")`, "state had been pending"},
	{"HRS-1", schedule, `len(data.days) == 2`, "days had been different"},
	{"HRS-1", schedule, `data.days[0].open`, noticed},
	{"HRS-1", schedule, `data.timezone == "Asia/Seoul"`, unknown},
	{"HRS-2", schedule, `len(data.days) == 2`, noticed},
	{"HRS-2", schedule, `all(data.days, .open == (len(.intervals) > 0))`, "days had been different"},
	{"HRS-2", schedule, `any(data.days, .note != nil)`, noticed},
	{"IMP-1", again, `data.failed == 0`, "2 rows had been created and 0 had failed"},
	{"IMP-1", again, `data.received == len(data.results)`, "2 rows had been created and 0 had failed"},
	{"IMP-1", again, `data.created == 0`, noticed},
	{"IMP-1", again, `data.results[0].id == "cus_1"`, noticed},
	{"IMP-1", failing, `data.failed >= 1 or data.created >= 1`, "0 rows had been created and 2 had failed"},
	{"IMP-1", failing, `data.failed == 1`, noticed},
	{"CMD-7", door, `data.standing.state in ["locked", "unlocked"]`, "state had been unlocked"},
	{"CMD-7", door, `data.standing.state != "unlocked"`, noticed},
	{"CMD-7", door, `data.health.state == "online"`, unknown},
	{"CMD-2", lines(), `count <= 1`, "there had been a line of a door that moved"},
	{"CMD-2", lines(), `none(lines, .action == "hold")`, "there had been a line of a door that moved"},
	{"CMD-2", lines(), `none(lines, .commandId == command)`, noticed},
	{"CMD-2", lines(), `count == 0`, noticed},
	{"CMD-3", lines("refuse"), `all(lines, .action in ["refuse", "pulse"])`, "there had been a line of a door that moved"},
	{"CMD-3", lines("refuse"), `count == 1`, noticed},
	{"CMD-4", lines(), `count <= 2`, "there had been 2 lines"},
	{"CMD-4", lines(), `count <= 1`, noticed},
	{"CMD-5", lines("pulse"), `count <= 4`, "there had been 0 lines"},
	{"CMD-5", lines("pulse"), `count < 2`, noticed},
	{"CMD-1", lines("pulse"), `count >= 1`, noticed},
	{"CMD-1", lines("pulse"), `first.action in ["pulse", "hold"]`, "action had been hold"},
	{"OFF-3", lines("hold"), `all(lines, .action in ["hold", "lock", "pulse"])`, "action had been lock"},
	{"ENT-4", record, `all(records, .actor startsWith "guest:")`, "actor had shown the whole phone"},
	{"ENT-4", record, `none(records, .actor contains ann.phone)`, noticed},
	{"ENT-4", record, `all(records, .actor startsWith "guest:" and .result == "opened")`, noticed},
	{"ENT-4", record, `count < 3`, "there had been 0 records"},
	{"ENT-4", record, `count > 0`, noticed},
	{"AUTH-1", m{"data": m{"expiresIn": 900.0}}, `data.expiresIn > 0`, "expiresIn had been 3600"},
	{"AUTH-1", m{"data": m{"expiresIn": 900.0}}, `data.expiresIn <= 900`, noticed},
	{"SYNC-1", boards, `all(boards, .appliedRevision >= 1)`, "appliedRevision had been 3"},
	{"SYNC-1", boards, `all(boards, .appliedRevision == .desiredRevision)`, noticed},
	{"OFF-3", m{"data": m{"graceSec": 600.0, "channels": m{"1": "hold"}}}, `len(data.channels) == 1`, `channels had been {"1":"close"}`},
	{"OFF-3", m{"data": m{"graceSec": 600.0, "channels": m{"1": "hold"}}}, `data.channels["1"] == "hold"`, noticed},
}

// TestBreaches: an expectation has evidence for a clause if one of the results that would break the clause breaks the
// expectation. It has none if any value would do, and nothing is known if it speaks of something else.
func TestBreaches(t *testing.T) {
	t.Parallel()
	for _, c := range breachCases {
		env := m{"before": "2026-03-05T09:00:00.000Z", "door": "dor_1", "command": "cmd_7", "ann": m{"phone": "01099995678"}}
		maps.Copy(env, c.out)
		e := must.Get(expression.Compile(c.expect))(t)
		if got := unnoticed(t, Breaches(c.clause, c.out, Said{Exprs: []*expression.Expr{e}, Env: env}), e, env); got != c.want {
			t.Errorf("%s: %s doesn't notice %q, want %q", c.clause, c.expect, got, c.want)
		}
	}
}

// unnoticed is the first of these results if the expectation holds with each of them, "" if it doesn't.
func unnoticed(t *testing.T, breaches []Breach, e *expression.Expr, env m) string {
	t.Helper()
	for _, b := range breaches {
		changed := maps.Clone(env)
		maps.Copy(changed, b.Out)
		switch v, err := e.Eval(changed); {
		case err != nil:
			return fmt.Sprint("an error: ", err)
		case v != true:
			return ""
		}
	}
	if len(breaches) == 0 {
		return unknown
	}
	return breaches[0].What
}
