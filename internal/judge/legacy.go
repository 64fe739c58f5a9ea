package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
)

const (
	legacyDoors  = "/device/v1/doors"
	legacyBoards = "/device/v1/boards"
	netlossRoute = legacyBoards + "/{id}/netloss"
)

// ends are the ways a command may end, by code: the status and the reason.
var ends = map[string]struct {
	status int
	reason string
}{
	"device_offline":     {409, "offline"},
	"device_refused":     {502, "refused"},
	"device_no_response": {504, "noResponse"},
}

// leg1 judges LEG-1: commands on legacy paths end like those on the new one, failures carry reason and detail, and
// doors and boards show their states.
func leg1(v *View) Verdict {
	t, done, failed, listed, other := &tally{}, 0, 0, 0, 0
	for _, c := range v.calls() {
		if !strings.HasPrefix(c.Route, legacyDoors) && !strings.HasPrefix(c.Route, legacyBoards) || c.SentNs == 0 {
			continue
		}
		t.checked++
		switch {
		case c.Route == legacyDoors || c.Route == legacyBoards:
			if c.ok() {
				listed++
			}
		case c.Method == "GET":
		case c.ok() && (c.Method != "POST" || strings.HasSuffix(c.Route, "/policies")):
			if !c.removedNothing() {
				other++
			}
		case c.ok():
			done++
		case c.Status >= 500 || ends[c.Code].status != 0:
			failed++
		}
		if why := c.legacy(); why != "" {
			t.bad(c.Event, "%s %s was answered with %d %s: %s", c.Method, c.Route, c.Status, c.Code, why) // [LEG-1]
		}
	}
	return t.verdict(v, "LEG-1", fmt.Sprintf("%s calls of legacy paths, with the outcomes of commands", amount.Number(t.checked))).
		tried(done+failed+other, "no command or policy was sent over a legacy path").
		shows(sight{done, "a command that succeeds"}, sight{failed, "a command that fails"}, sight{listed, "a list of doors or boards"})
}

// removedNothing reports whether windows were to be removed, but none was there.
func (c *call) removedNothing() bool {
	n, counted := c.number("deleted")
	return counted && n == 0
}

// legacy is what is wrong with an answer on a legacy path, "" for nothing.
func (c *call) legacy() string {
	end, device := ends[c.Code]
	command := c.Method == "POST" && !strings.HasSuffix(c.Route, "/policies")
	switch {
	case c.Replay: // in the form of the path that was called first
		return ""
	case c.Status >= 400 && c.Code != "method_not_allowed" && c.Code != "not_found" && (c.out("reason") == "" || c.out("detail") == ""):
		return "without reason and detail"
	case device && command && (c.Status != end.status || c.out("reason") != end.reason):
		return fmt.Sprintf("reason %q, but on the new path it is %d %s", c.out("reason"), end.status, end.reason)
	case c.ok() && command && c.out("outcome") != "reported":
		return fmt.Sprintf("outcome %q", c.out("outcome"))
	}
	if !c.ok() || c.Method != "GET" {
		return ""
	}
	for _, item := range c.Items {
		m, _ := item.(map[string]any)
		_, online := m["online"].(bool)
		state, _ := m["doorState"].(string)
		switch {
		case c.Route == legacyDoors && !slices.Contains([]string{"locked", "unlocked", "open", "warning"}, state):
			return fmt.Sprintf("doorState %q", state)
		case (c.Route == legacyDoors || c.Route == legacyBoards) && !online:
			return "a row without online"
		}
	}
	return ""
}

// cmd8 judges CMD-8: in the test place nothing is ever offline, refuses or stays silent, unless args.reason asked for
// it.
func cmd8(v *View) Verdict {
	t, done, cases := &tally{}, map[string]int{}, []*call(nil)
	for _, c := range v.calls() {
		if c.CallText.Kind != "test" || !strings.HasPrefix(c.Route, "/device/") || c.Method == "GET" && c.Route != netlossRoute || c.In["sim"] == true || c.Replay {
			continue
		}
		t.checked++
		if c.ok() && c.Method != "GET" && !c.removedNothing() {
			done[v.done(c)]++
			cases = append(cases, c)
		}
		_, device := ends[c.Code]
		if device || c.Code == "store_offline" || c.Code == "store_unreachable" { // [CMD-8]
			if c.Status == 504 && v.dying(c.started(), c.Event) { // its server died
				continue
			}
			t.bad(c.Event, "%s %s in the test place was answered with %d %s", c.Method, c.Route, c.Status, c.Code)
		}
	}
	return t.verdict(v, "CMD-8", fmt.Sprintf("%s calls for commands, policies and outage policies in the test place", amount.Number(t.checked))).
		tried(len(done), "no command, window or outage policy succeeded in the test place").
		showsIf(v.told, sight{done["open"], "open"}, sight{done["hold"], "hold"}, sight{done["close"], "close"}, sight{done["policy"], "a door policy"}, sight{done["netloss"], "an outage policy"}).
		at(v, times(cases))
}

// done is what a call did at a door or board: the command's name, policy, netloss, or "" if nobody can tell.
func (v *View) done(c *call) string {
	switch k := v.commands[c.out("commandId")]; {
	case c.Route == netlossRoute:
		return "netloss"
	case strings.HasSuffix(c.Route, "/policies"):
		return "policy"
	case k != nil:
		return k.op
	}
	return ""
}
