package golive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/inbox"
)

var t0 = time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC)

const commandRoute = "/device/v1/devices/{id}/commands"

// traffic builds entries one second apart, unless it waits.
type traffic struct {
	now  time.Time
	list []*inbox.Entry
}

func (t *traffic) wait(d time.Duration) *traffic {
	t.now = t.now.Add(d)
	return t
}

func (t *traffic) add(e inbox.Entry) *traffic {
	if t.now.IsZero() {
		t.now = t0
	}
	t.now = t.now.Add(time.Second)
	e.Ended = t.now.Sub(t0)
	e.At, e.Seq, e.RequestID = t.now, int64(len(t.list)+1), fmt.Sprintf("r%d", len(t.list)+1)
	if e.KeyID == "" {
		e.KeyID = "key_1"
	}
	t.list = append(t.list, &e)
	return t
}

func (t *traffic) exchange(token string) *traffic {
	return t.add(inbox.Entry{Method: "POST", Route: exchangeRoute, Path: exchangeRoute, Status: 200, Given: token})
}

func (t *traffic) get(token string, status int, code string) *traffic {
	return t.add(inbox.Entry{Method: "GET", Route: "/device/v1/devices", Path: "/device/v1/devices", Token: token, Status: status, Code: code})
}

// open is a command; a key that was used before makes it a replay.
func (t *traffic) open(door, key string, status int, code string) *traffic {
	replay := slices.ContainsFunc(t.list, func(e *inbox.Entry) bool { return e.KeyMark == key && e.CommandID != "" })
	e := inbox.Entry{Method: "POST", Route: commandRoute, Path: "/device/v1/devices/" + door + "/commands", KeyMark: key, Status: status, Code: code, Replayed: replay, CommandID: "cmd_" + key}
	if status == 400 || code == "idempotency_key_reused" {
		e.CommandID, e.Replayed = "", false
	}
	return t.add(e)
}

func (t *traffic) limited(sec float64) *traffic {
	return t.add(inbox.Entry{Method: "POST", Route: exchangeRoute, Path: exchangeRoute, Status: 429, Code: "rate_limited", RetrySec: sec})
}

func (t *traffic) permit(status int, code string) *traffic {
	return t.add(inbox.Entry{Method: "POST", Route: permitsRoute, Path: permitsRoute, Status: status, Code: code})
}

// TestPoints: each point as proven, broken and not yet seen, with the requests that show it.
func TestPoints(t *testing.T) {
	t.Parallel()
	made := func() *traffic { return &traffic{} }
	for _, c := range []struct {
		name, point, state string
		seqs               []int64
		t                  *traffic
	}{
		{"nothing", "token_reuse", Unseen, nil, made()},
		{"one token, still good", "token_reuse", Unseen, nil, made().exchange("a").get("a", 200, "")},
		{"renewed in the last minute", "token_reuse", Proven, []int64{1, 4}, made().exchange("a").get("a", 200, "").get("a", 200, "").wait(14 * time.Minute).exchange("b")},
		{"renewed after 401", "token_reuse", Proven, []int64{1, 4}, made().exchange("a").get("a", 200, "").wait(16*time.Minute).get("a", 401, "token_expired").exchange("b")},
		{"a token for one request only, then silence", "token_reuse", Unseen, nil, made().exchange("a").get("a", 200, "").wait(time.Hour).exchange("b")},
		{"an exchange for every request", "token_reuse", Broken, []int64{1, 7}, made().exchange("a").get("a", 200, "").exchange("b").get("b", 200, "").exchange("c").get("c", 200, "").exchange("d")},
		{"two restarts", "token_reuse", Unseen, nil, made().exchange("a").exchange("b").exchange("c")},
		{"a restart a quarter of an hour", "token_reuse", Unseen, nil, made().exchange("a").wait(8 * time.Minute).exchange("b").wait(8 * time.Minute).exchange("c").wait(8 * time.Minute).exchange("d").wait(8 * time.Minute).exchange("e")},
		{"broken after it was proven", "token_reuse", Broken, []int64{4, 7}, made().exchange("a").get("a", 200, "").get("a", 200, "").wait(15 * time.Minute).exchange("b").exchange("c").exchange("d").exchange("e")},

		{"three keys", "unique_keys", Proven, []int64{1, 2, 3}, made().open("d", "k1", 200, "").open("d", "k2", 200, "").open("d", "k3", 200, "")},
		{"two keys", "unique_keys", Unseen, nil, made().open("d", "k1", 200, "").open("d", "k2", 200, "")},
		{"a retry soon after", "unique_keys", Proven, []int64{1, 3, 4}, made().open("d", "k1", 200, "").open("d", "k1", 200, "").open("d", "k2", 200, "").open("d", "k3", 200, "")},
		{"one key for two requests", "unique_keys", Broken, []int64{1, 2}, made().open("d", "k1", 200, "").open("e", "k1", 409, "idempotency_key_reused")},
		{"no key", "unique_keys", Broken, []int64{1}, made().open("d", "", 400, "idempotency_key_required")},
		{"a constant key", "unique_keys", Broken, []int64{1, 2}, made().open("d", "open-door", 200, "").wait(10*time.Minute).open("d", "open-door", 200, "")},

		{"504, the same key", "same_key_after_504", Proven, []int64{1, 2}, made().open("d", "k1", 504, "device_no_response").open("d", "k1", 504, "device_no_response")},
		{"504, a new key", "same_key_after_504", Broken, []int64{1, 2}, made().open("d", "k1", 504, "device_no_response").open("d", "k2", 200, "")},
		{"504, another door, then the same key", "same_key_after_504", Proven, []int64{1, 3}, made().open("d", "k1", 504, "device_no_response").open("e", "k2", 200, "").open("d", "k1", 504, "device_no_response")},
		{"504, and long after a new one", "same_key_after_504", Unseen, nil, made().open("d", "k1", 504, "device_no_response").wait(time.Hour).open("d", "k2", 200, "")},
		{"no 504", "same_key_after_504", Unseen, nil, made().open("d", "k1", 200, "").open("d", "k1", 200, "")},

		{"409, a new key", "new_key_after_409", Proven, []int64{1, 2}, made().open("d", "k1", 409, "device_offline").open("d", "k2", 200, "")},
		{"409, the same key", "new_key_after_409", Broken, []int64{1, 2}, made().open("d", "k1", 409, "device_offline").open("d", "k1", 409, "device_offline")},
		{"409, the same key later", "new_key_after_409", Broken, []int64{1, 3}, made().open("d", "k1", 409, "device_offline").open("d", "k2", 200, "").open("d", "k1", 409, "device_offline")},
		{"409, nothing after", "new_key_after_409", Unseen, nil, made().open("d", "k1", 409, "device_offline")},
		{"409 of another kind", "new_key_after_409", Unseen, nil, made().open("d", "k1", 409, "idempotency_key_reused").open("d", "k1", 200, "")},

		{"429, waited", "back_off", Proven, []int64{1, 2}, made().limited(30).wait(30 * time.Second).exchange("a")},
		{"429, too early", "back_off", Broken, []int64{1, 2}, made().limited(30).wait(10 * time.Second).exchange("a")},
		{"429, something else meanwhile", "back_off", Proven, []int64{1, 3}, made().limited(30).get("a", 200, "").wait(40 * time.Second).exchange("a")},
		{"429, then silence", "back_off", Unseen, nil, made().limited(30)},

		{"a permit", "door_ids", Proven, []int64{1}, made().permit(200, "")},
		{"an empty array", "door_ids", Broken, []int64{2}, made().permit(200, "").permit(400, "empty_door_ids")},
		{"no permit", "door_ids", Unseen, nil, made().open("d", "k", 200, "")},

		{"POST", "methods", Proven, []int64{1}, made().open("d", "k", 200, "")},
		{"GET", "methods", Broken, []int64{2}, made().open("d", "k", 200, "").add(inbox.Entry{Method: "GET", Route: commandRoute, Status: 405, Code: "method_not_allowed"})},
		{"another wrong method", "methods", Unseen, nil, made().add(inbox.Entry{Method: "DELETE", Route: commandRoute, Status: 405, Code: "method_not_allowed"})},

		{"went on", "errors", Proven, []int64{1, 2}, made().get("a", 404, "device_not_found").permit(200, "")},
		{"three times the same", "errors", Broken, []int64{1, 3}, made().get("a", 404, "device_not_found").get("a", 404, "device_not_found").get("a", 404, "device_not_found")},
		{"twice the same, then something else", "errors", Proven, []int64{1, 3}, made().get("a", 404, "x").get("a", 404, "x").permit(200, "")},
		{"expired, renewed", "errors", Proven, []int64{1, 2}, made().get("a", 401, "token_expired").exchange("b")},
		{"expired, and still used", "errors", Broken, []int64{1, 3}, made().get("a", 401, "token_expired").add(inbox.Entry{Method: "POST", Token: "a", Status: 401, Code: "token_expired"}).get("a", 401, "token_expired")},
		{"no error", "errors", Unseen, nil, made().get("a", 200, "")},
		{"409 is another point", "errors", Unseen, nil, made().open("d", "k1", 409, "device_offline").open("d", "k2", 200, "")},
	} {
		t.Run(c.point+" "+c.name, func(t *testing.T) {
			t.Parallel()
			l := Check(c.t.list)
			i := slices.IndexFunc(l.Points, func(p Point) bool { return p.ID == c.point })
			if i < 0 {
				t.Fatalf("no point %q, want one", c.point)
			}
			p := l.Points[i]
			if p.State != c.state || !slices.Equal(p.Seqs, c.seqs) && len(p.Seqs)+len(c.seqs) > 0 {
				t.Errorf("got %s by %v (%s), want %s by %v", p.State, p.Seqs, p.Says, c.state, c.seqs)
			}
			told(t, p)
		})
	}
}

// told checks what a point says: the requests that show it, and the same figures in both languages.
func told(t *testing.T, p Point) {
	t.Helper()
	if p.State != Unseen && len(p.Requests) == 0 || p.Says == "" {
		t.Errorf("%s has no sentence or no request that shows it, want both: %+v", p.State, p)
	}
	if en, ko := figures(p.Says), figures(p.Korean()); !slices.Equal(en, ko) || strings.ContainsAny(p.Says+p.Korean(), "{}") {
		t.Errorf("%q has the figures %q, and %q has %q, want the same", p.Says, en, p.Korean(), ko)
	}
}

// figures returns the numbers and codes in a sentence, sorted. Both languages must have the same ones.
func figures(says string) []string {
	says = strings.NewReplacer("last minute", "last 1 minute", "a minute", "1 minute").Replace(says)
	found := regexp.MustCompile(`[0-9]+|[a-z]+_[a-z_]+`).FindAllString(says, -1)
	slices.Sort(found)
	return found
}

// TestSentences: every sentence exists in both languages, with the same figures.
func TestSentences(t *testing.T) {
	t.Parallel()
	for _, list := range []map[string]sentence{sentences, hows} {
		for name, s := range list {
			placed := regexp.MustCompile(`{\w+}`)
			en, ko := placed.FindAllString(s.en, -1), placed.FindAllString(s.ko, -1)
			slices.Sort(en)
			slices.Sort(ko)
			if s.en == "" || s.ko == "" || !slices.Equal(en, ko) {
				t.Errorf("%s: %q and %q, want both, with the same figures", name, s.en, s.ko)
			}
		}
	}
	if len(hows) != len(rules) {
		t.Errorf("%d ways to show %d points, want one for each", len(hows), len(rules))
	}
	p := Point{State: Broken, Finding: "token_replaced", Figures: Figures{Count: 4, Uses: 1, AfterSec: 61}}
	if want := "앞의 토큰이 아직 유효한데도 15분 안에 API 키를 4번 교환했습니다. 마지막 토큰은 요청 1건에 쓰였고 1분 1초 만에 다음 토큰을 요청했습니다."; p.Korean() != want {
		t.Errorf("got %q, want %q", p.Korean(), want)
	}
}

// TestSoFar: a point that isn't seen yet says what was seen, in front of how to show it.
func TestSoFar(t *testing.T) {
	t.Parallel()
	made := func() *traffic { return &traffic{} }
	for _, c := range []struct {
		point, says string
		t           *traffic
	}{
		{"token_reuse", "Use one token", made()},
		{"token_reuse", "Exchanges so far: 3; the token used most served 1 request. Use one token", made().exchange("a").exchange("b").get("b", 200, "").exchange("c")},
		{"unique_keys", "Commands with an idempotency key of their own so far: 2. Send 3", made().open("d", "k1", 200, "").open("d", "k2", 200, "").open("d", "k2", 200, "")},
		{"same_key_after_504", "Commands answered with 504 so far: 1, none of them repeated. Open", made().open("d", "k1", 504, "device_no_response")},
		{"new_key_after_409", "Commands answered with 409 device_offline so far: 1, none of them tried again. Open", made().open("d", "k1", 409, "device_offline")},
		{"back_off", "Requests answered with 429 so far: 1, none of them tried again. Use up", made().limited(60)},
		{"door_ids", "Permits that were refused so far: 1. Register", made().permit(400, "invalid_phone")},
		{"methods", "Door commands so far: 1, none of them answered with 200. Open", made().open("d", "k1", 409, "device_offline")},
		{"errors", "Errors so far: 2, none of them followed by another request that succeeded. Let", made().get("a", 404, "x").get("a", 404, "x")},
	} {
		l := Check(c.t.list)
		p := l.Points[slices.IndexFunc(l.Points, func(p Point) bool { return p.ID == c.point })]
		if p.State != Unseen || !strings.HasPrefix(p.Says, c.says) {
			t.Errorf("%s: got %s, %q, want it unseen, and %q", c.point, p.State, p.Says, c.says)
		}
		told(t, p)
	}
}

// TestReady: ready means that every point is proven, and nothing less.
func TestReady(t *testing.T) {
	t.Parallel()
	if l := Check(nil); l.Ready || slices.ContainsFunc(l.Points, func(p Point) bool { return p.State != Unseen }) {
		t.Errorf("without a request: got %+v, want nothing but unseen", l)
	}
	good := (&traffic{}).exchange("a").permit(200, "").open("d", "k1", 200, "").get("a", 200, "").get("a", 404, "device_not_found").
		open("d", "k2", 504, "device_no_response").open("d", "k2", 504, "device_no_response").open("d", "k3", 409, "device_offline").open("d", "k4", 200, "").
		wait(15*time.Minute).get("a", 401, "token_expired").limited(20).wait(20 * time.Second).exchange("b")
	if l := Check(good.list); !l.Ready {
		t.Errorf("a client that does everything right: got %+v, want Ready true", l)
	}
	if l := Check(good.permit(400, "empty_door_ids").list); l.Ready {
		t.Error("ready with a broken point")
	}
}

// Requests that were on their way when the first of them was answered say nothing of how errors are handled.
func TestParallelRequests(t *testing.T) {
	t.Parallel()
	together := func(list []*inbox.Entry) []*inbox.Entry {
		for i, e := range list[1:] {
			e.Ended = list[0].Ended + time.Duration(i+1)*10*time.Millisecond
			e.TookMs = 500
		}
		return list
	}
	expired := func(n int) []*inbox.Entry {
		var tr traffic
		for range n {
			tr.get("old", 401, "token_expired")
		}
		return tr.list
	}
	if f := errorsHandled(expired(3)); f.state != Broken {
		t.Errorf("three requests with an expired token, one after the other: %v, want %v", f.state, Broken)
	}
	if f := errorsHandled(together(expired(3))); f.state == Broken {
		t.Errorf("three parallel requests with an expired token: %v, want no complaint", f)
	}
	two := func() []*inbox.Entry {
		var tr traffic
		tr.open("dor_1", "k1", 504, "command_outcome_unknown").open("dor_1", "k2", 504, "command_outcome_unknown")
		return tr.list
	}
	if f := sameKeyAfter504(two()); f.state != Broken {
		t.Errorf("another key after a 504: %v, want %v", f.state, Broken)
	}
	if f := sameKeyAfter504(together(two())); f.state == Broken {
		t.Errorf("another person's command, sent before the 504: %v, want no complaint", f)
	}
}
