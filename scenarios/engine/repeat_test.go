package engine

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// before puts a handler before a fake's public API: a request that it answers (true) doesn't get there.
func (f *fake) before(t *testing.T, answers func(w http.ResponseWriter, r *http.Request) bool) {
	t.Helper()
	f.api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answers(w, r) {
			f.public(w, r)
		}
	}))
	t.Cleanup(f.api.Close)
}

// TestOneStatusForAll: an expectation about the status holds for every answer of a verb that asks several times over, not
// only for the one that it sees.
func TestOneStatusForAll(t *testing.T) {
	t.Parallel()
	const people = `{set: {all: [{name: a, phone: "1", place: plc_1, ref: one}, {name: b, phone: "2", place: plc_1, ref: two}]}}, `
	for name, c := range map[string]struct {
		steps  string
		denied string // a word in the requests that are answered 404
		want   judge.Status
	}{
		"all are fine":        {people + `{revoke: {person: all}, expect: status == 200 and count == 2}`, "nobody", judge.Pass},
		"only the last is":    {people + `{revoke: {person: all}, expect: status == 200 and count == 2}`, "one", judge.Fail},
		"all but the last":    {people + `{revoke: {person: all}, expect: status == 404 and error == "not_found"}`, "two", judge.Fail},
		"none is":             {people + `{revoke: {person: all}, expect: status == 404 and error == "not_found"}`, "", judge.Pass},
		"either may be":       {people + `{revoke: {person: all, status: [200, 404]}, expect: status == 200}`, "one", judge.Pass},
		"one of the windows":  {`{policy: {doors: "[\"dor_1\", \"dor_2\"]", mode: free}, expect: status == 200}`, "dor_1", judge.Fail},
		"the other":           {`{policy: {doors: "[\"dor_1\", \"dor_2\"]", mode: free}, expect: status == 404}`, "dor_1", judge.Fail},
		"all of the windows":  {`{policy: {doors: "[\"dor_1\", \"dor_2\"]", mode: free}, expect: status == 404}`, "doors", judge.Pass},
		"one outage policy":   {`{netloss: {boards: "[\"brd_1\", \"brd_t\"]", graceSec: 5}, expect: status == 200}`, "brd_1", judge.Fail},
		"all outage policies": {`{netloss: {boards: "[\"brd_1\", \"brd_t\"]", graceSec: 5}, expect: status == 200}`, "nobody", judge.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.told = true
			f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/revoke") && !strings.HasSuffix(r.URL.Path, "/policies") && !strings.HasSuffix(r.URL.Path, "/netloss") {
					return false
				}
				body, _ := io.ReadAll(r.Body)
				if strings.Contains(r.URL.Path+string(body), c.denied) {
					say(w, 404, m{"error": "not_found", "message": "", "statusCode": 404})
				} else {
					say(w, 200, m{"data": m{}})
				}
				return true
			})
			res, out := play(t, f, "steps: ["+c.steps+"]", Options{})
			if got := res.Files[0]; got.Status != c.want || c.want == judge.Fail && !strings.Contains(got.Reason, "answers differ") {
				t.Errorf("got %s %q, want %s\n%s", got.Status, got.Reason, c.want, out)
			}
		})
	}
}

// TestExpiredTokenOfTheFile: a token that the file sends by itself isn't the run's to renew.
func TestExpiredTokenOfTheFile(t *testing.T) {
	t.Parallel()
	ends(t, newFake(t), `steps: [{call: {path: /old, headers: {Authorization: Bearer old}, status: 401, error: token_expired}}]`, judge.Pass, "")
}

// TestChargesOfTheLastTry: what an expectation found in a try that wasn't the last one is charged to no clause.
func TestChargesOfTheLastTry(t *testing.T) {
	t.Parallel()
	f, asked := newFake(t), atomic.Int32{}
	f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
		again := r.URL.Path == "/echo" && asked.Add(1) > 1
		if again {
			say(w, 404, m{"error": "not_found"})
		}
		return again
	})
	res, out := play(t, f, `steps: [{clauses: [HRS-1], call: {path: /echo, status: 200}, expect: [{that: data.n == 2, clauses: [HRS-2]}], within: 3s}]`, Options{})
	for _, r := range res.Ledger {
		if charged := len(r.Assertions) > 0; charged != (r.Clause == "HRS-1") {
			t.Errorf("%s has %v, want only HRS-1 to be charged\n%s", r.Clause, r.Assertions, out)
		}
	}
}

// TestGroupsAreTriedAgain: with within, steps in a step are tried again for the same reasons as one on its own: they had too
// little to look at, or what they require wasn't there yet.
func TestGroupsAreTriedAgain(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"too few yet":           `group: [{call: {path: /n}, capture: {k: data.n}}, {boards: {all: online, atLeast: "${k > 2 ? 1 : 2}"}}]`,
		"not yet":               `group: [{call: {path: /n}, require: data.n > 2}]`,
		"not yet, side by side": `parallel: [{call: {path: /n}, require: data.n > 2}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, asked := newFake(t), atomic.Int32{}
			f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/n" {
					say(w, 200, m{"data": m{"n": asked.Add(1)}})
				}
				return r.URL.Path == "/n"
			})
			if res, out := play(t, f, `steps: [{`+step+`, within: 10s}, {call: {path: /n}, expect: data.n == 4}]`, Options{}); res.Files[0].Status != judge.Pass {
				t.Errorf("got %s, want PASS at the third try\n%s", res.Files[0].Status, out)
			}
		})
	}
}

// TestListsThatGrow: a record that arrives between two pages moves another one to the second page, where it isn't counted
// again; the same on two pages of a list that hasn't grown is.
func TestListsThatGrow(t *testing.T) {
	t.Parallel()
	for total, want := range map[int]int{502: 501, 501: 502} {
		f := newFake(t)
		f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/entry-logs") {
				return false
			}
			page, total := []m{{"recordId": "rec_2"}, {"recordId": "rec_1"}}, total
			if r.URL.Query().Get("offset") == "0" {
				page, total = nil, 501
				for n := 501; n > 1; n-- {
					page = append(page, m{"recordId": fmt.Sprint("rec_", n)})
				}
			}
			say(w, 200, m{"data": page, "total": total})
			return true
		})
		if res, out := play(t, f, fmt.Sprintf(`steps: [{records: {place: "\"plc_1\""}, expect: count == %d}]`, want), Options{}); res.Files[0].Status != judge.Pass {
			t.Errorf("a second page of %d: got %s, want %d records\n%s", total, res.Files[0].Status, want, out)
		}
	}
}
