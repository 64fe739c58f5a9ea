package loadtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

const everyKind = "{command: 30%, register: 20%, reregister: 8%, revoke: 10%, permit: 7%, permits: 5%, devices: 5%, records: 5%, link: 8%, import: 2%}"

// partners fakes the requests of a mixed load that aren't commands. It notes requests whose order a server couldn't
// tell, or that refer to a permit that doesn't exist.
type partners struct {
	*fake
	fails   string // a path that is answered 503
	failure string // the body of those answers, "" = overloaded

	mu      sync.Mutex
	busy    map[string]bool
	exists  map[string]bool // reference → not revoked
	pressed map[string]time.Time
	asked   map[string]int
	wrong   []string
}

func newPartners() *partners {
	f := newFake()
	f.scopes = `"device:door","space:partner"`
	return &partners{fake: f, busy: map[string]bool{}, exists: map[string]bool{}, pressed: map[string]time.Time{}, asked: map[string]int{}}
}

func (p *partners) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if !strings.HasPrefix(path, "/space/v1/") && path != "/entry/open" || strings.HasSuffix(path, "/openapi.json") {
		p.fake.ServeHTTP(w, r)
		return
	}
	var raw []byte
	if r.Body != nil {
		raw, _ = io.ReadAll(r.Body)
	}
	var in struct {
		ExternalRef, T, Phone string
		Items                 []struct{ Phone string }
	}
	_ = json.Unmarshal(raw, &in)
	ref := in.ExternalRef
	if path == "/entry/open" {
		ref = strings.TrimPrefix(in.T, "token-")
	} else if id, ok := strings.CutPrefix(path, "/space/v1/partner/entry-permits/pmt_"); ok {
		ref = id
	}
	p.mu.Lock()
	p.note(r, path, ref, len(in.Items))
	if ref != "" {
		p.busy[ref] = true
	}
	p.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, ref)
	if p.fails != "" && strings.HasSuffix(path, p.fails) {
		reply(w, 503, cmp.Or(p.failure, `{"error":"overloaded","message":"no","statusCode":503}`))
		return
	}
	if path == "/space/v1/partner/entry-permits" && r.Method == http.MethodPost {
		p.exists[ref] = true
	} else if strings.HasSuffix(path, "/revoke") {
		p.exists[ref] = false
	}
	reply(w, 200, fmt.Sprintf(`{"success":true,"data":{"permitId":"pmt_%s","entryToken":"token-%s"}}`, ref, ref))
}

func (p *partners) note(r *http.Request, path, ref string, items int) {
	p.asked[r.Method+" "+path]++
	p.breach(ref != "" && p.busy[ref], "two requests at once for %s", ref)
	known, is := p.exists[ref]
	created := path == "/space/v1/partner/entry-permits" && r.Method == http.MethodPost
	p.breach(ref != "" && !created && (!is || !known), "%s for %s, which is not there", path, ref)
	p.breach(created && is && !known, "%s is registered again after it was revoked", ref)
	if path == "/entry/open" {
		p.breach(r.Header.Get("Authorization") != "", "a link is pressed with a token")
		p.breach(time.Since(p.pressed[ref]) < 10*time.Second, "the link of %s is pressed seven times a minute", ref)
		p.pressed[ref] = time.Now()
	}
	p.breach(strings.HasSuffix(path, "/import") && items != imported, "%d rows, want %d", items, imported)
}

func (p *partners) breach(is bool, format string, args ...any) {
	if is {
		p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
	}
}

// TestMixed: each kind of request gets its share, its own latencies and its own thresholds, and each permit has at
// most one request in progress.
func TestMixed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newPartners()
		target, o := bubble(f.fake)
		o.transport = memory{f}
		res, err := Run(t.Context(), target, mustParse(t, "rate: 200/s\nduration: 30s\nrepeatedKeys: 10%\nrequests: "+everyKind+`
thresholds: {errors: 0, p99_link: 100ms, link_min: 1, reported_min: 20%}`), o)
		if err != nil || res.Verdict != Pass || len(f.wrong) > 0 {
			t.Fatalf("%s %v, %v, wrong %v, want PASS and nothing wrong", res.Verdict, res.Reasons, err, f.wrong)
		}
		share := func(name vocab.Outcome) float64 { return float64(res.outcome(name).Count) / float64(res.Sent) }
		for name, want := range map[vocab.Outcome]float64{vocab.Reported: .30, register: .20, reregister: .08, revoke: .10, permit: .07, permits: .05, devices: .05, records: .05, link: .08, imports: .02} {
			if got := share(name); got < want*.7 || got > want*1.3+.02 { // drawn at random; some become registrations
				t.Errorf("%s has a share of %.3f, want about %.2f", name, got, want)
			}
		}
		if res.Repeats < res.outcome(vocab.Reported).Count/10-1 || res.Repeats > res.outcome(vocab.Reported).Count/10+1 {
			t.Errorf("%d repeats among %d commands, want one in ten", res.Repeats, res.outcome(vocab.Reported).Count)
		}
	})
}

// TestMixedFails: a failing request counts as rejected and breaks its thresholds; so does a kind of request that
// never occurred.
func TestMixedFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newPartners()
		f.fails = "/entry-logs"
		target, o := bubble(f.fake)
		o.transport = memory{f}
		res, err := Run(t.Context(), target, mustParse(t, `
rate: 100/s
duration: 5s
requests: {command: 80%, records: 20%}
thresholds: {errors: 0, p99_records: 1s, import_min: 1, register_max: 0}`), o)
		if err != nil || res.Verdict != Fail || res.outcome(rejected).Count < 50 {
			t.Fatalf("%s %v, %v, want FAIL with 50 or more rejected", res.Verdict, res.Reasons, err)
		}
		for _, th := range res.Thresholds {
			if want := th.Name == "register_max"; th.OK != want {
				t.Errorf("%s is %s, ok %v; want %v", th.Name, th.Value, th.OK, want)
			}
		}
	})
}

// TestLinkInAnOutage: a link that the board's line keeps from opening counts as offline, as a command does, and breaks no
// limit of errors; one that is denied is rejected.
func TestLinkInAnOutage(t *testing.T) {
	t.Parallel()
	for failure, want := range map[string]vocab.Outcome{
		`{"error":"store_offline","message":"no","statusCode":503,"details":{"reason":"offline","commandId":"cmd_1"}}`: vocab.Offline,
		`{"error":"store_offline","message":"no","statusCode":503,"details":{"reason":"refused"}}`:                     rejected, // of another status
		`{"error":"storage_unavailable","message":"no","statusCode":503}`:                                              rejected,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newPartners()
			f.fails, f.failure = "/entry/open", failure
			target, o := bubble(f.fake)
			o.transport = memory{f}
			res, err := Run(t.Context(), target, mustParse(t, "rate: 100/s\nduration: 30s\nrequests: {register: 50%, link: 50%}\nthresholds: {errors: 0}"), o)
			if err != nil || res.outcome(want).Count < 100 || (res.Verdict == Pass) != (want == vocab.Offline) || res.outcome(link).Count != 0 {
				t.Errorf("%s: %s with %d %s, %v; want at least 100 of them, PASS only if offline", failure, res.Verdict, res.outcome(want).Count, want, err)
			}
		})
	}
}

// TestMixedScope: if a key lacks the scope for the plan, this is reported before anything is sent.
func TestMixedScope(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newPartners()
		f.scopes = `"device:door"`
		target, o := bubble(f.fake)
		o.transport = memory{f}
		_, err := Run(t.Context(), target, mustParse(t, "rate: 100/s\nduration: 5s\nrequests: {command: 80%, records: 20%}\n"), o)
		if !errors.Is(err, ErrScope) || !strings.Contains(err.Error(), "requests.records needs the scope space:partner; the key of plc_1 has device:door") || f.requests+len(f.asked) > 0 {
			t.Errorf("got %v after %d requests, want what is missing and none", err, f.requests+len(f.asked))
		}
	})
}

// TestExpiredPermits: a permit that has ended, or does while the request is under way, isn't used again. A load of hours
// has more of them than it can press, and so has one whose target jumps.
func TestExpiredPermits(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		ends time.Duration
		kept bool
	}{"ended": {-time.Second, false}, "about to end": {answerWait, false}, "with time left": {answerWait + time.Second, true}} {
		for _, kind := range []vocab.Outcome{link, reregister, revoke, permit} {
			s := testSource(mustParse(t, "rate: 1\nduration: 1s\nrequests: "+everyKind), 1)
			s.now = func() time.Time { return now }
			for range 2 {
				s.pool.put(&held{door: s.pick(), id: "pmt_1", token: "token", ends: now.Add(c.ends), pressed: now.Add(-time.Hour)})
			}
			want, left := kind, 1
			if !c.kept {
				want, left = register, 0
			}
			if h := s.other(1, kind); h.kind != want || len(s.pool.free) != left || !h.permit.ends.After(now) {
				t.Errorf("%s with a permit %s: got %s of one that ends at %s, %d left; want %s, %d left", kind, name, h.kind, h.permit.ends, len(s.pool.free), want, left)
			}
		}
	}
}

// TestReregistered: however often a permit is registered again, it has begun and lasts as long as any door allows. A refusal changes nothing.
func TestReregistered(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := testSource(mustParse(t, "rate: 1\nduration: 1s\nrequests: "+everyKind), 1)
	s.now = func() time.Time { return now }
	kind := register
	for n := range int64(100) {
		h := s.other(n, kind)
		var body struct{ StartsAt, EndsAt time.Time }
		must.OK(t, json.Unmarshal(h.body, &body))
		if h.kind != kind || body.EndsAt.Sub(body.StartsAt) != time.Hour || !body.StartsAt.Before(now) || !body.EndsAt.After(now) {
			t.Fatalf("%s %d: from %s to %s at %s; want an hour that has begun", h.kind, n, body.StartsAt, body.EndsAt, now)
		}
		before, status := h.permit.ends, 200
		if n%2 == 1 {
			status = 409
		}
		s.settle(h, answer{status: status, data: []byte("{}")}, nil)
		if moved := h.permit.ends != before; moved && status == 409 || h.permit.ends.Before(before) {
			t.Fatalf("%d: answered %d, it ends at %s, before at %s", n, status, h.permit.ends, before)
		}
		kind = reregister
	}
	if want := now.Add(59 * time.Minute); !s.pool.free[0].ends.Equal(want) {
		t.Errorf("at last it ends at %s, want %s", s.pool.free[0].ends, want)
	}
}

// TestUnfitKeys: a key that the target rejects, or that may not list doors, is the caller's mistake; the target was reached.
func TestUnfitKeys(t *testing.T) {
	t.Parallel()
	for scopes, want := range map[string]error{"": ErrKey, `"space:partner"`: ErrScope} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.scopes = scopes
			target, o := bubble(f)
			if _, err := Run(t.Context(), target, mustParse(t, "rate: 1\nduration: 1s"), o); !errors.Is(err, want) {
				t.Errorf("a key with the scopes %s: got %v, want %v", scopes, err, want)
			}
		})
	}
}

// TestOutOfExchanges: a generator with more places than one address has exchanges for is the limit itself: that is no error of the
// target, in the whole or in a stage, alone or merged.
func TestOutOfExchanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.most = 1
		target, o := bubble(f)
		plan := mustParse(t, "pacer: stages\nthresholds: {errors: 0, error_max: 0}\nstages: [{rate: 1, duration: 5m}, {name: late, rate: 1, duration: 15m, thresholds: {errors: 0}}]")
		res := must.Get(Run(t.Context(), target, plan, o))(t)
		const want = "the generator ran out of token exchanges "
		if res.Verdict != Invalid || len(res.Doubts) != 1 || !strings.HasPrefix(res.Doubts[0], want) || res.Errors[outOfExchanges] < 200 {
			t.Errorf("got %s %q, errors %v; want INVALID, only because %q", res.Verdict, res.Reasons, res.Errors, want)
		}
		if m := merge([]Result{res}, nil); m.Verdict != Invalid {
			t.Errorf("merged: %s %q, want INVALID", m.Verdict, m.Reasons)
		}
	})
}
