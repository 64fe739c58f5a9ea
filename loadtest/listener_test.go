package loadtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/shard"
)

// TestFaultBesideTheLoad: a fault counts only if one of its boards has a door that the load uses.
func TestFaultBesideTheLoad(t *testing.T) {
	t.Parallel()
	for door, want := range map[string]string{"dor_0": Pass, "dor_of_another_place": Invalid} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.doors = 1
			target, o := bubble(f)
			r := must.Get(prepare(t.Context(), target, mustParse(t, "rate: 10\nduration: 10s"), o))(t)
			r.plan.Faults = []PlannedFault{{Fault: "offline", Share: 0.2, For: Duration(4 * time.Second)}}
			l := (&armory{armed: map[string]bool{}}).listener()
			l.boards[0].Doors[0].DoorID = door
			r.control = []listener{l}
			s := newSchedule(r.plan)
			c, src, w, err := r.attack(t.Context(), s, "x")
			if res := r.judge(s, c, src, w, false); err != nil || res.Verdict != want {
				t.Errorf("on the board of %s: got %v, %s %q; want %s", door, err, res.Verdict, res.Reasons, want)
			}
		})
	}
}

// boardsOf serves GET /boards, one at each place.
func boardsOf(places ...string) client.Client {
	var rows []string
	for _, p := range places {
		rows = append(rows, fmt.Sprintf(`{"boardId":"brd_%s","placeId":%q,"doors":[{"doorId":"dor_%s"}]}`, p, p, p))
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, fmt.Sprintf(`{"success":true,"data":[%s],"total":%d}`, strings.Join(rows, ","), len(rows)))
	})
	return client.Client{Base: "http://127.0.0.1:1", HTTP: &http.Client{Transport: memory{h}}}
}

// TestFaultsOfShards: generators that share a control listener arm a fault there once, not once each; on boards of its own shard, a
// generator arms it itself.
func TestFaultsOfShards(t *testing.T) {
	t.Parallel()
	world := []Place{{PlaceID: "test", Kind: "test", APIKey: "k"}, {PlaceID: "a", Kind: "live", APIKey: "k"}, {PlaceID: "b", Kind: "live", APIKey: "k"}}
	for i, own := range []string{2: "a", 1: "b"} {
		if own == "" {
			continue
		}
		_, of, err := Part{Shard: shard.Shard{Index: i, Of: 2}}.take(world, "live")
		if err != nil {
			t.Fatal(err)
		}
		r := &runner{shard: of}
		shared, alone := len(r.listeners(t.Context(), []client.Client{boardsOf("test"), boardsOf("test", "a", "b")})), len(r.listeners(t.Context(), []client.Client{boardsOf("test", own)}))
		if want := 2 * (2 - i); shared != want || alone != 1 {
			t.Errorf("shard %d of 2 arms faults at %d shared and %d own listeners, want %d and 1", i, shared, alone, want)
		}
	}
}

// TestArmingFails: a listener that refuses a fault has none; of any other failure nobody knows whether it is armed.
func TestArmingFails(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{400: "", 500: "it couldn't be armed at http://127.0.0.1:1: Internal Server Error (500 ); it may be armed all the same"} {
		synctest.Test(t, func(t *testing.T) {
			failing := client.Client{Base: "http://127.0.0.1:1", HTTP: &http.Client{Transport: memory{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply(w, status, "") })}}}
			a := &armory{armed: map[string]bool{}}
			r := &runner{plan: Plan{Faults: []PlannedFault{{Fault: "offline", Share: 0.5}}}, control: []listener{{Client: failing}, a.listener()}}
			end := r.disturb(t.Context(), allUsed)
			time.Sleep(5 * time.Second)
			if use := end()[0]; use.Error != want || use.Hits != 3 || a.armed["flt_0"] {
				t.Errorf("%d from one listener: got %q, %d hits at the other, still armed: %v; want %q, 3, false", status, use.Error, use.Hits, a.armed["flt_0"], want)
			}
		})
	}
}

// TestArmingWithoutBoards: who passes only the control listener of a server whose boards are a process of their own hears which
// one is missing.
func TestArmingWithoutBoards(t *testing.T) {
	t.Parallel()
	refusing := client.Client{Base: "http://127.0.0.1:1", HTTP: &http.Client{Transport: memory{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply(w, 400, "") })}}}
	for place, want := range map[string]bool{"plc_test": true, "plc_live": false} {
		r := &runner{target: Target{Places: []Place{{PlaceID: "plc_test", Kind: "test"}, {PlaceID: "plc_live", Kind: "live"}}},
			control: []listener{{Client: refusing, boards: []board{{BoardID: "brd_1", PlaceID: place}}}}}
		_, err := r.arm(t.Context(), PlannedFault{Fault: "offline", Share: 0.5})
		if err == nil || strings.Contains(err.Error(), "pass its --control, too") != want {
			t.Errorf("a listener with a board of %s: got %v, want the advice: %v", place, err, want)
		}
	}
}

// TestMergeAddsFaults: a merged load says what each fault did at all generators.
func TestMergeAddsFaults(t *testing.T) {
	t.Parallel()
	part := func(run, failed string, hits int64) Result {
		return Result{Run: run, Verdict: Invalid, Faults: []FaultUse{{PlannedFault: PlannedFault{Fault: "offline"}, Hits: hits, Error: failed}}}
	}
	parts := []Result{part("a", "", 3), part("b", "x", 4)}
	if m := merge(parts, nil); len(m.Faults) != 1 || m.Faults[0].Hits != 7 || m.Faults[0].Error != "x" || parts[0].Faults[0].Hits != 3 {
		t.Errorf("got %+v, want 7 hits and the error; the parts stay as they are", m.Faults)
	}
}

// TestArmedAlready: what others have armed on a target is said; of who can't be asked, or has none, nothing is.
func TestArmedAlready(t *testing.T) {
	t.Parallel()
	at := func(status int, rows string) client.Client {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			reply(w, status, `{"success":true,"data":[`+rows+`]}`)
		})
		return client.Client{Base: "http://127.0.0.1:1", HTTP: &http.Client{Transport: memory{h}}}
	}
	broken, idle, one := at(500, ""), at(200, ""), at(200, `{"fault":"slow","count":1}`)
	two := at(200, `{"fault":"offline","count":2},{"fault":"offline","count":1}`)
	for want, all := range map[string][]client.Client{
		"": {broken, idle},
		"1 fault was already armed on the target: slow on 1 board":                        {one},
		"3 faults were already armed on the target: offline on 3 boards, slow on 1 board": {idle, two, one},
	} {
		if got := armedAlready(t.Context(), all); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
