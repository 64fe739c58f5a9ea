package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/console"
	"github.com/doorlab/doorlab/server/disk"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store"
)

const testWorld = `
seed: 7
places:
  - id: plc_a
    name: A
    kind: live
    entryPhone: "05011112222"
    boards:
      - {id: brd_a, doors: [{id: dor_a, channel: 1}]}
    memberships: [{phone: "01011112222", startsAt: 2026-01-01T00:00:00Z}]
  - id: plc_t
    name: T
    kind: test
    entryPhone: "05033334444"
    boards:
      - {id: brd_t, doors: [{id: dor_t, channel: 1}]}
`

const token = "secret"

// opens executes every command successfully.
type opens struct{}

func (opens) Execute(_ context.Context, r command.Request) (command.Answer, error) {
	return command.Answer{Result: command.Result{CommandID: "cmd_x", DoorID: r.DoorID, Command: r.Command, Outcome: "reported"}}, nil
}

// lab is the routes on the real rules and a real store; only the boards are missing.
type lab struct {
	t       *testing.T
	handler http.Handler
	clk     *clock.Virtual
	moved   []time.Time
	crash   string
	store   *store.Store
}

func newLab(t *testing.T) *lab {
	t.Helper()
	w := must.Get(world.Parse("test.yaml", []byte(testWorld), 0))(t)
	w.DeriveSecrets(nil)
	l := &lab{t: t, clk: clock.NewVirtual(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), nil)}
	l.clk.Freeze()
	st := must.Get(store.Open(t.TempDir(), store.Options{Clock: l.clk}))(t)
	t.Cleanup(func() { _ = st.Close() })
	l.store = st
	must.Get(st.Seed(w, []byte("api keys")))(t)
	keys := must.Get(auth.New(auth.Config{Clock: l.clk, Store: st, Pepper: []byte("api keys"), SigningKey: []byte("tokens")}))(t)
	c := console.Config{
		Clock: l.clk, Keys: keys,
		Places:  place.New(place.Config{Clock: l.clk, Store: st}),
		Grants:  grant.New(grant.Config{Clock: l.clk, Store: st, Secret: []byte("entry links"), LinkURL: "http://x"}),
		Entry:   entry.New(entry.Config{Clock: l.clk, Store: st, Device: opens{}}),
		Ready:   func() ([]any, error) { return []any{"plc_a"}, nil },
		Audits:  st.Audits,
		Explain: console.Explain{Door: st.Door, Place: st.Place, Places: st.Places, Doors: st.Doors},
		Moved:   func(now time.Time) { l.moved = append(l.moved, now) },
		WriteHistory: func(w io.Writer, since int64) error {
			_, err := fmt.Fprintf(w, "{\"seq\":%d}\n", since+1)
			return err
		},
		Disk: disk.New(),
		Crash: func(step string) error {
			if step != "after-claim" {
				return errors.New("must be one of after-claim")
			}
			l.crash = step
			return nil
		},
	}
	l.handler = control.Handler(token, func(r chi.Router) { c.Routes(r) })
	return l
}

// answer is the answer to a call.
type answer struct {
	Status     int
	Header     http.Header
	Raw        string
	Success    bool
	Data       json.RawMessage
	Total      *int
	Error      string
	Message    string
	StatusCode int
	Details    map[string]any
}

func (l *lab) call(method, path, body, bearer string) (a answer) {
	l.t.Helper()
	r := httptest.NewRequest(method, "/lab/v1"+path, strings.NewReader(body))
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, r)
	a.Status, a.Header, a.Raw = w.Code, w.Header(), w.Body.String()
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		status := a.Status
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			l.t.Fatalf("%s %s: got %s, want JSON", method, path, a.Raw)
		}
		a.Status = status
	}
	return a
}

// data checks that a call succeeds and returns its data as compact JSON.
func (l *lab) data(method, path, body string) string {
	l.t.Helper()
	a := l.call(method, path, body, token)
	if a.Status != http.StatusOK || !a.Success {
		l.t.Fatalf("%s %s %s: got %d %s, want a success", method, path, body, a.Status, a.Raw)
	}
	var b bytes.Buffer
	must.OK(l.t, json.Compact(&b, a.Data))
	return b.String()
}

func (l *lab) is(method, path, body, want string) {
	l.t.Helper()
	if got := l.data(method, path, body); got != want {
		l.t.Errorf("%s %s %s\n got %s\nwant %s", method, path, body, got, want)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	const frozen = `","mode":"virtual","state":"frozen"}`
	l.is("GET", "/clock", "", `{"now":"2026-10-01T00:00:00.000Z`+frozen)
	l.is("POST", "/clock/advance", `{"by":"36h"}`, `{"now":"2026-10-02T12:00:00.000Z`+frozen)
	l.is("POST", "/clock/advance", `{"to":"2026-10-03T09:00:00+09:00"}`, `{"now":"2026-10-03T00:00:00.000Z`+frozen)
	if len(l.moved) != 2 || !l.moved[1].Equal(time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("moved to %v, want two moves, the second to 2026-10-03", l.moved)
	}
	if got := l.data("POST", "/clock/run", ""); !strings.Contains(got, `"state":"ready"`) {
		t.Errorf("run: got %s, want %q in it", got, `"state":"ready"`)
	}
	if got := l.data("POST", "/clock/freeze", " { } "); !strings.Contains(got, `"state":"frozen"`) {
		t.Errorf("freeze: got %s, want %q in it", got, `"state":"frozen"`)
	}
}

func TestRealClockDoesNotMove(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.handler = control.Handler(token, func(r chi.Router) { control.ClockRoutes(r, clock.Real{}, nil) })
	if got := l.data("GET", "/clock", ""); !strings.Contains(got, `"mode":"real","state":"ready"`) {
		t.Errorf("got %s, want %q in it", got, `"mode":"real","state":"ready"`)
	}
	for path, body := range map[string]string{"/clock/advance": `{"by":"1h"}`, "/clock/freeze": "", "/clock/run": "{}"} {
		if a := l.call("POST", path, body, token); a.Status != 409 || a.Error != "rule_violated" {
			t.Errorf(`%s: got %d %s, want a.Status = 409, a.Error = "rule_violated"`, path, a.Status, a.Raw)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var made struct{ KeyID, APIKey string }
	must.OK(t, json.Unmarshal([]byte(l.data("POST", "/keys", `{"placeId":"plc_a","scopes":["space:partner"],"name":"reader","sim":false}`)), &made))
	if !strings.HasPrefix(made.KeyID, "key_") || !strings.HasPrefix(made.APIKey, "sacl_") {
		t.Errorf("made %+v, want KeyID to begin with %q and APIKey to begin with %q", made, "key_", "sacl_")
	}
	if got := l.data("POST", "/keys", `{"placeId":"plc_t","scopes":["device:door"],"sim":true}`); !strings.Contains(got, `"apiKey":"sact_`) {
		t.Errorf("test key: got %s, want %q in it", got, `"apiKey":"sact_`)
	}
	list := l.call("GET", "/keys?placeId=plc_a", "", token)
	if *list.Total != 1 || strings.Contains(list.Raw, made.APIKey) || !strings.Contains(list.Raw, `"name":"reader","scopes":["space:partner"],"sim":false,"createdAt":"2026-10-01T00:00:00.000Z","revokedAt":null`) {
		t.Errorf("got list %s, want one key, and no secret", list.Raw)
	}
	for range 2 { // repeating it changes nothing
		l.is("DELETE", "/keys/"+made.KeyID, "", `{"keyId":"`+made.KeyID+`","revoked":true}`)
	}
	if list := l.call("GET", "/keys?placeId=plc_a", "", token); !strings.Contains(list.Raw, `"revokedAt":"2026-10-01T00:00:00.000Z"`) {
		t.Errorf("list: got %s, want %q in it", list.Raw, `"revokedAt":"2026-10-01T00:00:00.000Z"`)
	}
}

func TestPlacesAndDoors(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.is("GET", "/places", "", `["plc_a"]`)
	if got, want := l.call("GET", "/places", "", token).Raw, `"total":1`; !strings.Contains(got, want) {
		t.Errorf("GET /places: got %s, want %s in it, as in every list", got, want)
	}
	l.is("PATCH", "/places/plc_a", `{"closures":[{"from":"2026-12-24","to":"2026-12-25","name":"Refit"}],"holidays":[{"date":"2026-10-09","name":"Hangul Day","intervals":[["10:00","12:00"]]}],"timezone":"Europe/Berlin"}`,
		`{"closures":[{"from":"2026-12-24","to":"2026-12-25","name":"Refit"}],"entryPhone":"05011112222","holidays":[{"date":"2026-10-09","name":"Hangul Day","intervals":[["10:00","12:00"]]}],"name":"A","phoneEnabled":true,"placeId":"plc_a","timezone":"Europe/Berlin"}`)
	l.is("PATCH", "/places/plc_a", `{"closures":null,"holidays":[],"entryPhone":null,"phoneEnabled":false}`,
		`{"closures":[],"entryPhone":null,"holidays":[],"name":"A","phoneEnabled":false,"placeId":"plc_a","timezone":"Europe/Berlin"}`)
	l.is("PATCH", "/places/plc_a", `{"entryPhone":"05055556666"}`,
		`{"closures":[],"entryPhone":"05055556666","holidays":[],"name":"A","phoneEnabled":false,"placeId":"plc_a","timezone":"Europe/Berlin"}`)
	l.is("PATCH", "/doors/dor_a", `{"entry":false,"entryPermitMaxHours":1}`, `{"doorId":"dor_a","entry":false,"entryPermitMaxHours":1,"name":"Door 1-1","placeId":"plc_a"}`)
	l.is("PATCH", "/doors/dor_a", `{"entryPermitMaxHours":720}`, `{"doorId":"dor_a","entry":false,"entryPermitMaxHours":720,"name":"Door 1-1","placeId":"plc_a"}`)
	l.is("GET", "/places/plc_a", "", `{"closures":[],"doors":[{"doorId":"dor_a","entry":false,"entryPermitMaxHours":720,"name":"Door 1-1","placeId":"plc_a"}],"entryPhone":"05055556666","holidays":[],"hours":{"week":{"fri":[],"mon":[],"sat":[],"sun":[],"thu":[],"tue":[],"wed":[]}},"name":"A","phoneEnabled":false,"placeId":"plc_a","timezone":"Europe/Berlin"}`)
	if a := l.call("GET", "/places/plc_none", "", token); a.Status != 404 || a.Error != "place_not_found" {
		t.Errorf("a place that doesn't exist: got %d %s, want 404 place_not_found", a.Status, a.Error)
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.is("POST", "/people/call", `{"to":"05011112222","from":"01011112222"}`, `{"answered":true,"doorId":"dor_a","reason":"phone","result":"opened"}`)
	l.is("POST", "/people/call", `{"to":"05011112222","from":"+82 10-1111-2222"}`, `{"answered":true,"doorId":"dor_a","reason":"phone","result":"opened"}`)
	l.is("POST", "/people/call", `{"to":"05011112222","from":"01099999999"}`, `{"answered":true,"doorId":null,"reason":"no_valid_grant","result":"denied"}`)
	l.is("POST", "/people/call", `{"to":"05099999999","from":"01011112222"}`, `{"answered":false,"doorId":null,"reason":null,"result":null}`)
	for _, from := range []string{"", "114", "+1 (202) 555-0100"} { // withheld, a switchboard's, from abroad
		l.is("POST", "/people/call", `{"to":"05011112222","from":"`+from+`"}`, `{"answered":true,"doorId":null,"reason":"no_valid_grant","result":"denied"}`)
	}
	l.data("PATCH", "/places/plc_a", `{"phoneEnabled":false}`)
	l.is("POST", "/people/call", `{"to":"05011112222","from":"01011112222"}`, `{"answered":false,"doorId":null,"reason":null,"result":null}`)
}

func TestTerms(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	if got := l.data("POST", "/memberships", `{"placeId":"plc_a","phone":"01022223333","startsAt":"2026-09-01T00:00:00Z"}`); !strings.HasPrefix(got, `{"membershipId":"mem_`) {
		t.Errorf("got %s, want it to begin with %q", got, `{"membershipId":"mem_`)
	}
	if got := l.data("POST", "/reservations", `{"placeId":"plc_a","phone":"01033334444","name":"R","startsAt":"2026-09-01T00:00:00+09:00","endsAt":"2027-09-01T00:00:00Z","doorIds":["dor_a"]}`); !strings.HasPrefix(got, `{"reservationId":"rsv_`) {
		t.Errorf("got %s, want it to begin with %q", got, `{"reservationId":"rsv_`)
	}
	for _, phone := range []string{"01022223333", "01033334444"} {
		l.is("POST", "/people/call", `{"to":"05011112222","from":"`+phone+`"}`, `{"answered":true,"doorId":"dor_a","reason":"phone","result":"opened"}`)
	}
}

// TestTermsEnd: an ended term no longer opens anything, and only its own place can end it.
func TestTermsEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for kind, phone := range map[string]string{"memberships": "01044445555", "reservations": "01055556666"} {
		made := l.data("POST", "/"+kind, `{"placeId":"plc_a","phone":"`+phone+`","startsAt":"2026-09-01T00:00:00Z","endsAt":"2027-09-01T00:00:00Z"}`)
		id := strings.Split(made, `"`)[3]
		if a := l.call("DELETE", "/"+kind+"/"+id+"?placeId=plc_b", "", token); a.Status != 404 {
			t.Errorf("%s: another place's answered %d, want 404", kind, a.Status)
		}
		for range 2 {
			l.is("DELETE", "/"+kind+"/"+id+"?placeId=plc_a", "", `{"ended":true,"id":"`+id+`"}`)
		}
		if got := l.data("POST", "/people/call", `{"to":"05011112222","from":"`+phone+`"}`); !strings.Contains(got, `"result":"denied"`) {
			t.Errorf("%s: after its end got %s, want denied", kind, got)
		}
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, a := range []record.Audit{
		{PlaceID: "plc_a", KeyID: "key_1", Action: "entry-logs.read", Detail: "sinceDays=7", Count: 3},
		{PlaceID: "plc_b", KeyID: "key_2", Action: "command.refused", Detail: "device_not_found"},
	} {
		must.OK(t, l.store.AddAudit(a))
	}
	first := `{"at":"2026-10-01T00:00:00.000Z","placeId":"plc_a","keyId":"key_1","action":"entry-logs.read","detail":"sinceDays=7","count":3}`
	second := `{"at":"2026-10-01T00:00:00.000Z","placeId":"plc_b","keyId":"key_2","action":"command.refused","detail":"device_not_found","count":0}`
	l.is("GET", "/audit", "", "["+second+","+first+"]") // newest first
	l.is("GET", "/audit?placeId=plc_a", "", "["+first+"]")
	l.is("GET", "/audit?placeId=plc_t", "", "[]")
	l.is("GET", "/audit?limit=1&offset=1", "", "["+first+"]")
	if a := l.call("GET", "/audit?limit=501", "", token); a.Status != 400 || a.Error != "invalid_query" {
		t.Errorf("limit 501: %d %s, want 400 invalid_query", a.Status, a.Raw)
	}
	if a := l.call("GET", "/audit", "", ""); a.Status != 401 {
		t.Errorf("without a token: %d, want 401", a.Status)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for path, want := range map[string]string{"/history": "{\"seq\":1}\n", "/history?since=41": "{\"seq\":42}\n"} {
		if a := l.call("GET", path, "", token); a.Raw != want || a.Header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%s: got %q, %s, want %q as NDJSON", path, a.Raw, a.Header.Get("Content-Type"), want)
		}
	}
}

func TestCrash(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.is("POST", "/crash", `{"at":"after-claim"}`, `{"at":"after-claim"}`)
	if l.crash != "after-claim" {
		t.Errorf("armed %q, want after-claim", l.crash)
	}
	off := console.Config{Clock: l.clk, Disk: disk.New()}
	l.handler = control.Handler(token, func(r chi.Router) { off.Routes(r) })
	if a := l.call("POST", "/crash", `{"at":"after-claim"}`, token); a.Status != 409 || a.Error != "rule_violated" {
		t.Errorf("without --crash-points: got %d %s, want 409 rule_violated", a.Status, a.Raw)
	}
}

func TestDisk(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.is("GET", "/disk", "", `{"hits":0,"state":"ok"}`)
	l.is("POST", "/disk", `{"state":"slow","delayMs":300}`, `{"delayMs":300,"hits":0,"state":"slow"}`)
	l.is("POST", "/disk", `{"state":"stalled"}`, `{"hits":0,"state":"stalled"}`)
	for body, want := range map[string]string{
		`{}`:                               "state must be one of ok, full, stalled, slow",
		`{"state":"stale"}`:                `state must be one of ok, full, stalled, slow, did you mean "stalled"?`,
		`{"state":"slow"}`:                 "delayMs must be between 1 and 60000 on a slow disk",
		`{"state":"slow","delayMs":0}`:     "delayMs must be between 1 and 60000 on a slow disk",
		`{"state":"slow","delayMs":60001}`: "delayMs must be between 1 and 60000 on a slow disk",
		`{"state":"full","delayMs":1}`:     "delayMs is for a slow disk only",
	} {
		if a := l.call("POST", "/disk", body, token); a.Status != 400 || a.Message != want {
			t.Errorf("%s: got %d %q, want 400 %q", body, a.Status, a.Message, want)
		}
	}
	l.is("GET", "/disk", "", `{"hits":0,"state":"stalled"}`) // what was refused changed nothing
	l.is("DELETE", "/disk", "", `{"hits":0,"state":"ok"}`)
}
