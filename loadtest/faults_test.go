package loadtest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/client"
)

// armory fakes the control API's faults. Arming takes a second, whether or not anybody still waits for it.
type armory struct {
	mu    sync.Mutex
	armed map[string]bool
	slow  time.Duration // how long it takes to remove one
	idle  bool          // they never act
}

func (a *armory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		time.Sleep(time.Second)
	case http.MethodDelete:
		select {
		case <-time.After(a.slow):
		case <-r.Context().Done():
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if r.Method == http.MethodPost {
		id = fmt.Sprintf("flt_%d", len(a.armed))
		a.armed[id] = true
	} else if r.Method == http.MethodDelete {
		a.armed[id] = false
	}
	hits := 3
	if a.idle {
		hits = 0
	}
	reply(w, 200, fmt.Sprintf(`{"success":true,"data":{"faultId":%q,"hits":%d,"boards":["brd_0"]}}`, id, hits))
}

// listener is the armory's, whose only board has the door dor_0.
func (a *armory) listener() listener {
	return listener{Client: client.Client{Base: "http://127.0.0.1:1", HTTP: &http.Client{Transport: memory{a}}},
		boards: []board{{BoardID: "brd_0", PlaceID: "plc_1", Doors: []struct{ DoorID string }{{"dor_0"}}}}}
}

// allUsed is a load that uses all doors.
func allUsed(string) bool { return true }

// TestNoFaultIsLeft: a fault that is being armed when the load ends is removed, too, and the run says that it came too late.
func TestNoFaultIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at, over time.Duration
		armed    int
		want     string
	}{
		"in force":    {0, 5 * time.Second, 1, ""},
		"being armed": {500 * time.Millisecond, 900 * time.Millisecond, 1, "the load was over before it was armed"},
		"not yet due": {time.Minute, 5 * time.Second, 0, "the load was over before it was due"},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &armory{armed: map[string]bool{}}
			r := &runner{plan: Plan{Faults: []PlannedFault{{At: Duration(c.at), Fault: "offline", Share: 0.5}}},
				control: []listener{a.listener()}}
			end := r.disturb(t.Context(), allUsed)
			time.Sleep(c.over)
			uses := end()
			time.Sleep(2 * time.Second) // what is still on its way arrives
			left := 0
			for _, is := range a.armed {
				if is {
					left++
				}
			}
			if len(a.armed) != c.armed || left > 0 || len(uses) != 1 || uses[0].Error != c.want {
				t.Errorf("%s: %d armed, %d left, got %+v; want %d, 0 and %q", name, len(a.armed), left, uses, c.armed, c.want)
			}
			res := Result{Verdict: Pass, Faults: uses}
			if res.judgeFaults(newCollector()); (res.Verdict == Invalid) != (c.want != "") {
				t.Errorf("%s: got %s %q, want it INVALID: %v", name, res.Verdict, res.Reasons, c.want != "")
			}
		})
	}
}

// TestRemovingAFaultTakesTime: boards may take seconds to notice that a fault is gone, which a load waits for at its end, but
// hardly if it is interrupted.
func TestRemovingAFaultTakesTime(t *testing.T) {
	t.Parallel()
	for interrupted, want := range map[bool]time.Duration{false: 5 * time.Second, true: moment} {
		synctest.Test(t, func(t *testing.T) {
			r := &runner{plan: Plan{Faults: []PlannedFault{{Fault: "offline", Share: 0.5}}},
				control: []listener{(&armory{armed: map[string]bool{}, slow: 5 * time.Second}).listener()}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			end := r.disturb(ctx, allUsed)
			time.Sleep(10 * time.Second)
			if interrupted {
				cancel()
			}
			began := time.Now()
			uses := end()
			if took := time.Since(began); took != want || (uses[0].Error != "") != interrupted {
				t.Errorf("interrupted %v: took %s, %q; want %s, and hits that aren't known only if it was", interrupted, took, uses[0].Error, want)
			}
		})
	}
}
