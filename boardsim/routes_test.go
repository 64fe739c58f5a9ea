package boardsim

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

func keys(v any) []string { return slices.Sorted(maps.Keys(v.(map[string]any))) }

func TestJournalFields(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		r.arm("reboot", one, "")
		r.sleep(time.Second)
		r.server.command(one, "dor_one1", wire.CmdOpen, func(c *wire.Command) { c.GrantID = "pmt_1" })
		r.sleep(time.Second)
		r.server.command(one, "dor_one1", wire.CmdHold)
		r.sleep(time.Second)
		r.present("dor_one2")
		r.do("POST", "/people/present", `{"doorId":"dor_one2","token":"nobody's"}`)
		r.arm("offline", one, "")
		r.advance(36*time.Hour + time.Minute)
		r.present("dor_one2")
		at := func(d time.Duration) string { return noon.Add(d).Format(control.TimeFormat) }
		line := func(seq float64, after time.Duration, door string, channel float64, action, cause string, command, grant any, age float64) map[string]any {
			l := map[string]any{"seq": seq, "boot": 2.0, "at": at(after), "boardId": one, "doorId": door, "channel": channel, "action": action, "cause": cause,
				"commandId": command, "grantId": grant, "revision": 3.0, "outageAgeSec": age}
			if action == "pulse" {
				l["pulseMs"] = 5000.0
			}
			return l
		}
		end := 36 * time.Hour
		r.want("journal", r.do("GET", "/boards/"+one+"/journal", ""), any([]any{
			line(1, 0, "dor_one1", 1, "pulse", "command", "cmd_1", "pmt_1", 0),
			line(2, 0, "dor_one1", 1, "hold", "command", "cmd_2", nil, 0),
			line(3, 0, "dor_one2", 2, "pulse", "onsite", nil, "mem_1", 0),
			line(4, 0, "dor_one2", 2, "deny", "onsite", nil, nil, 0),
			line(5, end, "dor_one1", 1, "lock", "outage", nil, nil, 129600),
			line(6, end, "dor_one2", 2, "lock", "outage", nil, nil, 129600),
			line(7, end+time.Minute, "dor_one2", 2, "deny", "onsite", nil, nil, 129660),
		}))
		b := r.board(one)
		r.want("over 36 h", []any{b["phase"], b["outageAgeSec"]}, []any{"stopped", 129660.0})
		r.want("events", len(r.seen(history.Actuation)), 7)
	})
}

func TestBoardFields(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.command(one, "dor_one1", wire.CmdHold, func(c *wire.Command) { c.Minutes = 5 })
		r.sleep(time.Second)
		b := r.board(one)
		r.want("fields", keys(b), []string{"appliedRevision", "boardId", "boot", "bufferedRecords", "desiredRevision", "detached", "doors",
			"droppedRecords", "online", "outageAgeSec", "phase", "placeId"})
		r.want("door", b["doors"].([]any)[0], any(map[string]any{"doorId": "dor_one1", "channel": 1.0, "standing": map[string]any{
			"state": "unlocked", "since": noon.Format(control.TimeFormat), "holdUntil": noon.Add(5 * time.Minute).Format(control.TimeFormat), "held": true, "leaf": "closed"}}))
		r.want("revisions", []any{b["desiredRevision"], b["appliedRevision"]}, []any{9.0, 0.0})
		list := r.do("GET", "/boards?limit=2&offset=1", "").([]any)
		r.want("page", []any{len(list), list[0].(map[string]any)["boardId"]}, []any{2, two})
		r.want("of a place", len(r.do("GET", "/boards?placeId=plc_test", "").([]any)), 1)
		r.want("of no place: all boards", len(r.do("GET", "/boards?placeId=", "").([]any)), len(r.do("GET", "/boards", "").([]any)))
		r.want("escaped", r.do("GET", "/boards/brd%5Fone", "").(map[string]any)["boardId"], any(one))
	})
}

// The connection phases at their limits, across a jump.
func TestPhases(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.send(one, wire.DownCfg, wire.Config{ID: "cfg_1", NotAfterMs: r.server.session() + 5000, Netloss: wire.Netloss{GraceSec: 600}})
		r.sleep(time.Second)
		r.arm("offline", one, "")
		for _, c := range []struct {
			by    time.Duration
			phase string
			age   float64
		}{
			{0, "grace", 0}, {10*time.Minute - time.Millisecond, "grace", 599.999}, {time.Millisecond, "outage", 600},
			{35*time.Hour + 50*time.Minute, "outage", 129600}, {time.Millisecond, "stopped", 129600.001},
		} {
			r.advance(c.by)
			b := r.board(one)
			r.want("view", []any{b["phase"], b["outageAgeSec"]}, []any{c.phase, c.age})
		}
	})
}

// A fault's result can still be read after it is gone.
func TestGoneFaultIsShown(t *testing.T) {
	bubble(t, true, func(r *rig) {
		armed := r.do("POST", "/faults", `{"fault":"offline","boards":["`+one+`"]}`).(map[string]any)
		path := "/faults/" + armed["faultId"].(string)
		r.want("in force", r.do("GET", path, "").(map[string]any)["boards"], any([]any{one}))
		r.do("DELETE", path, "")
		_, never := r.call("GET", "/faults/flt_99", "")
		r.want("never armed", never.(map[string]any)["message"], any(`no fault "flt_99" has been armed here recently`))
		gone := r.do("GET", path, "").(map[string]any)
		r.want("gone", []any{gone["fault"], gone["hits"], gone["count"]}, []any{"offline", 1.0, 1.0})
	})
}

func TestDetachAndAttach(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		r.want("simulated", r.fleet.Simulates(one), true)
		r.want("somebody else's", r.fleet.Simulates("brd_x"), false)
		r.want("no fleet yet", (*Fleet)(nil).Simulates(one), false)
		d := r.do("POST", "/boards/"+one+"/detach", "").(map[string]any)
		r.want("login", []any{d["mqtt"], d["clientId"], d["username"]}, []any{"tcp://127.0.0.1:1883", one, one})
		r.want("password", d["password"], any(*r.fleet.byID[one].password.Load()))
		r.want("fields", keys(d), []string{"clientId", "mqtt", "password", "username"})
		r.want("phase", r.board(one)["phase"], any("stopped"))
		r.sleep(time.Second)
		r.want("off the server", r.server.online(one), false)
		r.want("simulated", r.fleet.Simulates(one), false)
		r.want("again", r.do("POST", "/boards/"+one+"/detach", ""), any(d))
		for _, fault := range []string{"offline", "reboot"} { // neither brings it back
			status, f := r.call("POST", "/faults", `{"fault":"`+fault+`","boards":["`+two+`","`+one+`"]}`)
			if status != http.StatusConflict || f.(map[string]any)["error"] != "rule_violated" {
				t.Errorf("%s: %d %v, want 409", fault, status, f)
			}
		}
		for _, cohort := range []string{`"share":1`, `"placeId":"` + place + `"`} {
			r.do("POST", "/faults", `{"fault":"noop",`+cohort+`}`)
			armed := r.do("GET", "/faults", "").([]any)
			r.want(cohort, armed[len(armed)-1].(map[string]any)["boards"], any([]any{two}))
		}
		r.do("POST", "/faults/reset", "")
		if status, f := r.call("GET", "/boards/"+one+"/journal", ""); status != http.StatusConflict {
			t.Errorf("journal: %d %v, want 409", status, f)
		}
		r.advance(37 * time.Hour)
		r.want("still away", r.server.online(one), false)
		b := r.board(one)
		r.want("view", []any{b["online"], b["phase"], b["detached"]}, []any{false, "stopped", true})
		for path, body := range map[string]string{"present": `{"doorId":"dor_one1","phone":"01012345678"}`, "leaf": `{"doorId":"dor_one1","action":"open"}`} {
			if status, f := r.call("POST", "/people/"+path, body); status != http.StatusConflict || f.(map[string]any)["error"] != "rule_violated" {
				t.Errorf(`%s: got %d %v, want status = http.StatusConflict, f.(map[string]any)["error"] = "rule_violated"`, path, status, f)
			}
		}
		r.do("POST", "/boards/"+one+"/attach", "")
		r.flight.Sent(one) // to the real board, which is still connected
		r.do("POST", "/boards/"+one+"/attach", "")
		r.advance(0)
		r.want("back", r.server.online(one), true)
		r.want("simulated", r.fleet.Simulates(one), true)
		r.want("boot", r.board(one)["boot"], any(2.0))
		r.want("events", []int{len(r.seen(history.Detached)), len(r.seen(history.Attached))}, []int{1, 1})
	})
}

func TestPeopleAtTheDoor(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		r.want("before the synchronization", r.present("dor_one1"), "denied no_valid_grant")
		r.arm("reboot", one, "")
		r.advance(time.Second)
		r.want("phone", r.present("dor_one1"), "opened onsite")
		got := r.do("POST", "/people/present", `{"doorId":"dor_one1","token":"`+token+`"}`).(map[string]any)
		journal := r.do("GET", "/boards/"+one+"/journal", "").([]any)
		r.want("link", got, map[string]any{"result": "opened", "reason": "onsite", "journal": journal[len(journal)-1:]})
		shown := r.seen(history.Presented)
		acted := r.seen(history.Actuation)
		r.want("the presentation names its journal entry", shown[len(shown)-1].JournalSeq, acted[len(acted)-1].JournalSeq)
		leaf := func(action string) any {
			return r.do("POST", "/people/leaf", `{"doorId":"dor_one1","action":"`+action+`"}`).(map[string]any)["standing"].(map[string]any)["state"]
		}
		r.want("in the pulse", leaf("open"), any("open"))
		r.advance(time.Minute)
		r.want("60 s", leaf("open"), any("open"))
		r.advance(time.Millisecond)
		r.want("over 60 s", leaf("open"), any("warning"))
		r.want("closed", leaf("close"), any("locked"))
		r.want("forced", leaf("force"), any("warning"))
		leaf("close")
		r.sleep(time.Second)
		r.want("states told", len(r.server.uplinks(one, wire.UpState)), 5)
		r.want("records told", r.recordsTold(one), 3)
	})
}

func TestBadRequests(t *testing.T) {
	bubble(t, true, func(r *rig) {
		for _, c := range []struct {
			method, path, body string
			status             int
			code, field        string
		}{
			{"GET", "/boards/brd_on", "", 404, "board_not_found", ""},
			{"GET", "/boards/brd_on/journal", "", 404, "board_not_found", ""},
			{"POST", "/boards/brd_on/detach", "", 404, "board_not_found", ""},
			{"GET", "/boards?limit=0", "", 400, "invalid_query", "limit"},
			{"GET", "/boards?limit=501", "", 400, "invalid_query", "limit"},
			{"GET", "/boards?offset=x", "", 400, "invalid_query", "offset"},
			{"POST", "/faults", "", 400, "invalid_body", ""},
			{"POST", "/faults", `{"fault":`, 400, "invalid_body", ""},
			{"POST", "/faults", `{}{}`, 400, "invalid_body", ""},
			{"POST", "/faults", `{}`, 400, "missing_field", "fault"},
			{"POST", "/faults", `{"fault":"noop","boards":["brd_one"],"nth":0}`, 400, "invalid_field", "nth"},
			{"POST", "/faults", `{"fault":"offlin","boards":["brd_one"]}`, 400, "invalid_field", "fault"},
			{"POST", "/faults", `{"fault":"offline"}`, 400, "invalid_field", "boards"},
			{"POST", "/faults", `{"fault":"offline","boards":["brd_on"]}`, 400, "invalid_field", "boards"},
			{"POST", "/faults", `{"fault":"offline","boards":["brd_test"]}`, 409, "rule_violated", ""},
			{"POST", "/faults", `{"fault":"offline","placeId":"plc_test"}`, 409, "rule_violated", ""},
			{"POST", "/faults", `{"fault":"reboot","boards":["brd_one"],"for":"5m"}`, 400, "invalid_field", "for"},
			{"POST", "/faults", `{"FAULT":"offline","boards":["brd_one"]}`, 400, "invalid_field", "FAULT"},
			{"GET", "/faults/reset", "", 405, "method_not_allowed", ""},
			{"DELETE", "/faults/reset", "", 405, "method_not_allowed", ""},
			{"DELETE", "/faults/flt_99", "", 404, "not_found", ""},
			{"GET", "/faults/flt_99", "", 404, "not_found", ""},
			{"POST", "/people/present", `{"doorId":"dor_one1"}`, 400, "missing_field", "phone"},
			{"POST", "/people/present", `{"doorId":"dor_one1","phone":"010-1234-5678"}`, 400, "invalid_phone", "phone"},
			{"POST", "/people/present", `{"doorId":"dor_one1","phone":"01012345678","token":"t"}`, 400, "invalid_field", "phone"},
			{"POST", "/people/present", `{"phone":"01012345678"}`, 400, "missing_field", "doorId"},
			{"POST", "/people/present", `{"doorId":"dor_on1","phone":"01012345678"}`, 404, "device_not_found", "doorId"},
			{"POST", "/people/leaf", `{"doorId":"dor_one1","action":"opens"}`, 400, "invalid_field", "action"},
			{"POST", "/people/leaf", `{"doorId":"dor_one1"}`, 400, "missing_field", "action"},
			{"GET", "/boards?placeId=plc_x", "", 404, "place_not_found", ""},
			{"GET", "/boards?limit=", "", 400, "invalid_query", "limit"},
			{"GET", "/boards?limt=3", "", 400, "invalid_query", "limt"},
			{"GET", "/boards?limit=1&limit=2", "", 400, "invalid_query", "limit"},
			{"GET", "/faults?limit=3", "", 400, "invalid_query", "limit"},
			{"POST", "/faults?x=1", `{"fault":"offline","share":1}`, 400, "invalid_query", "x"},
			{"POST", "/faults", `{"fault":"noop","fault":"offline","share":1}`, 400, "invalid_field", "fault"},
			{"POST", "/faults/reset", `{"x":1}`, 400, "invalid_field", "x"},
			{"POST", "/boards/brd_one/detach", `{"x":1}`, 400, "invalid_field", "x"},
			{"GET", "/boards/brd%255Fone", "", 404, "board_not_found", ""},
			{"POST", "/boards/brd_test/detach", "", 409, "rule_violated", ""},
			{"POST", "/people/leaf", `[]`, 400, "invalid_body", ""},
		} {
			status, data := r.call(c.method, c.path, c.body)
			f, _ := data.(map[string]any)
			field := ""
			if d, ok := f["details"].(map[string]any); ok {
				field, _ = d["field"].(string)
			}
			if status != c.status || f["error"] != c.code || field != c.field {
				t.Errorf("%s %s %s: %d %v %q, want %d %s %q", c.method, c.path, c.body, status, f, field, c.status, c.code, c.field)
			}
		}
	})
}

// TestFaultsAreRefusedInSentences: what is wrong with a request to arm a fault, as a person reads it.
func TestFaultsAreRefusedInSentences(t *testing.T) {
	bubble(t, true, func(r *rig) {
		for body, want := range map[string]string{
			`{"fault":"offlin","boards":["brd_one"]}`:                           `"offlin" is not a valid fault, did you mean "offline"?`,
			`{"fault":"offline"}`:                                               `exactly one of boards, placeId and share is needed`,
			`{"fault":"offline","boards":["brd_x"]}`:                            `no simulated board "brd_x" here ('doorlab board list' shows them)`,
			`{"fault":"offline","placeId":"plc_x"}`:                             `place "plc_x" has no boards`,
			`{"fault":"offline","boards":["brd_one"],"nth":2}`:                  `nth must be left out: offline does not depend on commands`,
			`{"fault":"reboot","boards":["brd_one"],"for":"5m"}`:                `for must be left out: reboot acts only once`,
			`{"fault":"offline","boards":["brd_one"],"for":"x"}`:                `for must be a duration such as 10m or 2d`,
			`{"fault":"offline","boards":["brd_one"],"for":"99999999h"}`:        `for is too long: at most 2562047h`,
			`{"fault":"offline","share":1e999}`:                                 `share is out of range`,
			`{"fault":"offline","share":"half"}`:                                `share must be a number, not string`,
			`{"fault":"offline","share":1.5}`:                                   `share must be above 0 and at most 1, which is 100%`,
			`{"fault":"refuse","boards":["brd_one"],"commands":["opne"]}`:       `"opne" is not a valid command, did you mean "open"?`,
			`{"fault":"refuse","boards":["brd_one"],"params":{"code":"jam"}}`:   `"jam" is not a valid code, did you mean "jammed"?`,
			`{"fault":"refuse","boards":["brd_one"],"params":{"cod":"jammed"}}`: `"cod" is not a valid parameter of refuse, did you mean "code"?`,
			`{"fault":"silent","boards":["brd_one"],"params":{"p50Ms":1}}`:      `params.p50Ms must be left out: silent has no parameters`,
			`{"fault":"slow","boards":["brd_one"],"params":{"p50Ms":-5}}`:       `params.p50Ms must be 0 to 86400000`,
			`{"fault":"refuse","boards":["brd_one"],"doorIds":["dor_x"]}`:       `none of these boards has the door "dor_x"`,
			`{"fault":"refuse","boards":["brd_one"],"doorIds":["dor_on1"]}`:     `none of these boards has the door "dor_on1", did you mean "dor_one1"?`,
			`{"fault":"offline","placeId":"plc_liv"}`:                           `place "plc_liv" has no boards, did you mean "plc_live"?`,
			`{"Fault":"offline","boards":["brd_one"]}`:                          `Fault is not a known field, did you mean "fault"?`,
		} {
			_, data := r.call("POST", "/faults", body)
			if got := data.(map[string]any)["message"]; got != want {
				t.Errorf("%s: got %q, want %q", body, got, want)
			}
		}
	})
}

// TestPresentTellsWhatTheRelayDid: the result says what the relay did, not what was decided.
func TestPresentTellsWhatTheRelayDid(t *testing.T) {
	t.Parallel()
	pulse := entry{Entry: firmware.Entry{DoorID: "dor_one1", Action: firmware.ActPulse, Cause: firmware.CauseOnsite}}
	deny := entry{Entry: firmware.Entry{DoorID: "dor_one1", Action: firmware.ActDeny, Cause: firmware.CauseOnsite}}
	for _, c := range []struct {
		decided vocab.Result
		relay   []entry
		want    string
	}{
		{vocab.Opened, []entry{pulse}, "opened"},
		{vocab.Denied, []entry{deny}, "denied"},
		{vocab.Opened, nil, "denied"},
		{vocab.Opened, []entry{deny}, "denied"},
		{vocab.Denied, []entry{pulse}, "opened"},
	} {
		got := shown(one, outcome{decided: &wire.Record{DoorID: "dor_one1", Result: c.decided, Reason: "onsite"}, journal: c.relay})
		if got["result"] != c.want || got["reason"] != "onsite" || len(got["journal"].([]entryJSON)) != len(c.relay) {
			t.Errorf("decided %s, the relay did %v: %v, want %s", c.decided, c.relay, got, c.want)
		}
	}
}

// TestDetachedStaysAway: a detached board stays detached across restarts on the same data, and what is shown of it is
// what the server knows about its replacement.
func TestDetachedStaysAway(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		r.do("POST", "/boards/"+one+"/detach", "")
		r.sleep(time.Second)
		r.halt()
		hellos := r.server.hellos[one]
		r.boot()
		r.sleep(time.Second)
		r.want("hellos", r.server.hellos[one], hellos)
		r.want("simulated", r.fleet.Simulates(one), false)
		r.want("events", len(r.seen(history.Detached)), 2) // one per history
		b := r.board(one)
		r.want("nobody has come", []any{b["online"], b["phase"], b["appliedRevision"], b["detached"]}, []any{false, "stopped", 0.0, true})
		until := noon.Add(time.Hour).UnixMilli()
		r.fleet.cfg.Seat = func(string) Seat {
			return Seat{Online: true, AppliedRevision: 8, BufferedRecords: 2, Standings: []wire.Standing{
				{Channel: 2, State: "unlocked", Since: noon.UnixMilli(), Held: true, HoldUntil: &until, Leaf: "closed"}}}
		}
		b = r.board(one)
		r.want("somebody sits there", []any{b["online"], b["phase"], b["appliedRevision"], b["desiredRevision"], b["bufferedRecords"], b["outageAgeSec"]},
			[]any{true, "online", 8.0, 9.0, 2.0, 0.0})
		doors := b["doors"].([]any)
		r.want("never reported", doors[0].(map[string]any)["standing"], nil)
		r.want("as reported", doors[1].(map[string]any)["standing"], any(map[string]any{"state": "unlocked", "since": noon.Format(control.TimeFormat),
			"holdUntil": noon.Add(time.Hour).Format(control.TimeFormat), "held": true, "leaf": "closed"}))
		r.do("POST", "/boards/"+one+"/attach", "")
		r.advance(0)
		r.want("back", r.board(one)["online"], any(true))
		r.halt()
		r.boot()
		r.want("back for good", r.fleet.Simulates(one), true)
	})
}
