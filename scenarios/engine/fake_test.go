package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

// fake is a target: a minimal public API and one control listener.
type fake struct {
	ahead, lag int               // how many revisions the board lacks once somebody has tried a door, and now
	reasons    map[string]string // of denials at a reader, by phone
	unread     int               // so many reads of the boards over the public API fail
	limited    int               // so many token exchanges are refused with 429
	mu         sync.Mutex
	now        time.Time
	frozen     bool
	tick       time.Duration     // how far a running clock gets between two requests about it
	stuck      bool              // it can't be moved
	calls      []string          // method and path of every request
	answers    map[string]string // by Idempotency-Key
	online     func(n int) bool  // at the n-th read of the boards
	reads      int
	permit     int    // status of a permit creation
	maximum    int    // of the place's door, which refuses longer permits; 0 = it isn't told
	hits       int    // of every fault, and of the disk
	disk       string // its state
	taken      bool   // the board has been detached
	stale      bool   // there is a board whose desired revision nobody knows
	real       bool   // a detached board is listed too
	hidden     m      // a board that the server knows and no listener shows
	hiddenAt   string // its place; "" = plc_1
	away409    bool   // every command is answered as of an offline board
	told       bool   // so is one that somebody tells what to do
	deaf       bool   // no board can be told anything
	docs       string // the published document, the same for every sub-service
	events     []history.Event
	mode       string // clock mode; "" = virtual
	loses      int    // messages given up per jump
	lost       int
	gone       int             // of these, how many are still to come
	away       int             // control requests after POST /restart that get no answer
	unsure     bool            // their 503 doesn't say that nothing was done
	lines      []m             // of every journal
	ended      map[string]bool // paths that DELETE no longer finds
	number     string          // of the place; "" = whatever is called is one
	broker     string          // where detached boards connect
	sip        m               // where calls over SIP are taken
	api        *httptest.Server
	lab        *httptest.Server
}

const fakeKey = "sacl_0123456789abcdefghijABCDEFGHIJ012345"
const fakeToken = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE"

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), answers: map[string]string{}, permit: 200, hits: 4,
		docs: `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{}}`}
	f.api = httptest.NewServer(http.HandlerFunc(f.public))
	f.lab = httptest.NewServer(http.HandlerFunc(f.control))
	t.Cleanup(f.api.Close)
	t.Cleanup(f.lab.Close)
	return f
}

func (f *fake) target() Target {
	return Target{HTTP: f.api.URL, Control: []string{f.lab.URL}, Tokens: []string{"control-token"},
		Places: []Place{{PlaceID: "plc_1", Name: "Store", Kind: "live", APIKey: fakeKey}}}
}

// twoFakes are a server and a fleet in another process whose clock is ahead, and the target that they form.
func twoFakes(t *testing.T, ahead time.Duration) (server, fleet *fake, both Target) {
	t.Helper()
	server, fleet = newFake(t), newFake(t)
	fleet.now = server.now.Add(ahead)
	both = server.target()
	both.Control = append(both.Control, fleet.lab.URL)
	return server, fleet, both
}

func (f *fake) asked(part string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if strings.Contains(c, part) {
			n++
		}
	}
	return n
}

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

type m = map[string]any

func (f *fake) public(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, r.Method+" "+r.URL.Path)
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/openapi.json"):
		_, _ = w.Write([]byte(f.docs))
	case r.URL.Path == "/old": // the clock has jumped meanwhile
		f.now = f.now.Add(20 * time.Minute)
		say(w, 401, m{"error": "token_expired", "message": "", "statusCode": 401})
	case r.URL.Path == "/readyz":
		say(w, 200, m{"success": true})
	case strings.HasSuffix(r.URL.Path, "/apikey/token") && f.limited > 0:
		f.limited--
		w.Header().Set("Retry-After", "1")
		say(w, 429, m{"error": "rate_limited"})
	case strings.HasSuffix(r.URL.Path, "/apikey/token"):
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "revoked") {
			say(w, 401, m{"error": "invalid_api_key", "message": "the API key is not valid", "statusCode": 401})
			return
		}
		say(w, 200, m{"data": m{"accessToken": "t1", "expiresIn": 900, "placeId": "plc_1", "scopes": []string{"space:partner", "device:door"}}})
	case strings.HasSuffix(r.URL.Path, "/commands") && f.away409:
		say(w, 409, m{"error": "device_offline", "message": "not connected", "statusCode": 409, "details": m{"reason": "offline"}})
	case strings.HasSuffix(r.URL.Path, "/commands"):
		key := r.Header.Get("Idempotency-Key")
		if old, ok := f.answers[key]; ok {
			w.Header().Set("Idempotent-Replayed", "true")
			_, _ = w.Write([]byte(old))
			return
		}
		f.answers[key] = fmt.Sprintf(`{"data":{"commandId":"cmd_%d","outcome":"reported"}}`, len(f.answers))
		_, _ = w.Write([]byte(f.answers[key]))
	case strings.HasSuffix(r.URL.Path, "/entry-permits"):
		if f.permit == 409 {
			say(w, 409, m{"error": "permit_period_too_long", "message": "too long", "statusCode": 409})
			return
		}
		if f.permit != 200 {
			say(w, f.permit, m{"error": "rule_violated", "message": "no", "statusCode": f.permit})
			return
		}
		say(w, 200, m{"data": m{"permitId": "pmt_1", "entryToken": fakeToken, "url": "http://x/entry?t=" + fakeToken}})
	case strings.HasSuffix(r.URL.Path, "/entry-logs"):
		say(w, 200, m{"data": []m{}, "total": 0})
	case strings.HasSuffix(r.URL.Path, "/netloss"):
		say(w, 200, m{"data": m{"graceSec": 60, "channels": m{"1": "close"}}})
	case r.URL.Path == "/device/v1/boards" && f.unread > 0:
		f.unread--
		say(w, 500, m{"error": "internal", "message": "", "statusCode": 500})
	case r.URL.Path == "/device/v1/boards":
		list := []m{{"boardId": "brd_1", "name": "1", "online": true, "lastSeenAt": "2026-03-01T09:00:00.000Z", "doorIds": []string{"dor_1", "dor_2"}, "channels": []int{1, 2}}}
		if f.hidden != nil {
			list = append(list, f.hidden)
		}
		say(w, 200, m{"data": list, "total": len(list)})
	case r.URL.Path == "/livez":
		say(w, 200, m{})
	case strings.HasPrefix(r.URL.Path, "/echo"):
		say(w, 200, m{"data": m{"phone": "01012345678", "token": fakeToken, "key": fakeKey, "n": 3, "name": "Ann"}})
	case r.URL.Path == "/list":
		say(w, 200, m{"data": []m{{"n": 1}, {"n": 2}}, "total": 2})
	default:
		say(w, 404, m{"error": "not_found", "message": "unknown path", "statusCode": 404})
	}
}

func (f *fake) control(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/lab/v1")
	f.calls = append(f.calls, r.Method+" "+path)
	var body m
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch {
	case path == "/restart" && r.Method == http.MethodPost:
		f.gone, f.lost = f.away, 0
		say(w, 200, m{"data": m{}})
	case f.gone != 0:
		f.gone--
		if !f.unsure {
			w.Header().Set("Retry-After", "1")
		}
		say(w, 503, m{"error": "storage_unavailable", "message": "the server is restarting; try again", "statusCode": 503})
	case r.Method == http.MethodDelete && f.ended[path]:
		say(w, 404, m{"error": "not_found", "message": "reservation not found", "statusCode": 404})
	case path == "/reservations":
		say(w, 200, m{"data": m{"reservationId": "rsv_1"}})
	case path == "/boards/brd_1":
		say(w, 200, m{"data": f.board(true)})
	case path == "/boards":
		f.reads++
		list := f.others([]m{f.board(f.online == nil || f.online(f.reads))})
		say(w, 200, m{"data": list, "total": len(list)})
	case strings.HasPrefix(path, "/clock"):
		if !f.clock(strings.TrimPrefix(path, "/clock"), body) {
			say(w, 400, m{"error": "invalid_field", "message": "to is in the past, but time only moves forward", "statusCode": 400})
			return
		}
		state := "ready"
		if f.frozen {
			state = "frozen"
		}
		say(w, 200, m{"data": m{"now": f.now, "mode": cmp.Or(f.mode, "virtual"), "state": state, "abandoned": f.lost}})
	case path == "/faults" && r.Method == http.MethodGet:
		say(w, 200, m{"data": []m{}})
	case path == "/faults":
		say(w, 200, m{"data": m{"faultId": "flt_1"}})
	case path == "/faults/flt_1", path == "/disk":
		say(w, 200, m{"data": m{"hits": f.hits, "state": f.disk}})
	case strings.HasSuffix(path, "/journal"):
		say(w, 200, m{"data": append([]m{}, f.lines...)})
	case path == "/history":
		_ = history.Write(w, f.events)
	case strings.HasSuffix(path, "/detach"):
		f.taken = true
		say(w, 200, m{"data": m{"mqtt": f.broker, "clientId": "brd_1", "username": "brd_1", "password": "right"}})
	case strings.HasSuffix(path, "/tell") && f.deaf:
		say(w, 409, m{"error": "rule_violated", "message": "it isn't connected", "statusCode": 409})
	case strings.HasSuffix(path, "/tell"):
		said := []m{}
		if body["channel"] != nil {
			said = append(said, m{"channel": "heard", "payload": body})
		}
		say(w, 200, m{"data": m{"epoch": 7, "revision": 3, "said": said, "journal": []m{}}})
	case path == "/places/plc_1":
		if number, ok := body["entryPhone"].(string); ok {
			f.number = number
		}
		say(w, 200, m{"data": f.place()})
	case path == "/places/plc_2" && f.hiddenAt == "plc_2":
		say(w, 200, m{"data": m{"doors": hiddenDoors}})
	case path == "/sip" && f.sip != nil:
		say(w, 200, m{"data": f.sip})
	case path == "/people/call":
		reason := cmp.Or(f.reasons[fmt.Sprint(body["from"])], "no_valid_grant")
		say(w, 200, m{"data": m{"answered": f.number == "" || body["to"] == f.number, "result": "denied", "reason": reason}})
	case path == "/people/present":
		f.lag = f.ahead
		reason := cmp.Or(f.reasons[fmt.Sprint(body["phone"])], "no_valid_grant")
		say(w, 200, m{"data": m{"result": "denied", "reason": reason, "journal": append([]m{}, f.lines...)}})
	default:
		say(w, 200, m{"data": m{}})
	}
}

// place is how plc_1 is set.
func (f *fake) place() m {
	place := m{"entryPhone": f.number}
	if f.maximum > 0 {
		place["doors"] = []m{{"doorId": "dor_1", "entry": true, "entryPermitMaxHours": f.maximum}}
	}
	if f.hidden != nil && f.hiddenAt == "" {
		place["doors"] = hiddenDoors
	}
	return place
}

// hiddenDoors are the doors of the hidden board.
var hiddenDoors = []m{{"doorId": "dor_3", "entry": true, "entryPermitMaxHours": 720}, {"doorId": "dor_4", "entry": true, "entryPermitMaxHours": 720}}

func (f *fake) board(online bool) m {
	return m{"boardId": "brd_1", "placeId": "plc_1", "online": online, "phase": "online", "desiredRevision": 1 + f.lag, "appliedRevision": 1, "detached": f.taken,
		"doors": []m{{"doorId": "dor_1", "channel": 1}, {"doorId": "dor_2", "channel": 2}}}
}

// others adds the boards that aren't simulated.
func (f *fake) others(list []m) []m {
	if f.told {
		list = append(list, m{"boardId": "brd_t", "placeId": "plc_1", "online": true, "phase": "online", "told": true, "desiredRevision": 7,
			"doors": []m{{"doorId": "dor_t", "channel": 1}}})
	}
	if f.stale {
		list = append(list, m{"boardId": "brd_s", "placeId": "plc_1", "online": true, "phase": "online", "told": true, "desiredRevision": 7, "appliedRevision": 7,
			"stale": true, "doors": []m{{"doorId": "dor_s", "channel": 1}}})
	}
	if f.real {
		list = append(list, m{"boardId": "brd_r", "placeId": "plc_1", "online": false, "phase": "stopped", "detached": true, "desiredRevision": 7,
			"doors": []m{{"doorId": "dor_r", "channel": 1}}})
	}
	return list
}

// clock reports whether it could do what was asked.
func (f *fake) clock(do string, body m) bool {
	if !f.frozen {
		f.now = f.now.Add(f.tick)
	}
	switch do {
	case "/freeze":
		f.frozen = true
	case "/run":
		f.frozen = false
	case "/advance":
		t, err := time.Parse(time.RFC3339Nano, fmt.Sprint(body["to"]))
		if err != nil {
			d, _ := time.ParseDuration(fmt.Sprint(body["by"]))
			t = f.now.Add(d)
		}
		if f.stuck || t.Before(f.now) {
			return false
		}
		f.now, f.lost = t, f.lost+f.loses
	}
	return true
}
