package testbed

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/contract"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/control/openapi"
	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// operations lists a listener's documented operations, as "GET /clock", sorted.
func operations(t *testing.T, on openapi.On) (out []string) {
	t.Helper()
	doc := must.Get(openapi.Load(on))(t)
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			out = append(out, method+" "+path)
		}
	}
	slices.Sort(out)
	return out
}

// routes lists a control handler's routes in the same form.
func routes(t *testing.T, h http.Handler) (out []string) {
	t.Helper()
	must.OK(t, chi.Walk(h.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		out = append(out, method+" "+strings.TrimPrefix(route, control.Prefix))
		return nil
	}))
	slices.Sort(out)
	return out
}

// TestControlAPIIsItsDocument: each listener has exactly the routes that its OpenAPI document describes.
func TestControlAPIIsItsDocument(t *testing.T) {
	t.Parallel()
	same := func(name string, got, want []string) {
		t.Helper()
		for _, r := range got {
			if !slices.Contains(want, r) {
				t.Errorf("%s has %s, which internal/control/openapi/control.yaml doesn't describe", name, r)
			}
		}
		for _, r := range want {
			if !slices.Contains(got, r) {
				t.Errorf("control.yaml describes %s, which %s doesn't have", r, name)
			}
		}
	}
	tb := begin(t, Config{})
	same("a server", routes(t, tb.life.Load().control), operations(t, openapi.Server))
	same("a fleet", routes(t, startFleet(t).routes), operations(t, openapi.Fleet))
}

// startFleet starts a server and, separately, its boards.
func startFleet(t *testing.T) *Fleet {
	t.Helper()
	w := world.Default(3, 2)
	tb := must.Get(Start(t.Context(), Config{World: w, Seeded: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	f := must.Get(StartFleet(t.Context(), FleetConfig{World: w, Broker: strings.TrimPrefix(tb.Ready.MQTT, "tcp://"), Control: "127.0.0.1:0", DataDir: t.TempDir()}))(t)
	t.Cleanup(func() { _ = f.Stop() })
	return f
}

// session calls the control API, checks each answer against the document and counts the successful ones.
type session struct {
	*testing.T
	lab  client.Client
	says *contract.Contract
	ok   map[string]bool // by operation
}

// do calls an operation such as "POST /faults/{id}", with its path filled in.
func (s *session) do(operation, path, body string, status int) (data map[string]any) {
	s.Helper()
	method, _, _ := strings.Cut(operation, " ")
	a, err := s.lab.Call(s.Context(), method, control.Prefix+path, "", []byte(body))
	if err != nil || a.Status != status {
		s.Fatalf("%s: got %v, %v, want %d", operation, a, err, status)
	}
	checked, err := s.says.Check(method, control.Prefix+path, a.Status, a.Header.Get("Content-Type"), a.Body)
	if !checked || err != nil {
		s.Errorf("%s: checked is %v, want true; the answer doesn't fit its document: %v\n%s", operation, checked, err, a.Body)
	}
	if status == http.StatusOK {
		s.ok[operation] = true
	}
	_ = a.Data(&data) // lists are ignored
	return data
}

func newSession(t *testing.T, lab client.Client, on openapi.On) *session {
	t.Helper()
	raw := must.Get(openapi.JSON(on))(t)
	says := must.Get(contract.Of(control.Prefix, raw))(t)
	return &session{t, lab, says, map[string]bool{}}
}

// TestControlAPIAnswersAsDocumented calls every operation of both listeners.
func TestControlAPIAnswersAsDocumented(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true, CrashPoints: true, SIP: "127.0.0.1:0"})
	s := newSession(t, tb.lab(), openapi.Server)
	s.clockAndBoards(tb)
	s.operator(tb)
	s.explained(tb)
	s.process()
	fleet := startFleet(t)
	s2 := newSession(t, client.Client{Base: fleet.Ready.Control, Token: fleet.Ready.ControlToken}, openapi.Fleet)
	s2.do("POST /server", "/server", `{"control":"`+tb.Ready.Control+`","token":"`+tb.Ready.ControlToken+`"}`, 200)
	for _, not := range []string{"x", "/", "ftp://127.0.0.1", "http://", "http://127.0.0.1:1?x", "", "127.0.0.1:8081"} {
		s2.do("POST /server", "/server", `{"control":"`+not+`"}`, 400)
	}
	s2.do("GET /openapi.json", "/openapi.json", "", 200)
	s2.do("GET /boards", "/boards", "", 200)
	s2.do("POST /clock/settle", "/clock/settle", "", 200)
	s.do("POST /crash", "/crash", `{"at":"before-answer"}`, 200)
	for _, op := range operations(t, openapi.All) {
		if !s.ok[op] && !s2.ok[op] {
			t.Errorf("%s: want an answer held against the document, got none", op)
		}
	}
}

func (s *session) clockAndBoards(tb *Testbed) {
	live := tb.cfg.World.Places[1].Boards
	id, door := live[0].ID, live[0].Doors[0].ID
	s.do("GET /openapi.json", "/openapi.json", "", 200)
	s.do("POST /clock/freeze", "/clock/freeze", "", 200)
	s.do("POST /clock/freeze", "/clock/freeze", "junk", 400)
	s.do("POST /clock/settle", "/clock/settle", `{"x":1}`, 400)
	s.do("GET /openapi.json", "/openapi.json?x=1", "", 400)
	s.do("GET /clock", "/clock", "", 200)
	s.do("POST /clock/advance", "/clock/advance", `{"by":"nonsense"}`, 400)
	s.do("POST /faults", "/faults", `{"fault":"offlin"}`, 400)
	s.do("GET /boards/{id}", "/boards/brd_none", "", 404)
	kept := s.do("POST /faults", "/faults", `{"fault":"refuse","share":0.5,"for":"10m","commands":["open"],"params":{"code":"jammed"}}`, 200)["faultId"].(string)
	s.do("GET /faults", "/faults", "", 200)
	s.do("GET /faults/{id}", "/faults/"+kept, "", 200)
	s.do("DELETE /faults/{id}", "/faults/"+kept, "", 200)
	s.do("GET /faults/{id}", "/faults/"+kept, "", 200) // after it is gone
	s.do("POST /faults", "/faults", `{"fault":"offline","boards":["`+id+`"]}`, 200)
	s.do("POST /clock/advance", "/clock/advance", `{"by":"36h"}`, 200)
	s.do("POST /people/present", "/people/present", `{"doorId":"`+door+`","phone":"01012345678"}`, 200)
	s.do("POST /people/leaf", "/people/leaf", `{"doorId":"`+door+`","action":"open"}`, 200)
	s.do("GET /boards", "/boards?limit=500", "", 200)
	s.do("GET /boards/{id}", "/boards/"+id, "", 200)
	s.do("GET /boards/{id}/journal", "/boards/"+id+"/journal", "", 200)
	s.do("POST /faults/reset", "/faults/reset", "", 200)
	s.do("POST /clock/run", "/clock/run", "", 200)
	s.do("POST /boards/{id}/tell", "/boards/"+id+"/tell", `{"channel":"cmds"}`, 400)
	s.do("POST /boards/{id}/tell", "/boards/"+id+"/tell", `{"channel":"cmd","payload":{"id":"cmd_1","doorId":"`+door+`","channel":1,"command":"open","epoch":1}}`, 200)
	s.do("GET /boards/{id}", "/boards/"+id, "", 200)
	s.do("POST /boards/{id}/attach", "/boards/"+id+"/attach", "", 200)
	s.do("POST /boards/{id}/tell", "/boards/"+tb.cfg.World.Places[0].Boards[0].ID+"/tell", `{}`, 409)
	other := live[1].ID
	s.do("POST /boards/{id}/rotate", "/boards/"+other+"/rotate", "", 200)
	s.do("POST /boards/{id}/detach", "/boards/"+other+"/detach", "", 200)
	s.do("GET /boards/{id}", "/boards/"+other, "", 200)
	s.do("GET /boards/{id}/journal", "/boards/"+other+"/journal", "", 409)
	s.do("POST /boards/{id}/attach", "/boards/"+other+"/attach", "", 200)
}

func (s *session) operator(tb *Testbed) {
	place := tb.cfg.World.Places[1]
	s.do("GET /places", "/places", "", 200)
	s.do("PATCH /places/{placeId}", "/places/"+place.ID, `{"closures":[{"from":"2026-12-24","to":"2026-12-25","name":"Refit"}],"holidays":[{"date":"2026-10-09","intervals":[["09:00","12:00"]]}]}`, 200)
	s.do("GET /places/{placeId}", "/places/"+place.ID, "", 200)
	s.do("PATCH /doors/{doorId}", "/doors/"+place.Boards[0].Doors[0].ID, `{"entryPermitMaxHours":720}`, 200)
	s.do("PATCH /doors/{doorId}", "/doors/dor_none", `{"entry":true}`, 404)
	key := s.do("POST /keys", "/keys", `{"placeId":"`+place.ID+`","scopes":["device:door"]}`, 200)["keyId"].(string)
	s.do("DELETE /keys/{keyId}", "/keys/"+key, "", 200)
	s.do("GET /keys", "/keys", "", 200)
	for kind, name := range map[string]string{"memberships": "membershipId", "reservations": "reservationId"} {
		body := `{"placeId":"` + place.ID + `","phone":"01011112222","startsAt":"2026-01-01T00:00:00Z","endsAt":"2036-01-01T00:00:00Z"}`
		id := s.do("POST /"+kind, "/"+kind, body, 200)[name].(string)
		s.do("DELETE /"+kind+"/{id}", "/"+kind+"/"+id+"?placeId="+place.ID, "", 200)
		s.do("GET /grants", "/grants?placeId="+place.ID+"&kind="+strings.TrimSuffix(kind, "s"), "", 200)
	}
	s.do("POST /people/call", "/people/call", `{"to":"`+place.EntryPhone+`","from":"01011112222"}`, 200)
	s.do("GET /audit", "/audit", "", 200)
}

func (s *session) explained(tb *Testbed) {
	place, door := tb.cfg.World.Places[1], tb.cfg.World.Places[1].Boards[0].Doors[0].ID
	const phone = "01012341234"
	revokedSoon := partner(s.T, tb, 1)
	clienttest.Do(s.T, revokedSoon, "POST", "/space/v1/partner/entry-permits", map[string]any{"externalRef": "a", "phone": phone, "doorIds": []string{door},
		"startsAt": tb.clk.Now().Format(control.TimeFormat), "endsAt": tb.clk.Now().AddDate(0, 0, 1).Format(control.TimeFormat)}, nil)
	revokedInAnOutage(s.T, s.lab, revokedSoon, place.Boards[0].ID, door, phone)
	s.do("GET /why", "/why?doorId="+door+"&phone="+phone, "", 200)
	s.do("GET /why", "/why?doorId="+door, "", 400)
	s.do("GET /exposure", "/exposure?placeId="+place.ID, "", 200)
	test := tb.cfg.World.Places[0]
	if got := open(s.T, tb, 0, "first"); got != http.StatusOK {
		s.Fatalf("open: got %d, want 200", got)
	}
	s.do("GET /inbox", "/inbox?placeId="+test.ID, "", 200)
	list, _ := tb.inbox.List(test.ID, inbox.Filter{})
	for _, e := range list {
		s.do("GET /inbox/{seq}", "/inbox/"+strconv.FormatInt(e.Seq, 10), "", 200)
	}
	s.do("GET /go-live", "/go-live?placeId="+test.ID, "", 200)
	s.do("GET /go-live", "/go-live?placeId="+place.ID, "", 409)
	s.do("DELETE /inbox", "/inbox?placeId="+test.ID, "", 200)
	s.do("GET /revisions", "/revisions", "", 200)
	s.do("GET /seats/{id}", "/seats/"+place.Boards[0].ID, "", 200)
	s.do("GET /seats/{id}", "/seats/nope", "", 404)
	s.do("GET /boards", "/boards?placeId=nope", "", 404)
	s.do("GET /audit", "/audit?placeId=nope", "", 404)
	s.do("GET /keys", "/keys?placeId=nope", "", 404)
}

func (s *session) process() {
	s.do("POST /history/recording", "/history/recording", "", 200)
	s.do("GET /history", "/history?since=1", "", 200)
	s.do("DELETE /history/recording", "/history/recording", "", 200)
	s.do("POST /clock/settle", "/clock/settle", "", 200)
	s.do("POST /connections/ended", "/connections/ended", `{"connections":{"brd_none":"127.0.0.1:1"}}`, 200)
	s.do("POST /connections/ended", "/connections/ended", `{"connections":1}`, 400)
	s.do("POST /connections/ended", "/connections/ended", `{}`, 400)
	s.do("GET /sip", "/sip", "", 200)
	s.do("GET /disk", "/disk", "", 200)
	s.do("POST /disk", "/disk", `{"state":"slow","delayMs":1}`, 200)
	s.do("POST /disk", "/disk", `{"state":"broken"}`, 400)
	s.do("DELETE /disk", "/disk", "", 200)
	s.do("GET /restart", "/restart", "", 200)
	s.do("POST /restart", "/restart", "", 200)
	s.do("POST /restart", "/restart", `{"at":"after-publish"}`, 400)
	s.do("POST /restart", "/restart", `{"kill":true,"at":"after-publish"}`, 200)
	s.do("DELETE /restart", "/restart", "", 200)
	s.do("GET /restart", "/restart", "", 200)
}
