package boardsim

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

// tell says something to the first board.
func (r *rig) tell(body string) map[string]any {
	r.t.Helper()
	return r.do("POST", "/boards/"+one+"/tell", body).(map[string]any)
}

// TestTell: what a board is told reaches its firmware at once and its answers are shown; the history sees nothing of it
// until the board is back, empty.
func TestTell(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		r.do("POST", "/faults", `{"fault":"reboot","boards":["`+one+`"]}`)
		r.sleep(time.Second)
		r.want("decided", r.present("dor_one1"), "opened onsite")
		acted := len(r.seen(history.Actuation))

		ready := r.tell(`{}`)
		r.want("nothing was said", []any{ready["said"], ready["journal"], ready["dropped"], ready["revision"]}, []any{[]any{}, []any{}, nil, 3.0})
		r.want("events", []int{len(r.seen(history.Detached)), len(r.seen(history.Hand))}, []int{1, 1})
		r.want("view", r.board(one)["told"], any(true))
		r.want("others", r.board(two)["told"], nil)
		epoch, session := int64(ready["epoch"].(float64)), int64(ready["sessionMs"].(float64))
		open := fmt.Sprintf(`{"channel":"cmd","payload":{"id":"cmd_x","epoch":%d,"doorId":"dor_one2","channel":2,"command":"open","notAfterMs":%d}}`, epoch, session+60_000)
		got := r.tell(open)
		line := got["journal"].([]any)[0].(map[string]any)
		report := got["said"].([]any)[0].(map[string]any)
		r.want("relay", []any{len(got["journal"].([]any)), line["action"], line["doorId"], line["commandId"]}, []any{1, "pulse", "dor_one2", "cmd_x"})
		r.want("report", []any{report["channel"], report["payload"].(map[string]any)["result"], got["epoch"]}, []any{"rpt", "ok", ready["epoch"]})
		again := r.tell(open)
		r.want("remembered", []any{again["journal"], again["said"]}, []any{[]any{}, got["said"]})
		r.want("as it is", r.tell(`{"channel":"cmd","raw":"not json"}`)["dropped"] != nil, true)
		r.want("an empty object", r.tell(`{"channel":"cmd"}`)["dropped"] != nil, true)
		delta := r.tell(`{"channel":"sync","payload":{"from":3,"to":8,"remove":["mem_1"],"digest":"00"}}`)
		acked := delta["said"].([]any)[0].(map[string]any)
		r.want("content", []any{delta["revision"], acked["channel"], acked["payload"].(map[string]any)["type"]}, []any{8.0, "ack", "sync"})
		r.want("decided by what it was told", r.present("dor_one1"), "denied no_valid_grant")
		r.want("history", []int{len(r.seen(history.Actuation)), len(r.seen(history.Detached))}, []int{acted, 1})

		r.do("POST", "/boards/"+one+"/attach", "")
		r.advance(0)
		r.sleep(time.Second)
		r.want("back", []int{len(r.seen(history.Attached)), len(r.seen(history.Wiped))}, []int{1, 1})
		r.want("view", r.board(one)["told"], nil)
		r.want("what was said is forgotten", r.present("dor_one1"), "opened onsite")
		r.want("history", len(r.seen(history.Actuation)), acted+3) // both doors are locked by an empty board
	})
}

// TestTellAlone: a board that hears only what it is told says hello, and waits until somebody answers.
func TestTellAlone(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		r.do("POST", "/faults", `{"fault":"reboot","boards":["`+one+`"]}`)
		r.sleep(time.Second)
		told := r.tell(`{"alone":true}`)
		hello := told["meanwhile"].([]any)[0].(map[string]any)
		r.want("its hello", []any{hello["channel"], hello["payload"].(map[string]any)["revision"], told["epoch"], told["sessionMs"]}, []any{"hello", 3.0, 0.0, 0.0})
		r.sleep(time.Second)
		r.want("still not connected", r.board(one)["online"], any(false))
		met := r.tell(`{"channel":"ack","payload":{"type":"hello","epoch":9,"sessionMs":5000,"accepted":true}}`)
		r.want("answered", []any{met["epoch"], met["meanwhile"], r.board(one)["online"]}, []any{9.0, []any{}, true})
		r.sleep(15 * time.Second)
		r.want("and nobody else speaks", []any{r.tell(`{}`)["epoch"], len(r.seen(history.Detached))}, []any{9.0, 1})

		back := r.tell(`{"alone":false}`)
		r.want("its server again", []any{back["epoch"] != 9.0, r.board(one)["told"]}, []any{true, true})
		r.do("POST", "/boards/"+one+"/attach", "")
		r.sleep(time.Second)
		r.want("back", []any{r.board(one)["online"], r.board(one)["told"]}, []any{true, nil})
	})
}

// TestTellRefused: what can't be said changes nothing.
func TestTellRefused(t *testing.T) {
	bubble(t, true, func(r *rig) {
		for body, want := range map[string]string{
			`{"channel":"cmdd"}`:                       "channel must be one of cmd, sync, cfg, ack, did you mean \"cmd\"?",
			`{"channel":"hello"}`:                      "channel must be one of cmd, sync, cfg, ack",
			`{"channel":"cmd","payload":{},"raw":"x"}`: "raw can't go with payload: a message has one of them",
			`{"payload":{}}`:                           "channel is missing, one of cmd, sync, cfg, ack",
			`{"raw":""}`:                               "channel is missing, one of cmd, sync, cfg, ack",
		} {
			status, f := r.call("POST", "/boards/"+one+"/tell", body)
			if got := f.(map[string]any)["message"]; status != http.StatusBadRequest || got != want {
				t.Errorf("%s: got %d %q, want 400 %q", body, status, got, want)
			}
		}
		refused := func(board string) {
			if status, f := r.call("POST", "/boards/"+board+"/tell", `{}`); status != http.StatusConflict || f.(map[string]any)["error"] != "rule_violated" {
				t.Errorf("%s: got %d %v, want 409 rule_violated", board, status, f)
			}
		}
		refused("brd_test")
		back := r.arm("offline", one, "")
		refused(one)
		back()
		r.sleep(10 * time.Second)
		r.do("POST", "/boards/"+two+"/detach", "")
		refused(two)
		r.want("events", []int{len(r.seen(history.Hand)), len(r.seen(history.Detached))}, []int{0, 1})
		r.do("POST", "/boards/"+two+"/attach", "")
		r.tell(`{}`)
		r.arm("offline", one, "")
		refused(one) // told already, but not connected
		r.want("lines", len(r.seen(history.Line)), 2)
	})
}

// TestRebootReadsContentBack: a reboot takes its content from flash, not from memory, and boards of a place share what was
// read. A long chain of changes isn't read back.
func TestRebootReadsContentBack(t *testing.T) {
	bubble(t, true, func(r *rig) {
		r.server.sync = content
		reboot := func(id string) {
			r.do("POST", "/faults", `{"fault":"reboot","boards":["`+id+`"]}`)
			r.advance(0)
			r.sleep(time.Second)
		}
		reboot(one)
		reboot(two)
		a, b := r.fleet.byID[one], r.fleet.byID[two]
		r.server.sync = nil
		before := a.s.Content
		reboot(one)
		reboot(two)
		if a.s.Content == before || a.s.Content != b.s.Content || keyOf(place, a.s.Content) != keyOf(place, before) {
			t.Errorf("contents %p before, %p and %p after the reboots, want another one that both share and that is equal", before, a.s.Content, b.s.Content)
		}
		f := r.fleet.flash
		key := keyOf(place, before)
		f.mu.Lock()
		f.rebuilt = map[string]rebuilt{}
		f.contents[key] = keptAt{f.contents[key].span, longChain + 1}
		f.mu.Unlock()
		before = a.s.Content
		reboot(one)
		if a.s.Content != before {
			t.Error("a long chain was read back")
		}
		r.tell(`{"channel":"sync","payload":{"from":3,"to":4,"remove":["mem_1"],"digest":"00"}}`)
		if got := f.contents[keyOf(place, a.s.Content)].chain; got != longChain+2 {
			t.Errorf("a change makes the chain %d long, want %d", got, longChain+2)
		}
	})
}
